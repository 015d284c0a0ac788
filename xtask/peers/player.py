"""One peer that plays one run of an experiment, trial by trial.

Called by `stagetune-lab peers` as `player.py PEER DIM SEED`. Reads one JSON line per turn and answers with one JSON line:

    {"x": [[..]], "y": [..]}  ->  {"x": [..], "seconds": 0.4}

Told are the trials since the last turn, the common starting points at the first one. `seconds` is what the peer needed
for its suggestion, model fit included. Objectives are minimised over the unit cube. Every peer runs with its defaults;
what is set says why.
"""

import json
import os
import sys
import time
import warnings

# One thread: runs are done side by side, one per core.
os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
warnings.filterwarnings("ignore")

from worker import BoTorch, Optuna  # noqa: E402


class EachTimeAnew:
    """A peer that suggests from all data at once."""

    def __init__(self, suggest, seed):
        self.suggest, self.seed = suggest, seed
        self.x, self.y = [], []

    def turn(self, x, y):
        self.x += x
        self.y += y
        return self.suggest(self.x, self.y, (self.seed + len(self.y)) % 2**31)


class Tpe:
    """Optuna's default sampler; the start is over when its first turn comes, so it has no random trials of its own.

    `multivariate` is what Optuna's manual advises where variables interact, whatever the default of a release.
    """

    def __init__(self, dim, seed):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.names = [f"x{i}" for i in range(dim)]
        sampler = optuna.samplers.TPESampler(seed=seed % 2**31, n_startup_trials=0, multivariate=True)
        self.study = optuna.create_study(sampler=sampler, direction="minimize")
        self.asked = None

    def turn(self, x, y):
        import optuna

        started = time.perf_counter()
        if self.asked is not None:
            self.study.tell(self.asked, y[0])
        else:
            space = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in self.names}
            for row, value in zip(x, y):
                params = dict(zip(self.names, row))
                self.study.add_trial(
                    optuna.trial.create_trial(params=params, distributions=space, value=value)
                )
        self.asked = self.study.ask()
        best = [self.asked.suggest_float(name, 0.0, 1.0) for name in self.names]
        return {"x": best, "seconds": time.perf_counter() - started}


class Smac:
    """SMAC3's facade for black boxes: Gaussian process, expected improvement, refitted after every trial.

    Told that the objective is deterministic, so that it spends no trials on repeats: the noise is small.
    """

    def __init__(self, dim, seed):
        import tempfile

        from ConfigSpace import ConfigurationSpace, Float
        from smac import BlackBoxFacade, Scenario

        self.names = [f"x{i}" for i in range(dim)]
        self.space = ConfigurationSpace(seed=seed % 2**31)
        self.space.add([Float(name, (0.0, 1.0)) for name in self.names])
        self.folder = tempfile.TemporaryDirectory()
        scenario = Scenario(
            self.space,
            deterministic=True,
            n_trials=1_000_000,
            seed=seed % 2**31,
            output_directory=self.folder.name,
        )
        start = BlackBoxFacade.get_initial_design(scenario, n_configs=0)
        # It asks for a function to optimise, but is only asked and told.
        nothing = lambda config, seed: 0.0  # noqa: E731
        self.smac = BlackBoxFacade(scenario, nothing, initial_design=start, logging_level=False, overwrite=True)
        self.asked = None

    def turn(self, x, y):
        from ConfigSpace import Configuration
        from smac.runhistory.dataclasses import TrialInfo, TrialValue

        started = time.perf_counter()
        for row, value in zip(x, y):
            info = self.asked
            if info is None:
                # A deterministic scenario has the one seed 0.
                info = TrialInfo(Configuration(self.space, values=dict(zip(self.names, row))), seed=0)
            self.smac.tell(info, TrialValue(cost=value, time=0.0))
        # It goes through the start once more before it suggests; what it knows already needs no trial.
        told = {tuple(config.get_array()) for config in self.smac.runhistory.get_configs()}
        for _ in range(1_000):
            self.asked = self.smac.ask()
            if tuple(self.asked.config.get_array()) not in told:
                break
        else:
            raise RuntimeError("SMAC3 asks for nothing new")
        best = [float(self.asked.config[name]) for name in self.names]
        return {"x": best, "seconds": time.perf_counter() - started}


def player(name, dim, seed):
    if name == "botorch-logei":
        return EachTimeAnew(BoTorch(1).suggest, seed)
    if name == "optuna-gp":
        return EachTimeAnew(Optuna(1).suggest, seed)
    return {"optuna-tpe": Tpe, "smac3": Smac}[name](dim, seed)


def main():
    # Whatever a library prints must not end up among the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    peer = player(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    for line in sys.stdin:
        told = json.loads(line)
        print(json.dumps(peer.turn(told["x"], told["y"])), file=answers, flush=True)


if __name__ == "__main__":
    main()
