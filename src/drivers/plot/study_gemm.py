"""Figures of `heddle study gemm`: python3 study_gemm.py STUDY.csv PICTURE.png.

By size, with the tile that the model chose, and of other libraries with their fastest block: the rate, its share of the
ranks' peak, and the share of the transfers that products hide. By tile, of the largest size: the rate measured and
predicted, and the lower bounds of Y. R. Choi and V. Stegailov (2022), equations (6) and (8); where no tile is near a
bound, it is written beside the curves. Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

from common import draw_command, figure_of, later, legend_below, look, pale, read_tables, save, sign
from curves import Curve, draw_panel, grid_of, handle_of, part_equal, set_sizes

KEY = ("device", "ranks", "method", "scalar", "math", "placement")


def plural(ranks):
    return f"{ranks} rank{'s' if ranks > 1 else ''}"


class Series:
    """The rows of one device, number of ranks, method, scalar type, math mode and placement."""

    def __init__(self, key, rows, number):
        device, ranks, self.method, scalar, math, placement = key
        self.ranks = int(ranks)
        self.ours = self.method == "heddle"
        self.scalar = scalar + ("" if math == "auto" else f" ({math})")
        self.in_parts = placement == "parts"
        self.name = (f"{placement if self.ours else self.method}, {self.scalar}, {plural(self.ranks)} of {device}")
        self.rows = sorted(rows, key=lambda row: (int(row["size"]), int(row["tile"])))
        self.style = look(number)

    def curve(self, column, factor=1.0):
        """Return the values of the chosen tiles by size."""
        found = [(int(row["size"]), factor * float(row[column])) for row in self.rows
                 if row["chosen"] == "1" and row[column]]
        return Curve(self.name, [size for size, _ in found], [value for _, value in found], self.style)

    def of_largest(self):
        largest = max(int(row["size"]) for row in self.rows)
        return largest, [row for row in self.rows if int(row["size"]) == largest]


def draw_tiles(axes, all_series):
    ticks = set()
    bounds = {}
    lines = []
    for series in all_series:
        size, rows = series.of_largest()
        tiles = [int(row["tile"]) for row in rows]
        ticks.update(tiles)
        lines += axes.plot(tiles, [float(row["gflops"]) for row in rows], **series.style)
        predicted = [(int(row["tile"]), float(row["gflops"]) * float(row["seconds"]) / float(row["predicted_seconds"]))
                     for row in rows if row["predicted_seconds"]]
        if predicted:
            axes.plot(*zip(*predicted), **pale(series.style) | {"marker": ""})
        chosen = [(int(row["tile"]), float(row["gflops"])) for row in rows if row["chosen"] == "1"]
        if chosen:
            axes.scatter(*zip(*chosen), s=140, facecolors="none", edgecolors=series.style["color"])
        if not series.in_parts:  # whose bounds are those of real products
            bounds[series.ranks, series.scalar] = (rows[0]["memory_bound"], rows[0]["transfer_bound"])
    # Far from all tiles a bound would leave no room for the curves.
    shown = range(min(ticks) // 2, 2 * max(ticks))
    # Equal bounds are named once; a single rank receives nothing, so (8) does not apply to it.
    bounded = {}
    for (ranks, scalar), (memory, transfer) in sorted(bounds.items()):
        bounded.setdefault(("(6)", memory), []).append(f"{scalar}, {plural(ranks)}")
        if ranks > 1:
            bounded.setdefault(("(8)", transfer), []).append(f"{scalar}, {plural(ranks)}")
    notes = []
    for (name, bound), whose in bounded.items():
        label = f"{name} {'; '.join(whose)}"
        if not bound:
            notes.append(f"{label}: no tile meets it")
        elif int(bound) not in shown:
            met = "all tiles meet it" if int(bound) < min(ticks) else "none of these tiles meets it"
            notes.append(f"{label}: {bound}, {met}")
        else:
            notes.append(f"{label}: {bound}, {'dotted' if name == '(6)' else 'dashed and dotted'}")
            axes.axvline(int(bound), color="#777777", linestyle=":" if name == "(6)" else "-.", linewidth=1.0)
    axes.set_title(f"rate by tile, n = {', '.join(map(str, sorted({series.of_largest()[0] for series in all_series})))} "
                   "(pale: predicted; ringed: chosen)")
    axes.set_xscale("log", base=2)
    axes.set_ylim(0, 1.06 * axes.get_ylim()[1])
    set_sizes(axes, sorted(ticks))
    # Bounds may be near each other: they are named below the curves.
    axes.set_xlabel("\n".join(["tile $N_i$", *notes[:6], *(["..."] if len(notes) > 6 else [])]))
    axes.set_ylabel("GFLOP/s")
    later(axes.figure, lambda: part_equal(axes, lines))


def main(source, target):
    about, (rows,) = read_tables(source)
    if not rows:
        raise ValueError("has no rows")
    keys = list(dict.fromkeys(tuple(row[name] for name in KEY) for row in rows))
    all_series = [Series(key, [row for row in rows if tuple(row[name] for name in KEY) == key], number)
                  for number, key in enumerate(keys)]
    ours = [series for series in all_series if series.ours]
    others = len(ours) < len(all_series)
    best = "the model's tile" + (", of others the best block" if others else "")
    nominal = any(row["nominal_share"] for row in rows)

    def draw_by_size(axes, title, column, unit, factor=1.0, level=None):
        curves = [series.curve(column, factor) for series in all_series]
        if column == "peak_share" and nominal:
            curves += [series.curve("nominal_share", factor)._replace(style=pale(series.style))
                       for series in all_series]
        draw_panel(axes, title, curves, "size n", unit, "log2", named=False, level=level)
        if axes.get_lines() and axes.get_xlabel() == "size n":
            axes.set_ylim(0, 1.06 * max(axes.get_ylim()[1], level or 0))

    panels = [lambda axes: draw_by_size(axes, f"rate by size, {best}", "gflops", "GFLOP/s")]
    if len({row["tile"] for row in rows if row["method"] == "heddle"}) > 1:
        panels.append(lambda axes: draw_tiles(axes, ours))
    if any(row["peak_share"] for row in rows):
        panels.append(lambda axes: draw_by_size(axes, "share of the ranks' measured peak"
                                                + (" (pale: of the nominal one)" if nominal else ""), "peak_share", "%",
                                                100.0, 100))
    if any(row["hidden_share"] for row in rows):  # Data travelled between ranks.
        panels.append(lambda axes: draw_by_size(axes, "share of the transfers that products hide", "hidden_share", "%",
                                                100.0))
    lines, columns = grid_of(len(panels), 2)
    figure, all_axes = figure_of(lines, columns, 6.4 * columns, 0.9 + 3.9 * lines + 0.12 * len(all_series))
    for axes, draw in zip(all_axes.flat, panels):
        draw(axes)
    for axes in all_axes.flat[len(panels):]:
        axes.remove()
    legend_below(figure, [handle_of(series.style) for series in all_series], [series.name for series in all_series])
    figure.suptitle("Distributed matrix product C = A B of n × n matrices", fontsize=12)
    sign(figure, about["version"], about["git"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "study_gemm.py STUDY.csv PICTURE.png")
