#!/usr/bin/env python3
"""Draws the table of B/perf/schrodinger/perf_schrodinger_propagators: errors of psi against seconds.

    propagators.py propagators.csv propagators.png
"""

import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SERIES = {
    ("expm", "2"): ("expm (matrix), order 2", "tab:orange", "s"),
    ("magnus4", "4"): ("magnus4 (matrices), order 4", "tab:red", "D"),
    ("crank-nicolson", "2"): ("crank-nicolson, order 2", "tab:brown", "x"),
    ("split-operator", "2"): ("split-operator, order 2", "tab:green", "v"),
    ("split-operator", "4"): ("split-operator, order 4", "tab:olive", "^"),
    ("chebyshev", "2"): ("chebyshev, order 2", "tab:cyan", "o"),
    ("chebyshev", "4"): ("chebyshev, order 4", "tab:blue", "p"),
    ("automatic", "0"): ("automatic, tolerances 1e-1 to 1e-10,\nwith its choosing", "black", "*"),
}


def main(table, picture):
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    figure, axis = plt.subplots(figsize=(10.5, 5.4), constrained_layout=True)
    for key, (name, color, marker) in SERIES.items():
        points = [(float(row["seconds"]), float(row["error"])) for row in rows if (row["method"], row["order"]) == key]
        line = "" if key[0] == "automatic" else "-"
        axis.loglog(*zip(*points), linestyle=line, marker=marker, color=color, linewidth=0.8, markersize=5, label=name,
                    fillstyle="full" if key[0] == "automatic" else "none")
    axis.set(title="Electron of the stretched H2+, 201 points, a quarter of the period", xlabel="seconds",
             ylabel="error of psi")
    axis.set_ylim(1e-12, 2)
    axis.grid(alpha=0.3)
    axis.legend(bbox_to_anchor=(1.01, 1), loc="upper left", fontsize=8)
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:3])
