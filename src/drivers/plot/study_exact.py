"""Figures of `heddle study exact`: python3 study_exact.py STUDY.csv PICTURE.png.

For each operation, the time over that of plain arithmetic by size, a curve for each algorithm; seconds where plain
arithmetic was not timed. Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

from common import LINES, draw_command, figure_of, legend_below, plt, read_tables, save, sign, to_hex
from curves import Curve, draw_panel, grid_of, handle_of

MARKERS = "osD^vP*Xh<>"
# Expansions from light to dark.
COLOURS = {"auto": "#d1495b", "accumulator": "#3b3b3b", "twice": "#e0a030", "reproblas": "#2a6f97", "mkl": "#8c6d46"} | {
    f"expansion-{k}": to_hex(plt.get_cmap("viridis")(1.0 - (k - 1) / 7.5)) for k in range(2, 9)}


def curves(rows, value):
    """By device, scalar type, range and algorithm: sizes and times, `value` being their column."""
    found = {}
    for row in rows:
        if row[value] and row["algorithm"] != "plain":
            key = (row["device"], row["scalar"], row["range"], row["algorithm"])
            found.setdefault(key, []).append((int(row["size"]), float(row[value])))
    return {key: sorted(points) for key, points in found.items()}


def main(source, target):
    about, (rows,) = read_tables(source)
    if not rows:
        raise ValueError("has no rows")
    shown = list(dict.fromkeys(row["operation"] for row in rows if row["algorithm"] != "plain"))
    if not shown:
        raise ValueError("has no times of other algorithms than plain")
    data = list(dict.fromkeys((row["device"], row["scalar"], row["range"]) for row in rows))
    # The colour and the mark are the algorithm's; the line, and from the fifth on its width, those of the data.
    styles = {datum: {"linestyle": LINES[k % len(LINES)], "linewidth": 1.5 + 0.9 * (k // len(LINES))}
              for k, datum in enumerate(data)}
    lines, columns = grid_of(len(shown), 3)
    figure, all_axes = figure_of(lines, columns, 5.0 * columns, 0.9 + 3.2 * lines)
    algorithms = []
    for axes, name in zip(all_axes.flat, shown):
        found = []
        own = [row for row in rows if row["operation"] == name]
        compared = any(row["over_plain"] and row["algorithm"] != "plain" for row in own)
        for (*datum, algorithm), points in curves(own, "over_plain" if compared else "seconds").items():
            algorithms.append(algorithm)
            place = list(COLOURS).index(algorithm)
            style = {"color": COLOURS[algorithm], "marker": MARKERS[place % len(MARKERS)], "markersize": 4.5}
            found.append(Curve(algorithm, *zip(*points), style | styles[tuple(datum)]))
        draw_panel(axes, name, found, "n", "time over plain" if compared else "seconds", "log", "log",
                   1 if compared else None, len(data) == 1)
    for axes in all_axes.flat[len(shown):]:
        axes.remove()
    title = "Exact operations" + (" beside plain arithmetic" if any(row["over_plain"] for row in rows) else "")
    if len(data) == 1:
        title += f", {data[0][1]}, {data[0][0]}"
    else:  # Too many names for the ends of curves.
        used = [algorithm for algorithm in COLOURS if algorithm in algorithms]
        handles = [handle_of({"color": COLOURS[algorithm], "linewidth": 4}) for algorithm in used]
        handles += [handle_of({"color": "#555555"} | style) for style in styles.values()]
        legend_below(figure, handles, used + [f"{scalar}, {device}" + (f", {spread} powers of two" if spread != "0" else "")
                                              for device, scalar, spread in data])
    figure.suptitle(title, fontsize=12)
    sign(figure, about["version"], about["git"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "study_exact.py STUDY.csv PICTURE.png")
