"""Stage 1, the most expensive: takes the noise out of a signal by comparing small pieces of it (non-local means)."""

import argparse
import math
import pathlib

parser = argparse.ArgumentParser()
parser.add_argument("--strength", type=float, required=True)
parser.add_argument("--patch", type=int, required=True)
parser.add_argument("--out", type=pathlib.Path, required=True)
options = parser.parse_args()

rows = [line.split(",") for line in open("data/signal.csv").read().split()[1:]]
signal = [float(value) for value, _ in rows]
count, reach = len(signal), 80


def piece(centre):
    """The values around a place, the ends repeated."""
    places = range(centre - options.patch, centre + options.patch + 1)
    return [signal[min(max(place, 0), count - 1)] for place in places]


pieces = [piece(centre) for centre in range(count)]
smoothed = []
for centre in range(count):
    total = weights = 0.0
    for other in range(max(0, centre - reach), min(count, centre + reach + 1)):
        distance = sum((a - b) ** 2 for a, b in zip(pieces[centre], pieces[other])) / len(pieces[0])
        weight = math.exp(-distance / options.strength**2)
        total, weights = total + weight * signal[other], weights + weight
    smoothed.append(total / weights)

(options.out / "smoothed.txt").write_text("\n".join(map(repr, smoothed)))
