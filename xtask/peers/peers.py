"""Times one suggestion, model fit included, of stagetune, BoTorch and Optuna's GPSampler on the same data.

Run by `cargo xtask peers`, inside the environment of requirements.txt. For each objective and number of points n, every
contestant gets the same seeded data in the unit cube of dimension 8, two threads and a process of its own; the contestants
take turns within a repeat, so that a busy machine disturbs all alike. Each suggestion is then scored by two judges that
refit nothing: the posterior that BoTorch fitted, and an exact numpy posterior with the hyper-parameters that stagetune fitted.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time

import numpy as np
import scoring

DIM = 8
THREADS = 2
NOISE_SD = 0.01
# A judgement: with a tenth of one of two cores taken by others, threads that wait for each other begin to feel it.
MOST_FROM_OTHERS = 0.05
HERE = os.path.dirname(os.path.abspath(__file__))
CONTESTANTS = ["stagetune", "botorch", "optuna"]


def smooth(u):
    """A bowl with a slow wave, about 1 high: every length scale is long."""
    weights = np.linspace(1.0, 0.2, DIM) / DIM
    centre = np.linspace(0.25, 0.7, DIM)
    return 2.0 * ((u - centre) ** 2 @ weights) + 0.25 * np.sin(3.0 * u @ np.linspace(0.2, 1.0, DIM))


def ackley(u):
    """Ackley's function on [-32.768, 32.768]^8, divided by its supremum: ripples that 500 points cannot resolve."""
    z = (2.0 * u - 1.0) * 32.768
    funnel = -20.0 * np.exp(-0.2 * np.sqrt((z**2).mean(1)))
    ripple = -np.exp(np.cos(2 * np.pi * z).mean(1))
    return (funnel + ripple + 20.0 + np.e) / (20.0 + np.e - np.exp(-1.0))


OBJECTIVES = {"smooth": smooth, "ackley": ackley}


class Peer:
    """A worker process and the pipe to it."""

    def __init__(self, name, environment):
        command = [sys.executable, os.path.join(HERE, "worker.py"), name, str(THREADS)]
        self.name = name
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def ask(self, **request):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            sys.exit(f"error: the {self.name} worker ended without an answer; its message stands above")
        return json.loads(answer)

    def suggest(self, x, y, seed):
        return self.ask(do="suggest", x=x, y=y, seed=seed)

    def stop(self):
        answer = self.ask(do="stop")
        self.process.stdin.close()
        self.process.wait()
        return answer


class Stagetune:
    """The release binary, a fresh process for every suggestion."""

    def __init__(self, binary, environment):
        self.binary, self.environment = binary, environment
        self.rss, self.hyper = 0.0, None

    def suggest(self, x, y, seed):
        # The peers' workers are warm when they are timed; the first of two repeats warms this process alike.
        request = {"x": x, "y": y, "seed": seed, "threads": THREADS, "repeats": 2}
        done = subprocess.run(
            [self.binary, "suggest"], input=json.dumps(request), capture_output=True, text=True, env=self.environment
        )
        if done.returncode != 0:
            sys.exit(f"error: `stagetune-lab suggest` failed: {done.stderr.strip()}")
        answer = json.loads(done.stdout)
        self.rss = max(self.rss, answer["peak_rss_mb"])
        self.hyper = answer["hyper"]
        return {
            "x": answer["x"],
            "seconds": answer["seconds"][-1],
            "fit_seconds": answer["fit_seconds"][-1],
        }

    def stop(self):
        return {"peak_rss_mb": self.rss, "model": self.hyper}


class Clock:
    """What share of the machine's processors others used meanwhile: a busy machine slows threaded peers most."""

    def __init__(self):
        self.start = self.read()

    @staticmethod
    def read():
        own = resource.getrusage(resource.RUSAGE_CHILDREN), resource.getrusage(resource.RUSAGE_SELF)
        own_seconds = sum(usage.ru_utime + usage.ru_stime for usage in own)
        try:
            with open("/proc/stat", encoding="ascii") as stat:
                ticks = [int(field) for field in stat.readline().split()[1:]]
        except OSError:
            return None
        # user, nice, system, idle, iowait, irq, softirq, steal: stolen time is somebody else's, too.
        busy = (sum(ticks[:3]) + sum(ticks[5:8])) / os.sysconf("SC_CLK_TCK")
        return time.monotonic(), own_seconds, busy

    def share_of_others(self):
        """Asked when the contestants' processes have ended, since their time counts from then; None if unknown."""
        end = self.read()
        if self.start is None or end is None:
            return None
        wall, own, busy = (after - before for after, before in zip(end, self.start))
        return max(0.0, busy - own) / (wall * os.cpu_count())


