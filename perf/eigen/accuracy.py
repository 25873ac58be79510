#!/usr/bin/env python3
"""Draws the table of B/perf/eigen/perf_eigen_accuracy: relative errors of eigenvalues against conditions.

    accuracy.py accuracy.csv accuracy.png
"""

import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SERIES = {
    "dsyevd": ("LAPACK dsyevd", "tab:red", "x"),
    "dsyevr": ("LAPACK dsyevr", "tab:orange", "+"),
    "dgesvj": ("LAPACK dgesvj", "tab:purple", "s"),
    "cyclic": ("jacobi, cyclic", "tab:green", "^"),
    "blocked": ("jacobi, blocked", "tab:blue", "o"),
    "preconditioned": ("jacobi, preconditioned", "black", "v"),
}
ORDER = 100


def main(table, picture):
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    figure, axis = plt.subplots(figsize=(8, 5.2), constrained_layout=True)
    for key, (name, color, marker) in SERIES.items():
        points = [(float(row["condition"]), max(float(row[key]), 1e-17)) for row in rows]
        axis.loglog(*zip(*points), marker=marker, color=color, linewidth=0.8, markersize=5, fillstyle="none", label=name)
    bound = 10 * ORDER * 2.0 ** -53
    axis.axhline(bound, color="grey", linewidth=0.8, linestyle="--")
    axis.text(0.02, bound, "10 n u", color="grey", verticalalignment="bottom", transform=axis.get_yaxis_transform())
    axis.set(title="Eigenvalues of D (2 I + E) D, n = 100", xlabel="condition of D²",
             ylabel="largest relative error")
    axis.grid(alpha=0.3)
    axis.legend(loc="upper left", fontsize=8)
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:3])
