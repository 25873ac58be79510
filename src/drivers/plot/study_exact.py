"""Figures of `heddle study exact`: python3 study_exact.py STUDY.csv PICTURE.png.

For each operation, the time over that of plain arithmetic by size, a curve for each algorithm. Exit status: 0 done, 1 the
file can't be plotted, 3 a module is missing.
"""

from common import draw_command, plt, read_tables, save, sign

MARKERS = "osD^vP*Xh<>"
# Expansions from light to dark.
COLOURS = {"auto": "#d1495b", "accumulator": "#3b3b3b", "twice": "#e0a030", "reproblas": "#2a6f97", "mkl": "#8c6d46"} | {
    f"expansion-{k}": plt.get_cmap("viridis")(1.0 - (k - 1) / 7.5) for k in range(2, 9)}
LINES = ("-", "--", ":", "-.")


def curves(rows):
    """By device, scalar type, range and algorithm: sizes and times over plain ones."""
    found = {}
    for row in rows:
        if row["over_plain"] and row["algorithm"] != "plain":
            key = (row["device"], row["scalar"], row["range"], row["algorithm"])
            found.setdefault(key, []).append((int(row["size"]), float(row["over_plain"])))
    return {key: sorted(points) for key, points in found.items()}


def main(source, target):
    about, (rows,) = read_tables(source)
    if not rows:
        raise ValueError("has no rows")
    shown = [name for name in dict.fromkeys(row["operation"] for row in rows)
             if any(row["operation"] == name and row["over_plain"] and row["algorithm"] != "plain" for row in rows)]
    if not shown:
        raise ValueError("has no times over plain ones")
    data = list(dict.fromkeys((row["device"], row["scalar"], row["range"]) for row in rows))
    columns = min(len(shown), 4)
    lines = (len(shown) + columns - 1) // columns
    figure, all_axes = plt.subplots(lines, columns, figsize=(1.2 + 3.7 * columns, 1.6 + 3.1 * lines), squeeze=False)
    legend = {}
    for axes, name in zip(all_axes.flat, shown):
        for (device, scalar, spread, algorithm), points in curves(
                [row for row in rows if row["operation"] == name]).items():
            number = list(COLOURS).index(algorithm)
            label = algorithm
            if len(data) > 1:
                label += f", {scalar}" + (f", {spread} powers of two" if spread != "0" else "") + f", {device}"
            curve, = axes.plot(*zip(*points), LINES[data.index((device, scalar, spread)) % len(LINES)],
                               color=COLOURS[algorithm], marker=MARKERS[number % len(MARKERS)],
                               markersize=4.5)
            legend.setdefault(label, curve)
        axes.axhline(1, color="#999999", linewidth=0.8, zorder=0.5)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(name, fontsize=10.5)
        axes.set_xlabel("n")
        sizes = sorted({int(row["size"]) for row in rows if row["operation"] == name})
        axes.set_xticks(sizes, [f"{n:,}".replace(",", " ") for n in sizes], rotation=30, fontsize=8)
        axes.yaxis.set_major_locator(plt.LogLocator(subs=(1, 2, 5), numticks=12))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()
    for axes in all_axes[:, 0]:
        axes.set_ylabel("time over plain")
    for axes in list(all_axes.flat)[len(shown):]:
        axes.axis("off")
    height = figure.get_figheight()
    rows_of_legend = (len(legend) + 3) // 4
    figure.suptitle("Exact operations beside plain arithmetic"
                    + (f", {data[0][1]}, {data[0][0]}" if len(data) == 1 else ""), fontsize=12)
    figure.tight_layout(rect=(0, (0.35 + 0.22 * rows_of_legend) / height, 1, 1))
    figure.legend(legend.values(), legend.keys(), loc="lower center", ncol=4, bbox_to_anchor=(0.5, 0.12 / height))
    sign(figure, about["version"], about["git"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "study_exact.py STUDY.csv PICTURE.png")
