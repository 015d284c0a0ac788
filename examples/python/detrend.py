"""Stage 2: takes away the slow drift, which is the median of what is around each place."""

import argparse
import pathlib
import statistics

parser = argparse.ArgumentParser()
parser.add_argument("--input", type=pathlib.Path, required=True)
parser.add_argument("--window", type=int, required=True)
parser.add_argument("--out", type=pathlib.Path, required=True)
options = parser.parse_args()

signal = [float(line) for line in (options.input / "smoothed.txt").read_text().split()]
half = options.window // 2
flat = [
    value - statistics.median(signal[max(0, place - half) : place + half + 1])
    for place, value in enumerate(signal)
]
(options.out / "flat.txt").write_text("\n".join(map(repr, flat)))
