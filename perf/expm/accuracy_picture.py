"""The picture of accuracy.py: performance profiles, and errors by condition; a row of panels for each precision."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src/drivers/plot"))
from common import COLOURS, figure_of, legend_below, look, save  # noqa: E402
from curves import handle_of  # noqa: E402

UNIT = {"double": 2.0**-53, "float": 2.0**-24}
STYLES = {
    "scipy": ("scipy.linalg.expm", {"color": COLOURS[3], "marker": "x"}),
    "torch": ("torch.linalg.matrix_exp", {"color": COLOURS[1], "marker": "+"}),
    "auto": ("heddle, auto", {"color": COLOURS[0], "marker": "o", "linewidth": 2.2}),
}
FREE = [k for k in range(48) if look(k)["color"] not in {style["color"] for _, style in STYLES.values()}]
KNOWN = {"color": "#111111", "linewidth": 1.2}
REACH = 1e4  # Length of the profiles' axis.


def styles_of(sides):
    """Return the name and the style of each side."""
    others = [side for side in sides if side not in STYLES]
    return {side: STYLES.get(side) or (f"heddle, {side}", look(FREE[others.index(side)])) for side in sides}


def errors_of(rows, side):
    """NaN where a side refused."""
    return np.array([float("nan") if isinstance(row[side], str) else row[side] for row in rows])


def profile(axis, errors, unit, styles):
    """Dolan and Moré (2002); an error below u counts as u, lest lucky last bits decide (Dingle and Higham, 2013)."""
    floored = {side: np.where(np.isnan(e), np.inf, np.maximum(e, unit)) for side, e in errors.items()}
    # A method that is not for every matrix is counted over those that it takes.
    best = np.min(list(floored.values()), axis=0)
    for side, e in floored.items():
        taken = ~np.isnan(errors[side])
        with np.errstate(invalid="ignore"):
            ratios = np.sort(e[taken] / best[taken])
        ratios = ratios[ratios <= REACH]
        style = {name: value for name, value in styles[side][1].items() if not name.startswith("marker")}
        steps = np.r_[0, np.arange(1, len(ratios) + 1)] / taken.sum()
        axis.step(np.r_[1, ratios, REACH], np.r_[steps, steps[-1]], where="post", **style)
    axis.set(xscale="log", xlim=(1, REACH), ylim=(0, 1.02), xlabel="within this factor of the least error",
             ylabel="fraction of the matrices")


def by_condition(axis, rows, errors, unit, styles):
    order = np.argsort([row["n"] * row["condition"] for row in rows], kind="stable")
    place = np.arange(1, len(rows) + 1)
    floor, top = unit / 50, 3.0
    for side, e in errors.items():
        _, style = styles[side]
        axis.semilogy(place, np.clip(e[order], floor, top), **style | {"linestyle": "none", "markersize": 4.5},
                      fillstyle="none", markeredgewidth=1.3 if side == "auto" else 0.9, clip_on=False,
                      zorder=3 if side == "auto" else 2)
    known = np.array([max(unit, row["n"] * unit * row["condition"]) for row in rows])[order]
    axis.plot(place, np.minimum(known, top), **KNOWN)
    axis.set(xlim=(0, len(rows) + 1), ylim=(floor, top), xlabel="matrices by n cond",
             ylabel="relative error (top: 3 or more, or not finite)")


def draw(rows, sides, picture):
    precisions = list(dict.fromkeys(row["precision"] for row in rows))
    styles = styles_of(sides)
    figure, axes = figure_of(len(precisions), 2, 13, 0.6 + 4.3 * len(precisions), gridspec_kw={"width_ratios": (1, 1.5)})
    for (left, right), precision in zip(axes, precisions):
        shown = [row for row in rows if row["precision"] == precision and not row["overflows"]]
        errors = {side: errors_of(shown, side) for side in sides}
        errors = {side: e for side, e in errors.items() if not np.isnan(e).all()}
        profile(left, errors, UNIT[precision], styles)
        partly = [f"{styles[side][0]} {(~np.isnan(e)).sum()}" for side, e in errors.items() if np.isnan(e).any()]
        left.set_title(f"{precision}: performance profile, {len(shown)} matrices" +
                       (f" (of {', '.join(partly)})" if partly else ""))
        by_condition(right, shown, errors, UNIT[precision], styles)
        right.set_title(f"{precision}: relative error against 256 bits (Frobenius)")
    legend_below(figure, [handle_of(style) for _, style in styles.values()] + [handle_of(KNOWN)],
                 [name for name, _ in styles.values()] + ["n u cond, at least u"])
    save(figure, picture)
