"""Figures of `heddle study faces`: python3 study_faces.py STUDY.csv PICTURE.png.

For each device, run time over the size of the mesh for its two numberings: a dot a trial, lines through the means.
Below, the collisions of the hash functions. Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

import statistics

from common import COLOURS, draw_command, plt, read_tables, save, sign

# The colour is the hash function's, the line the algorithm's.
HASH_COLOURS = {"xor": COLOURS[3], "fnv1a": COLOURS[0], "morton": COLOURS[2], "mixer": COLOURS[4]}
ALGORITHM_COLOURS = {"partition": "#111111", "sort-by-id": COLOURS[5]}
LINES = {"sort": (0, (4, 1.5)), "hash-fight": "-", "sort-by-id": (0, (1, 1.2)), "partition": "-"}
MARKERS = {"sort": "s", "hash-fight": "o", "sort-by-id": "D", "partition": "^"}
NUMBERINGS = ("regular", "randomised")


def method_of(row):
    return row["algorithm"], row["hash"]


def name_of(method):
    return "+".join(filter(None, method))


def style_of(method):
    algorithm, function = method
    return {"color": HASH_COLOURS.get(function) or ALGORITHM_COLOURS.get(algorithm, "#777777"),
            "linestyle": LINES.get(algorithm, "-"), "linewidth": 2.2 if algorithm == "partition" else 1.4}


def means_of(rows, column):
    """Millions of cells, ascending, and the mean of a column there."""
    sizes = sorted({int(row["cells"]) for row in rows})
    return ([size / 1e6 for size in sizes],
            [statistics.fmean(float(row[column]) for row in rows if int(row["cells"]) == size) for size in sizes])


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


def label_ends(axes, ends):
    """Names right of the axes, each led to from the end of its line: (x, y, name, colour)."""
    if not ends:
        return
    axes.figure.canvas.draw()  # Settles the limits.
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = [(*to_axes.transform((x, y)), name, colour) for x, y, name, colour in ends]
    places = spread([y for _, y, _, _ in ends], 0.052, 0.01, 0.99)
    for (x, y, name, colour), place in zip(ends, places):
        axes.annotate(name, xy=(x, y), xytext=(1.045, place), xycoords="axes fraction", textcoords="axes fraction",
                      fontsize=8.5, color=colour, va="center", annotation_clip=False,
                      arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5, "alpha": 0.6, "shrinkA": 1,
                                  "shrinkB": 2, "relpos": (0, 0.5)})


def draw_times(axes, rows, title, highest):
    ends = []
    for method in dict.fromkeys(map(method_of, rows)):
        own = [row for row in rows if method_of(row) == method]
        style = style_of(method)
        axes.scatter([int(row["cells"]) / 1e6 for row in own], [float(row["seconds"]) for row in own], s=9,
                     color=style["color"], alpha=0.45, linewidths=0, marker=MARKERS.get(method[0], "o"), zorder=2)
        sizes, means = means_of(own, "seconds")
        axes.plot(sizes, means, **style, zorder=3)
        ends.append((sizes[-1], means[-1], name_of(method), style["color"]))
    axes.set_title(title, fontsize=10.5)
    axes.set_xlabel("millions of cells")
    axes.set_ylabel("seconds")
    axes.set_xlim(left=0)
    axes.set_ylim(0, highest)
    label_ends(axes, ends)


def draw_collisions(axes, rows, algorithm, title):
    ends = []
    for method in dict.fromkeys(method_of(row) for row in rows if row["algorithm"] == algorithm):
        for numbering in NUMBERINGS:
            own = [row for row in rows if method_of(row) == method and row["numbering"] == numbering]
            sizes, means = means_of(own, "collisions")
            points = [(size, mean) for size, mean in zip(sizes, means) if mean > 0]
            if not points:
                continue
            style = {**style_of(method), "linestyle": "-" if numbering == "regular" else (0, (2, 1.5))}
            axes.plot(*zip(*points), marker="o" if numbering == "regular" else "x", markersize=4, **style)
            ends.append((*points[-1], f"{method[1]}, {numbering}", style["color"]))
    axes.set_yscale("log")
    axes.set_xlim(left=0)
    axes.set_title(title, fontsize=10.5)
    axes.set_xlabel("millions of cells")
    axes.set_ylabel("collisions")
    label_ends(axes, ends)


def legend_of(figure, rows):
    algorithms = [name for name in LINES if any(row["algorithm"] == name for row in rows)]
    handles = [plt.Line2D([], [], color=ALGORITHM_COLOURS.get(name, "#555555"), linestyle=LINES[name], marker=MARKERS[name],
                          markersize=4, linewidth=2.2 if name == "partition" else 1.4) for name in algorithms]
    names = list(algorithms)
    for function in HASH_COLOURS:
        if any(row["hash"] == function for row in rows):
            handles.append(plt.Line2D([], [], color=HASH_COLOURS[function], linewidth=4))
            names.append(function)
    figure.legend(handles, names, loc="lower center", ncol=len(names), bbox_to_anchor=(0.5, 0.012))


def main(source, target):
    about, (rows,) = read_tables(source)
    if not rows:
        raise ValueError("has no rows")
    devices = list(dict.fromkeys((row["device"], row["backend"]) for row in rows))
    count = len(devices) + 1
    height = 4.1 * count + 1.3
    figure, panels = plt.subplots(count, 2, figsize=(14.2, height), squeeze=False)
    figure.subplots_adjust(left=0.055, right=0.875, top=1 - 0.95 / height, bottom=0.95 / height, wspace=0.5, hspace=0.33)
    for line, (device, backend) in zip(panels, devices):
        own = [row for row in rows if (row["device"], row["backend"]) == (device, backend)]
        highest = 1.04 * max(float(row["seconds"]) for row in own)
        for axes, numbering in zip(line, NUMBERINGS):
            there = [row for row in own if row["numbering"] == numbering]
            draw_times(axes, there, f"run time, {numbering} numbering: {device} ({backend})", highest)
    # The function's own do not depend on the device; those of Hash-Fight hardly do.
    own = [row for row in rows if (row["device"], row["backend"]) == devices[0]]
    draw_collisions(panels[-1][0], own, "sort", "collisions of sort: keys beside another one of the same hash")
    draw_collisions(panels[-1][1], own, "hash-fight", "collisions of hash-fight: keys that fight again, over all iterations")
    for axes in panels[-1]:
        if not axes.lines:
            axes.set_axis_off()
            axes.set_title("")
    trials = 1 + max(int(row["trial"]) for row in rows)
    per_cube = int(rows[0]["cells"]) // int(rows[0]["cubes"]) ** 3
    figure.suptitle(f"External faces of cubes cut into tetrahedra, {per_cube} a cube: a dot a trial of {trials}, lines "
                    "through the means", fontsize=11.5, y=1 - 0.28 / height)
    legend_of(figure, rows)
    sign(figure, about["version"], about["git"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "study_faces.py STUDY.csv PICTURE.png")
