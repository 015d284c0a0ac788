"""Stage 3, nearly free: finds peaks, and writes how many of the true ones were found as F1."""

import argparse
import json
import pathlib

parser = argparse.ArgumentParser()
parser.add_argument("--input", type=pathlib.Path, required=True)
parser.add_argument("--height", type=float, required=True)
parser.add_argument("--distance", type=int, required=True)
parser.add_argument("--out", type=pathlib.Path, required=True)
options = parser.parse_args()

rows = [line.split(",") for line in open("data/signal.csv").read().split()[1:]]
truth = [place for place, (_, peak) in enumerate(rows) if peak == "1"]
signal = [float(line) for line in (options.input / "flat.txt").read_text().split()]

found = []
for place, value in enumerate(signal):
    around = signal[max(0, place - options.distance) : place + options.distance + 1]
    if value > options.height and value == max(around):
        found.append(place)

hits = sum(any(abs(place - true) <= 2 for place in found) for true in truth)
precision = min(hits, len(found)) / max(len(found), 1)
recall = hits / len(truth)
f1 = 2 * precision * recall / max(precision + recall, 1e-9)
numbers = {"f1": f1, "precision": precision, "recall": recall, "found": len(found)}
(options.out / "result.json").write_text(json.dumps(numbers))
