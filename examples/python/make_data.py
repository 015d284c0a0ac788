"""Makes `data/signal.csv`: peaks on a drift, with noise; the same numbers every time."""

import math
import random

dice = random.Random(7)
count = 1000
truth = sorted(dice.sample(range(20, count - 20, 9), 45))
heights = [dice.uniform(0.5, 1.5) for _ in truth]
with open("data/signal.csv", "w") as out:
    out.write("value,peak\n")
    for place in range(count):
        drift = 0.8 * math.sin(place / 90) + place / 800
        peaks = sum(h * math.exp(-(((place - t) / 1.6) ** 2)) for t, h in zip(truth, heights))
        out.write(f"{drift + peaks + dice.gauss(0, 0.2):.4f},{int(place in truth)}\n")
