#!/usr/bin/env python3
"""Draws the table of B/perf/eigen/perf_eigen_accuracy: relative errors of eigenvalues against conditions.

    accuracy.py accuracy.csv accuracy.png
"""

import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src/drivers/plot"))
from common import COLOURS, figure_of, save  # noqa: E402
from curves import Curve, draw_panel  # noqa: E402

SERIES = {
    "dsyevd": ("LAPACK dsyevd", COLOURS[3], "x"),
    "dsyevr": ("LAPACK dsyevr", COLOURS[1], "+"),
    "dgesvj": ("LAPACK dgesvj", COLOURS[4], "s"),
    "cyclic": ("jacobi, cyclic", COLOURS[2], "^"),
    "blocked": ("jacobi, blocked", COLOURS[0], "o"),
    "preconditioned": ("jacobi, preconditioned", "#111111", "v"),
}
ORDER = 100


def main(table, picture):
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    figure, ((axes,),) = figure_of(1, 1, 9.2, 5.2)
    curves = [Curve(name, [float(row["condition"]) for row in rows], [max(float(row[key]), 1e-17) for row in rows],
                    {"color": colour, "marker": marker, "linewidth": 1.0, "markersize": 5, "fillstyle": "none"})
              for key, (name, colour, marker) in SERIES.items()]
    bound = 10 * ORDER * 2.0 ** -53
    draw_panel(axes, "Eigenvalues of D (2 I + E) D, n = 100", curves, "condition of D²", "largest relative error",
               "log", "log")
    axes.axhline(bound, color="#777777", linewidth=0.8, linestyle="--")
    axes.annotate("10 n u", (0.01, bound), xytext=(0, 2), xycoords=axes.get_yaxis_transform(), textcoords="offset points",
                  color="#777777", va="bottom")
    save(figure, picture)


if __name__ == "__main__":
    main(*sys.argv[1:3])
