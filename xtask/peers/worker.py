"""One peer in a process of its own, so that its peak memory is its own.

Called by peers.py as `worker.py botorch|optuna THREADS`. Reads one JSON request a line from standard input and answers
with one JSON line:

    {"do": "suggest", "x": [[..]], "y": [..], "seed": 1}  ->  {"x": [..], "seconds": 0.4}
    {"do": "score", "points": [[..]]}                     ->  {"log_ei": [..]}     (botorch only, last fitted model)
    {"do": "stop"}                                        ->  {"peak_rss_mb": 500.0, "model": {..}}

`seconds` is one suggestion from raw arrays, model fit included. Objectives are minimised over the unit cube.
"""

import json
import math
import sys
import time
import warnings

warnings.filterwarnings("ignore")


class BoTorch:
    """The library's defaults: SingleTaskGP, its priors, LogExpectedImprovement."""

    def __init__(self, threads):
        import torch

        torch.set_num_threads(threads)
        torch.set_default_dtype(torch.double)
        self.model = self.acquisition = None

    def suggest(self, x, y, seed):
        import torch
        from botorch.acquisition import LogExpectedImprovement
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.models.transforms import Standardize
        from botorch.optim import optimize_acqf
        from gpytorch.mlls import ExactMarginalLogLikelihood

        torch.manual_seed(seed)
        started = time.perf_counter()
        train_x, train_y = torch.tensor(x), torch.tensor(y).unsqueeze(-1)
        model = SingleTaskGP(train_x, train_y, outcome_transform=Standardize(m=1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        fitted = time.perf_counter()
        acquisition = LogExpectedImprovement(model, best_f=train_y.min(), maximize=False)
        bounds = torch.tensor([[0.0] * train_x.shape[1], [1.0] * train_x.shape[1]])
        best, _ = optimize_acqf(acquisition, bounds, q=1, num_restarts=10, raw_samples=512)
        done = time.perf_counter()
        self.model, self.acquisition = model, acquisition
        return {"x": best.squeeze(0).tolist(), "seconds": done - started, "fit_seconds": fitted - started}

    def score(self, points):
        import torch

        with torch.no_grad():
            log_ei = self.acquisition(torch.tensor(points).unsqueeze(1))
        # In units of the standardised objective, as the other scorer has it.
        scale = math.log(float(self.model.outcome_transform.stdvs.squeeze()))
        return {"log_ei": (log_ei - scale).tolist()}

    def describe(self):
        return {
            "lengthscales": self.model.covar_module.lengthscale.squeeze().tolist(),
            "noise_variance": self.model.likelihood.noise.item(),
            "mean": self.model.mean_module.constant.item(),
        }


class Optuna:
    """GPSampler with its defaults, told that the objective is noisy and that the start is over."""

    def __init__(self, threads):
        import optuna
        import torch

        torch.set_num_threads(threads)
        optuna.logging.set_verbosity(optuna.logging.ERROR)

    def suggest(self, x, y, seed):
        import optuna

        names = [f"x{i}" for i in range(len(x[0]))]
        space = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in names}
        trials = [
            optuna.trial.create_trial(params=dict(zip(names, row)), distributions=space, value=value)
            for row, value in zip(x, y)
        ]
        sampler = optuna.samplers.GPSampler(seed=seed, n_startup_trials=0, deterministic_objective=False)
        # A study of its own each time: a trial that is still running would change what the sampler maximises.
        study = optuna.create_study(sampler=sampler, direction="minimize")
        study.add_trials(trials)
        started = time.perf_counter()
        trial = study.ask()
        best = [trial.suggest_float(name, 0.0, 1.0) for name in names]
        return {"x": best, "seconds": time.perf_counter() - started}

    def describe(self):
        return {}


def peak_rss_mb():
    """The process's own high-water mark; None where there is no /proc."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(float(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return None


def main():
    peer = {"botorch": BoTorch, "optuna": Optuna}[sys.argv[1]](int(sys.argv[2]))
    for line in sys.stdin:
        request = json.loads(line)
        what = request.pop("do")
        if what == "stop":
            print(json.dumps({"peak_rss_mb": peak_rss_mb(), "model": peer.describe()}), flush=True)
            return
        print(json.dumps(getattr(peer, what)(**request)), flush=True)


if __name__ == "__main__":
    main()
