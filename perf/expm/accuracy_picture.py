"""The picture of accuracy.py: performance profiles, and errors by condition; a row of panels for each precision."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

UNIT = {"double": 2.0**-53, "float": 2.0**-24}
STYLES = {
    "scipy": ("scipy.linalg.expm", "tab:red", "x"),
    "torch": ("torch.linalg.matrix_exp", "tab:orange", "+"),
    "auto": ("heddle, auto", "tab:blue", "o"),
}
OTHERS = [("tab:green", "^"), ("tab:purple", "s"), ("tab:brown", "v"), ("tab:cyan", "D"), ("tab:olive", "<"),
          ("tab:pink", ">")]
REACH = 1e4  # Of the profiles' axis.


def styles_of(sides):
    others = [side for side in sides if side not in STYLES]
    return {side: STYLES.get(side) or (f"heddle, {side}", *OTHERS[others.index(side) % len(OTHERS)]) for side in sides}


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
        label, color, _ = styles[side]
        if not taken.all():
            label += f" ({taken.sum()} matrices)"
        steps = np.r_[0, np.arange(1, len(ratios) + 1)] / taken.sum()
        axis.step(np.r_[1, ratios, REACH], np.r_[steps, steps[-1]], where="post", color=color, label=label,
                  linewidth=2 if side == "auto" else 1.2)
    axis.set(xscale="log", xlim=(1, REACH), ylim=(0, 1.02), xlabel="within this factor of the least error",
             ylabel="fraction of the matrices")
    axis.grid(alpha=0.3)
    axis.legend(loc="lower right", fontsize=8)


def by_condition(axis, rows, errors, unit, styles):
    order = np.argsort([row["n"] * row["condition"] for row in rows], kind="stable")
    place = np.arange(1, len(rows) + 1)
    floor, top = unit / 50, 3.0
    for side, e in errors.items():
        label, color, marker = styles[side]
        axis.semilogy(place, np.clip(e[order], floor, top), marker, color=color, markersize=4.5, fillstyle="none",
                      label=label, markeredgewidth=1.3 if side == "auto" else 0.9, clip_on=False,
                      zorder=3 if side == "auto" else 2)
    known = np.array([max(unit, row["n"] * unit * row["condition"]) for row in rows])[order]
    axis.plot(place, np.minimum(known, top), color="black", linewidth=1.2, label="n u cond, at least u")
    axis.set(xlim=(0, len(rows) + 1), ylim=(floor, top), xlabel="matrices by n cond",
             ylabel="relative error (top: 3 or more, or not finite)")
    axis.grid(alpha=0.3)
    axis.legend(loc="upper left", fontsize=8)


def draw(rows, sides, picture):
    precisions = list(dict.fromkeys(row["precision"] for row in rows))
    styles = styles_of(sides)
    figure, axes = plt.subplots(len(precisions), 2, figsize=(13, 4.6 * len(precisions)), constrained_layout=True,
                                squeeze=False, width_ratios=(1, 1.5))
    for (left, right), precision in zip(axes, precisions):
        shown = [row for row in rows if row["precision"] == precision and not row["overflows"]]
        errors = {side: errors_of(shown, side) for side in sides}
        errors = {side: e for side, e in errors.items() if not np.isnan(e).all()}
        profile(left, errors, UNIT[precision], styles)
        left.set_title(f"{precision}: performance profile, {len(shown)} matrices")
        by_condition(right, shown, errors, UNIT[precision], styles)
        right.set_title(f"{precision}: relative error against 256 bits (Frobenius)")
    figure.savefig(picture, dpi=110)
    plt.close(figure)