def measure(objective, n, repeats, seed, binary, environment):
    """One cell of the table: every contestant on one data set."""
    clock = Clock()
    rng = np.random.default_rng([seed, n, list(OBJECTIVES).index(objective)])
    u = rng.random((n, DIM))
    values = OBJECTIVES[objective](u) + NOISE_SD * rng.standard_normal(n)
    x, y = u.tolist(), values.tolist()

    players = {name: Peer(name, environment) for name in CONTESTANTS if name != "stagetune"}
    players["stagetune"] = Stagetune(binary, environment)
    for name in CONTESTANTS:
        players[name].suggest(x, y, seed)  # Imports and first allocations are nobody's suggestion.
    runs = {name: [] for name in CONTESTANTS}
    for repeat in range(repeats):
        turn = repeat % len(CONTESTANTS)
        for name in CONTESTANTS[turn:] + CONTESTANTS[:turn]:
            runs[name].append(players[name].suggest(x, y, seed + 1 + repeat))

    ours = players["stagetune"].hyper
    cell = {"objective": objective, "n": n, "contestants": {}}
    for name in CONTESTANTS:
        points = [run["x"] for run in runs[name]]
        by_botorch = players["botorch"].ask(do="score", points=points)["log_ei"]
        by_stagetune = scoring.log_ei(points, x, scoring.standardise(y), ours).tolist()
        seconds = [run["seconds"] for run in runs[name]]
        cell["contestants"][name] = {
            "seconds": seconds,
            "median_seconds": statistics.median(seconds),
            "least_seconds": min(seconds),
            "median_fit_seconds": median_or_none([run.get("fit_seconds") for run in runs[name]]),
            "log_ei_by_botorch": statistics.median(by_botorch),
            "log_ei_by_stagetune": statistics.median(by_stagetune),
            "all_log_ei_by_botorch": by_botorch,
            "all_log_ei_by_stagetune": by_stagetune,
        }
    for name in CONTESTANTS:
        end = players[name].stop()
        mine = cell["contestants"][name]
        mine.update(peak_rss_mb=end["peak_rss_mb"], model=end["model"])
        if name != "optuna":  # Its model has another kernel and other priors.
            hyper = {"signal_variance": 1.0, **end["model"]}
            mine["log_posterior"] = scoring.log_posterior(x, scoring.standardise(y), hyper)
        for kind in ["median", "least"]:
            ours = cell["contestants"]["stagetune"][f"{kind}_seconds"]
            mine[f"{kind}_ratio_to_stagetune"] = mine[f"{kind}_seconds"] / ours
    cell["cpu_share_of_others"] = clock.share_of_others()
    return cell


def median_or_none(numbers):
    return None if None in numbers else statistics.median(numbers)


def print_table(report):
    facts = report["machine"]
    print(f"one suggestion, fit included; D = {DIM}, {THREADS} threads each, medians of {report['repeats']} repeats")
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    print(f"{report['date']}, {facts['cpu']}, {facts['cores']} cores, seed {report['seed']}; {versions}")
    print("log EI in units of the standardised objective, higher is better, each column one judge for all three\n")
    head = ["objective", "n", "contestant", "median s", "x stagetune", "least s", "x stagetune", "peak MB", "log EI (BoTorch's GP)", "log EI (stagetune's GP)", "log posterior of the fit"]
    rows = [head]
    for cell in report["cells"]:
        for name, mine in cell["contestants"].items():
            rss = "?" if mine["peak_rss_mb"] is None else f"{mine['peak_rss_mb']:.0f}"
            rows.append([
                cell["objective"], str(cell["n"]), name, f"{mine['median_seconds']:.4f}",
                f"{mine['median_ratio_to_stagetune']:.1f}", f"{mine['least_seconds']:.4f}",
                f"{mine['least_ratio_to_stagetune']:.1f}", rss,
                f"{mine['log_ei_by_botorch']:.4f}", f"{mine['log_ei_by_stagetune']:.4f}",
                f"{mine['log_posterior']:.3f}" if "log_posterior" in mine else "-",
            ])
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    print("\nOptuna maximises under a model of its own (Matern 5/2, other priors), so that both judges see it from outside.")
    others = [cell["cpu_share_of_others"] for cell in report["cells"]]
    if None not in others:
        print(f"Other programs used up to {max(others):.0%} of the processors meanwhile.", end=" ")
        busy = "That is too busy for a fair comparison, threaded peers suffer most: repeat it on an idle machine."
        print(busy if max(others) > MOST_FROM_OTHERS else "")


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            return next(line.split(":", 1)[1].strip() for line in info if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stagetune", required=True, help="path of the stagetune-lab release binary")
    parser.add_argument("--n", default="50,200,500", help="numbers of points, separated by commas")
    parser.add_argument("--objective", choices=["smooth", "ackley", "both"], default="both")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()

    environment = dict(os.environ, CUDA_VISIBLE_DEVICES="")
    for variable in ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"]:
        environment[variable] = str(THREADS)
    objectives = list(OBJECTIVES) if arguments.objective == "both" else [arguments.objective]
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": {"cpu": cpu_name(), "cores": os.cpu_count(), "python": platform.python_version()},
        "versions": {name: importlib.metadata.version(name) for name in ["botorch", "gpytorch", "torch", "optuna"]},
        "dimension": DIM, "threads": THREADS, "noise_sd": NOISE_SD,
        "repeats": arguments.repeats, "seed": arguments.seed, "cells": [],
    }
    for objective in objectives:
        for n in [int(n) for n in arguments.n.split(",")]:
            print(f"measuring {objective}, n = {n}", file=sys.stderr, flush=True)
            cell = measure(objective, n, arguments.repeats, arguments.seed, arguments.stagetune, environment)
            report["cells"].append(cell)
    if arguments.json:
        print(json.dumps(report, indent=2))
    else:
        print_table(report)


if __name__ == "__main__":
    main()
