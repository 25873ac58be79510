"""Figures of `heddle study exact-errors`: python3 study_exact_errors.py STUDY.csv PICTURE.png.

For each operation, errors against the condition of the problem, a mark for each way to compute it. Exit status: 0 done, 1
the file can't be plotted, 3 a module is missing.
"""

import math

from common import draw_command, figure_of, legend_below, pale, plt, read_tables, save, sign, to_hex
from curves import grid_of, handle_of, label_ends

# Colours of sums, marks of refinements.
COLOURS = {"auto": "#2a6f97", "accumulator": "#3b3b3b", "twice": "#e0a030", "plain": "#b5394a"} | {
    f"expansion-{k}": to_hex(plt.get_cmap("viridis")(1.0 - (k - 1) / 7.5)) for k in range(2, 9)}
REFINED = ("#2a6f97", "#3d9a5f", "#7b5ea7", "#8c6d46", "#6b7280")
MARKS = "o^sDv"
BLOCK_MARKS = "x+1234"
SIZES = 12.0, 4.0  # Sizes of the first and the last mark, so that marks on top of each other are all visible.
TITLES = {
    "dot": ("inner product", "relative error"),
    "gemv": ("matrix and vector", "largest error over largest element"),
    "trsv": ("triangular system", "largest error over largest element"),
    "lu": ("LU with pivots", "|P A - L U| / |A|, largest row sums"),
}
UNIT_ROUNDOFF = 2.0**-53
LEAST = 1e-20  # Errors of 0 are drawn here.
FAR = 60  # Powers of ten beyond are drawn side by side at the right.


def look_of(algorithm, refinements, block_refinements):
    """Label, colour and mark of one way."""
    if block_refinements:
        times = "once" if block_refinements == 1 else f"{block_refinements} times"
        return (f"{algorithm}, blocks refined {times}", REFINED[block_refinements % len(REFINED)],
                BLOCK_MARKS[(block_refinements - 1) % len(BLOCK_MARKS)])
    if refinements:
        times = "once" if refinements == 1 else f"{refinements} times"
        colour = REFINED[refinements % len(REFINED)] if algorithm == "auto" else COLOURS[algorithm]
        return f"{algorithm}, refined {times}", colour, MARKS[refinements % len(MARKS)]
    return algorithm, COLOURS[algorithm], MARKS[0]


class Scale:
    """Axis of the conditions: by their power of ten, and beyond FAR one after the other."""

    def __init__(self, conditions):
        powers = sorted({round(math.log10(condition)) for condition in conditions})
        near = [power for power in powers if power <= FAR]
        step = max(1, -(-max(near, default=0) // 8))
        step = next((nice for nice in (1, 2, 5, 10) if nice >= step), step)
        self.ticks = {power: power for power in range(0, max(near, default=0) + 1, step)}
        # Those of one problem differ a little from each other.
        self.far = {}
        for power in (power for power in powers if power > FAR):
            same = next((other for other in self.far if power - other < 10), None)
            self.far[power] = self.far[same] if same is not None else (
                max([*self.far.values(), max(near, default=0)]) + max(3, max(near, default=0) / 9))
            if same is None:
                self.ticks[power] = self.far[power]

    def __call__(self, condition):
        power = math.log10(condition)
        return self.far.get(round(power), power)


def main(source, target):
    about, (rows,) = read_tables(source)
    if not rows:
        raise ValueError("has no rows")
    shown = list(dict.fromkeys(row["operation"] for row in rows))
    devices = list(dict.fromkeys(row["device"] for row in rows))
    ways = list(dict.fromkeys((row["device"], row["algorithm"], int(row["refinements"]), int(row["block_refinements"]))
                              for row in rows))
    styles, names = {}, {}
    for place, (device, *way) in enumerate(ways):
        label, colour, mark = look_of(*way)
        size = SIZES[0] + (SIZES[1] - SIZES[0]) * place / max(len(ways) - 1, 1)
        styles[device, *way] = pale({"color": colour}, 0.6 * devices.index(device) / len(devices)) | {
            "marker": mark, "markersize": size, "linestyle": "none", "fillstyle": "none"}
        names[device, *way] = label + (f", {device}" if len(devices) > 1 else "")
    lines, columns = grid_of(len(shown), 2)
    figure, all_axes = figure_of(lines, columns, 1.0 + 5.6 * columns, 1.3 + 3.6 * lines)
    for axes, name in zip(all_axes.flat, shown):
        points = {}
        scale = Scale([float(row["condition"]) for row in rows if row["operation"] == name])
        for row in rows:
            if row["operation"] == name:
                way = (row["device"], row["algorithm"], int(row["refinements"]), int(row["block_refinements"]))
                points.setdefault(way, []).append((scale(float(row["condition"])), max(float(row["error"]), LEAST)))
        for way, found in points.items():
            axes.plot(*zip(*sorted(found)), **styles[way])
        axes.axhline(UNIT_ROUNDOFF, color="#999999", linewidth=0.8, linestyle="--", zorder=0.5)
        axes.set_yscale("log")
        axes.set_xticks(list(scale.ticks.values()), [f"$10^{{{power}}}$" for power in scale.ticks])
        for place in set(scale.far.values()):
            axes.axvspan(place - 1, place + 1, color="#f3f3f3", zorder=0)
        axes.set_ylim(LEAST / 3, 50)
        label_ends(axes, [(axes.get_xlim()[1], UNIT_ROUNDOFF, "unit\nroundoff", "#777777")], 0.02)
        title, label = TITLES[name]
        sizes = sorted({int(row["size"]) for row in rows if row["operation"] == name})
        axes.set_title(f"{title}, n = {', '.join(str(n) for n in sizes)}")
        axes.set_xlabel("condition")
        axes.set_ylabel(label)
    for axes in all_axes.flat[len(shown):]:
        axes.remove()
    legend_below(figure, [handle_of(styles[way]) for way in ways], names.values())
    figure.suptitle("Errors against the condition, double" + (f", {devices[0]}" if len(devices) == 1 else ""),
                    fontsize=12)
    sign(figure, about["version"], about["git"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "study_exact_errors.py STUDY.csv PICTURE.png")
