#!/usr/bin/env python3
"""Draws the table of B/perf/schrodinger/perf_schrodinger_propagators: errors of psi against seconds.

    propagators.py propagators.csv propagators.png
"""

import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src/drivers/plot"))
from common import figure_of, legend_below, look, save  # noqa: E402
from curves import few_ticks, handle_of  # noqa: E402

SERIES = {
    ("expm", "2"): "expm (matrix), order 2",
    ("magnus4", "4"): "magnus4 (matrices), order 4",
    ("crank-nicolson", "2"): "crank-nicolson, order 2",
    ("split-operator", "2"): "split-operator, order 2",
    ("split-operator", "4"): "split-operator, order 4",
    ("chebyshev", "2"): "chebyshev, order 2",
    ("chebyshev", "4"): "chebyshev, order 4",
}
CHOSEN = {"color": "#111111", "linestyle": "none", "marker": "*", "markersize": 7}


def main(table, picture):
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    figure, ((axes,),) = figure_of(1, 1, 9.2, 6.2)

    def points(*key):
        return zip(*((float(row["seconds"]), float(row["error"])) for row in rows if (row["method"], row["order"]) == key))

    styles = [look(k) for k in range(len(SERIES))]
    for key, style in zip(SERIES, styles):
        axes.loglog(*points(*key), **style)
    axes.loglog(*points("automatic", "0"), **CHOSEN)
    axes.set(title="Electron of the stretched H2+, 201 points, a quarter of the period", xlabel="seconds",
             ylabel="error of psi")
    # Below, round-off and the reference decide.
    axes.set_ylim(1e-12, 2)
    few_ticks(axes)
    legend_below(figure, [handle_of(style) for style in [*styles, CHOSEN]],
                 [*SERIES.values(), "automatic, tolerances 1e-1 to 1e-10, with its choosing"])
    save(figure, picture)


if __name__ == "__main__":
    main(*sys.argv[1:3])
