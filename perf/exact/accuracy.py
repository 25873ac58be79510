#!/usr/bin/env python3
"""Draws the table of B/perf/exact/perf_exact_accuracy: errors against conditions.

    accuracy.py accuracy.csv accuracy.png
"""

import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PANELS = {
    "dot": ("Inner products, n = 200", "relative error"),
    "trsv": ("Triangular systems, n = 60", "relative error of x (largest element)"),
    "lu": ("LU with partial pivoting, n = 100", "|PA - LU| / |A| (largest row sum)"),
}
SERIES = {
    "plain": ("plain double", "tab:red", "x"),
    "exact": ("exact", "tab:blue", "o"),
    "refined_once": ("exact, refined once", "tab:green", "^"),
    "refined_three_times": ("exact, refined three times", "black", "+"),
}


def main(table, picture):
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    figure, axes = plt.subplots(1, len(PANELS), figsize=(15, 4.6), constrained_layout=True)
    for axis, (problem, (title, label)) in zip(axes, PANELS.items()):
        for key, (name, color, marker) in SERIES.items():
            points = [(float(row["condition"]), max(float(row[key]), 1e-18))
                      for row in rows if row["problem"] == problem and row[key]]
            if points:
                axis.loglog(*zip(*points), marker, color=color, markersize=4, fillstyle="none", label=name)
        axis.axhline(2.0 ** -53, color="grey", linewidth=0.8, linestyle="--")
        axis.text(0.02, 2.0 ** -53, "u", color="grey", verticalalignment="bottom", transform=axis.get_yaxis_transform())
        axis.set(title=title, xlabel="condition", ylabel=label, ylim=(3e-19, 3))
        axis.grid(alpha=0.3)
        axis.legend(loc="center right" if problem != "trsv" else "lower right", fontsize=8)
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:3])
