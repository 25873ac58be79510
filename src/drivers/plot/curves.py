"""Panels of series: curves by a number, bars where that number has one value; labels at the ends of curves."""

import math
import statistics
import sys
from typing import NamedTuple

from common import later, plt

try:
    import numpy as np
except ImportError:
    sys.exit(3)

LABEL = 8.5  # Points of a label at the end of a curve, at most.
EQUAL = 1.5  # Pixels within which two curves are taken for one.
BUNDLE = 8  # Largest number of curves with widths of their own; among more, wide ones would hide others.


class Curve(NamedTuple):
    name: str
    x: list
    y: list
    style: dict
    named: bool = True  # Others have the name of one that is.


def number(value):
    """As short as it may be."""
    return f"{value:,.0f}" if 1e3 <= value < 1e6 else f"{value:.3g}"


def size_of(value):
    """A size without a blank or comma; powers of ten from 10^4 as such."""
    power = round(math.log10(value)) if value > 0 else 0
    return f"$10^{{{power}}}$" if power >= 4 and math.isclose(value, 10.0**power) else f"{value:g}" if value < 1e6 else f"{value:.3g}"


def draw_panel(axes, title, curves, along, unit, x_scale="log", y_scale="linear", level=None, named=True, **y_more):
    """Curves over `along`; bars of what they measure, in `unit`, where `along` has one value in all of them.

    `level`: a value to compare with, a thin line. `named`: whether names stand in this panel, or in a legend elsewhere.
    """
    axes.set_title(title)
    finite = [curve._replace(x=[x for x, y in zip(curve.x, curve.y) if math.isfinite(y)],
                             y=[y for y in curve.y if math.isfinite(y)]) for curve in curves]
    curves = [curve for curve in finite if curve.x]
    places = sorted({x for curve in curves for x in curve.x})
    single = len(places) == 1
    if level is not None:
        (axes.axvline if single else axes.axhline)(level, color="#999999", linewidth=0.8, zorder=0.5)
    if single:
        draw_bars(axes, curves, unit, y_scale, named, **y_more)
        name = along.split("  ")[0]
        counted = name.removeprefix("millions of ")
        axes.set_title(f"{title}, {name} = {size_of(places[0])}" if counted == name else
                       f"{title}, {places[0]:.3g} million {counted}")
        return
    lines = [axes.plot(curve.x, curve.y, label=curve.name if curve.named else "_", **curve.style)[0]
             for curve in curves]
    axes.set_xlabel(along)
    axes.set_ylabel(unit)
    axes.set_yscale(y_scale, **y_more)
    if x_scale != "linear":
        axes.set_xscale("log", base=2 if x_scale == "log2" else 10)
        set_sizes(axes, places)
    else:
        short_numbers(axes)
    if y_scale == "log":
        few_ticks(axes.yaxis)
    later(axes.figure, lambda: part_equal(axes, lines))
    if named:
        label_ends(axes, [(curve.x[-1], curve.y[-1], curve.name, curve.style["color"]) for curve in curves if curve.named])


def draw_bars(axes, curves, unit, scale="linear", named=True, **more):
    """A bar for each curve of one place, with what it says."""
    for k, curve in enumerate(curves):
        axes.barh(k, curve.y[-1], color=curve.style["color"], height=0.62,
                  hatch={"-": None, "--": "//"}.get(curve.style.get("linestyle", "-"), "\\\\"), edgecolor="white",
                  linewidth=0)
    axes.set_yticks(range(len(curves)) if named else [], [curve.name for curve in curves] if named else [])
    axes.set_ylim(len(curves) - 0.5, -0.5)
    axes.set_xscale(scale, **more)
    if scale == "log":
        axes.set_xlim(left=min(curve.y[-1] for curve in curves) / 3)
    write_bars(axes, [(curve.y[-1] if scale == "log" else max(curve.y[-1], 0), k, number(curve.y[-1]))
                      for k, curve in enumerate(curves)])
    if scale == "log":
        later(axes.figure, lambda: few_ticks(axes.xaxis))
    axes.set_xlabel(unit)
    axes.set_axisbelow(True)
    axes.grid(axis="y", visible=False)


def write_bars(axes, ends, size=8):
    """Write texts at the ends of bars, given as (x, y, text), and extend the axis to hold them."""
    texts = [axes.annotate(text, (x, y), xytext=(3, 0), textcoords="offset points", va="center", fontsize=size,
                           color="#333333") for x, y, text in ends]

    def fit():
        box, scale = axes.get_window_extent(), axes.xaxis.get_transform()
        low, high = scale.transform(axes.get_xlim())
        needed = high
        for (x, _, _), text in zip(ends, texts):
            room = 0.99 - (text.get_window_extent().width + 4 * axes.figure.dpi / 72) / box.width
            needed = max(needed, low + (scale.transform([x])[0] - low) / max(room, 0.1))
        axes.set_xlim(right=scale.inverted().transform([needed])[0])

    for labels in (True, False):  # Longer numbers along the axis make it shorter.
        later(axes.figure, fit, labels)
    if axes.get_xscale() == "linear":
        short_numbers(axes)


def short_numbers(axes):
    """Numbers along a linear axis without zeros at their ends, as many as there is room for."""
    axes.xaxis.set_major_formatter("{x:g}")
    later(axes.figure, lambda: thin(axes))


def thin(axes):
    """Hides the numbers along the axis that would touch the one before."""
    last = -math.inf
    for label in axes.get_xticklabels():
        box = label.get_window_extent()
        label.set_visible(box.x0 > last + 3)
        if label.get_visible():
            last = box.x1


def set_sizes(axes, sizes):
    """Ticks of a logarithmic axis at these sizes; labels where there is room."""
    axes.set_xticks(sizes, [size_of(size) for size in sizes], fontsize=8.5)
    axes.minorticks_off()
    later(axes.figure, lambda: thin(axes))


def few_ticks(axis):
    """1, 2 and 5 in each power of ten, or more of y, where these are few; else powers of ten."""
    low, high = axis.get_view_interval()
    beside = axis.axis_name == "x"  # where words lie beside one another
    if high <= (30 if beside else 3000) * low:
        subs = (1, 2, 5) if beside or high > 5 * low else (1, 1.2, 1.5, 2, 3, 4, 5, 6, 8)
        axis.set_major_locator(plt.LogLocator(subs=subs, numticks=12))
        axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(plt.NullLocator())


def part_equal(axes, lines):
    """Widens each line by the number of later ones that lie on it, so that their colours are seen side by side."""
    if len(lines) > BUNDLE:
        return
    box = axes.get_window_extent()
    pixels = []
    for line in lines:
        x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
        with np.errstate(invalid="ignore", divide="ignore"):
            points = axes.transData.transform(np.column_stack([x, y]))
        seen = np.isfinite(points).all(axis=1) & (points[:, 1] > box.y0 - EQUAL) & (points[:, 1] < box.y1 + EQUAL)
        pixels.append(points[seen])
    for k, (line, own) in enumerate(zip(lines, pixels)):
        above = 0
        for other in pixels[k + 1:]:
            if not len(own) or not len(other):
                continue
            order = np.argsort(other[:, 0], kind="stable")
            there = np.interp(own[:, 0], other[order, 0], other[order, 1], left=np.inf, right=np.inf)
            equal = np.abs(own[:, 1] - there) < EQUAL
            above += equal.sum() >= 2 and equal.mean() >= 0.4
        if above:
            line.set_linewidth(line.get_linewidth() + 2.0 * min(above, 4))
            if line.get_markersize() > 0:
                line.set_markersize(line.get_markersize() + 2.5 * min(above, 4))
            line.set_alpha(0.6)


def spread(wanted, least, low, high):
    """Places at least `least` apart, in the order of those wanted and as near them as can be, from low to high."""
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    least = min(least, (high - low) / max(len(wanted) - 1, 1))
    # Runs of neighbours that touch are centred on what they want.
    runs = []
    for rank, k in enumerate(order):
        runs.append([wanted[k] - rank * least])
        while len(runs) > 1 and statistics.fmean(runs[-2]) > statistics.fmean(runs[-1]):
            last = runs.pop()
            runs[-1] += last
    starts = [statistics.fmean(run) for run in runs for _ in run]
    last = high - (len(wanted) - 1) * least
    return [place for _, place in sorted((k, min(max(start, low), last) + rank * least)
                                         for rank, (k, start) in enumerate(zip(order, starts)))]


def label_ends(axes, ends, gap=0.045, heading=""):
    """Names right of the axes, each led to from the end of its line: (x, y, name, colour)."""
    if ends:
        later(axes.figure, lambda: place_labels(axes, ends, gap, heading), labels=True)


def place_labels(axes, ends, gap, heading):
    box = axes.get_window_extent()
    points = box.height * 72 / axes.figure.dpi
    lines = max(name.count("\n") + 1 for _, _, name, _ in ends)
    size = min(LABEL, points / (lines * len(ends) + bool(heading)) / 1.25)
    to_axes = axes.transData + axes.transAxes.inverted()
    found = [(*to_axes.transform((x, y)), name, colour) for x, y, name, colour in ends]
    found = [(min(max(x, 0.0), 1.0), min(max(y, 0.0), 1.0), name, colour) for x, y, name, colour in found]
    step = 1.25 * size / points
    half, top = 0.5 * lines * step, step if heading else 0.0
    places = spread([y for _, y, _, _ in found], lines * step, half, 1 - half - top)
    if heading:
        axes.annotate(heading, (1 + gap, 1 - 0.5 * step), xycoords="axes fraction", fontsize=size, color="#555555",
                      va="center", annotation_clip=False)
    for (x, y, name, colour), place in zip(found, places):
        axes.annotate(name, xy=(x, y), xytext=(1 + gap, place), xycoords="axes fraction", textcoords="axes fraction",
                      fontsize=size, color=colour, va="center", annotation_clip=False,
                      arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5, "alpha": 0.6, "shrinkA": 1,
                                  "shrinkB": 2, "relpos": (0, 0.5)})


def handle_of(style):
    """A line for a legend."""
    return plt.Line2D([], [], **style)


def grid_of(count, most):
    """Rows and columns for so many panels, at most so many beside each other."""
    columns = min(count, most)
    return -(-count // columns), columns
