"""Figures of `heddle study faces`: python3 study_faces.py STUDY.csv PICTURE.png.

For each device, run time over the size of the mesh for its two numberings: a dot a trial, lines through the means; and
bars of the phases of each method at the largest size that all ran at, one for each numbering. Where several numbers of
threads ran, run time over these stands beside the bars, and all else is of the most threads. Below, the collisions of the
hash functions. Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

import statistics

from common import COLOURS, draw_command, plt, read_tables, save, sign

# The colour is the hash function's, the line the algorithm's.
HASH_COLOURS = {"xor": COLOURS[3], "fnv1a": COLOURS[0], "morton": COLOURS[2], "mixer": COLOURS[4]}
ALGORITHM_COLOURS = {"partition": "#111111", "sort-by-id": COLOURS[5]}
LINES = {"sort": (0, (4, 1.5)), "hash-fight": "-", "sort-by-id": (0, (1, 1.2)), "partition": "-"}
MARKERS = {"sort": "s", "hash-fight": "o", "sort-by-id": "D", "partition": "^"}
NUMBERINGS = ("regular", "randomised")
# In the order of a search. What is between the phases is the rest.
PHASE_COLOURS = {"inspect": "#9aa5b1", "prepare": "#d7b98e", "hash": COLOURS[1], "sort": COLOURS[0], "fight": COLOURS[3],
                 "find": COLOURS[2], "count": COLOURS[4], "scatter": COLOURS[6], "buckets": COLOURS[5],
                 "list": "#454b54", "rest": "#e3e6ea"}


def method_of(row):
    return row["algorithm"], row["hash"], row["sort"]


def name_of(method):
    algorithm, function, sort = method
    return "+".join(filter(None, (algorithm, function))) + (" (merge)" if sort == "merge" else "")


def style_of(method):
    algorithm, function, sort = method
    line = (0, (4, 1.2, 1, 1.2)) if sort == "merge" else LINES.get(algorithm, "-")
    return {"color": HASH_COLOURS.get(function) or ALGORITHM_COLOURS.get(algorithm, "#777777"),
            "linestyle": line, "linewidth": 2.2 if algorithm == "partition" else 1.4}


def phases_of(row):
    """Seconds by phase, the rest included."""
    seconds = {name: float(value) for name, value in (part.split("=") for part in row["phases"].split(";") if part)}
    return seconds | {"rest": max(0.0, float(row["seconds"]) - sum(seconds.values()))}


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


def draw_bars(axes, rows, title):
    """The phases of each method at the largest size that all ran at: a bar a numbering, means of the trials."""
    methods = list(dict.fromkeys(map(method_of, rows)))
    size = min(max(int(row["cells"]) for row in rows if method_of(row) == method) for method in methods)
    rows = [row for row in rows if int(row["cells"]) == size]
    shown = [name for name in NUMBERINGS if any(row["numbering"] == name for row in rows)]
    height = 0.78 / len(shown)
    ends = {}
    for place, method in enumerate(methods):
        for k, numbering in enumerate(shown):
            own = [row for row in rows if method_of(row) == method and row["numbering"] == numbering]
            if not own:
                continue
            left = 0.0
            y = place + (k - (len(shown) - 1) / 2) * height
            for phase in PHASE_COLOURS:
                seconds = statistics.fmean(phases_of(row).get(phase, 0.0) for row in own)
                axes.barh(y, seconds, height=0.88 * height, left=left, color=PHASE_COLOURS[phase], linewidth=0,
                          alpha=1.0 if numbering == "regular" else 0.72)
                left += seconds
            text = f"{left:.3g} s" + (f", {numbering}" if len(shown) > 1 and place == 0 else "")
            misses = [int(row["cache_misses"]) / int(row["faces"]) for row in own if row["cache_misses"]]
            if misses:
                text += f", {statistics.fmean(misses):.3g} misses a face"
            ends[y] = (left, text)
    longest = max(end for end, _ in ends.values())
    for y, (end, text) in ends.items():
        axes.text(end + 0.006 * longest, y, text, va="center", fontsize=7.5, color="#333333")
    axes.set_yticks(range(len(methods)), [name_of(method) for method in methods])
    axes.invert_yaxis()
    axes.set_axisbelow(True)
    axes.grid(axis="y", visible=False)
    axes.set_xlim(0, 1.16 * longest)
    axes.set_xlabel("seconds")
    axes.set_title(f"{title}: {size / 1e6:.4g} million cells" + (f", {shown[0]}" if len(shown) == 1 else ""),
                   fontsize=10.5)
    used = [name for name in PHASE_COLOURS if any(phases_of(row).get(name, 0.0) > 0 for row in rows)]
    handles = [plt.Rectangle((0, 0), 1, 1, color=PHASE_COLOURS[name]) for name in used]
    axes.legend(handles, used, loc="upper center", ncol=min(len(used), 11), bbox_to_anchor=(0.5, -0.42 / axes.figure.get_figheight() / axes.get_position().height),
                fontsize=8.5, handlelength=1.2, columnspacing=1.2)


def draw_threads(axes, rows, title):
    methods = list(dict.fromkeys(map(method_of, rows)))
    size = min(max(int(row["cells"]) for row in rows if method_of(row) == method) for method in methods)
    numbering = next(name for name in NUMBERINGS if any(row["numbering"] == name for row in rows))
    rows = [row for row in rows if int(row["cells"]) == size and row["numbering"] == numbering]
    threads = sorted({int(row["threads"]) for row in rows})
    ends = []
    for method in methods:
        own = [row for row in rows if method_of(row) == method]
        there = [count for count in threads if any(int(row["threads"]) == count for row in own)]
        means = [statistics.fmean(float(row["seconds"]) for row in own if int(row["threads"]) == count) for count in there]
        style = style_of(method)
        axes.plot(there, means, marker=MARKERS.get(method[0], "o"), markersize=4, **style)
        ends.append((there[-1], means[-1], name_of(method), style["color"]))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(threads, threads)
    axes.minorticks_off()
    axes.yaxis.set_major_locator(plt.LogLocator(subs=(1, 2, 5), numticks=12))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_title(f"{title}, {numbering} numbering", fontsize=10.5)
    axes.set_xlabel("threads")
    axes.set_ylabel("seconds")
    label_ends(axes, ends)


def draw_collisions(axes, rows, algorithm, title):
    ends = []
    # The sort does not matter.
    methods = {method[:2]: method for method in map(method_of, reversed(rows)) if method[0] == algorithm}
    for method in methods.values():
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
    if any(row["sort"] == "merge" for row in rows):
        handles.append(plt.Line2D([], [], color="#555555", linestyle=style_of(("sort", "", "merge"))["linestyle"]))
        names.append("by merging")
    for function in HASH_COLOURS:
        if any(row["hash"] == function for row in rows):
            handles.append(plt.Line2D([], [], color=HASH_COLOURS[function], linewidth=4))
            names.append(function)
    figure.legend(handles, names, loc="lower center", ncol=len(names), bbox_to_anchor=(0.5, 0.012))


def of_most_threads(rows):
    most = max(int(row["threads"] or 0) for row in rows)
    return [row for row in rows if int(row["threads"] or 0) == most]


def panels_of(figure, heights, margins):
    """Lines of two axes each, by their heights in inches."""
    above, below, between = margins
    height = figure.get_figheight()
    top = height - above
    lines = []
    for inches in heights:
        lines.append([figure.add_axes([left, (top - inches) / height, 0.325, inches / height]) for left in (0.055, 0.55)])
        top -= inches + between
    assert abs(top + between - below) < 1e-6
    return lines


def main(source, target):
    about, (rows,) = read_tables(source)
    if not rows:
        raise ValueError("has no rows")
    devices = list(dict.fromkeys((row["device"], row["backend"]) for row in rows))
    by_device = [[row for row in rows if (row["device"], row["backend"]) == device] for device in devices]
    heights = []
    for own in by_device:
        heights += [3.1, 1.0 + 0.36 * len(set(map(method_of, own)))]
    # The function's own do not depend on the device; those of Hash-Fight hardly do.
    first = of_most_threads(by_device[0])
    collide = [name for name in ("sort", "hash-fight")
               if any(row["algorithm"] == name and float(row["collisions"]) > 0 for row in first)]
    if collide:
        heights.append(3.1)
    margins = above, below, between = 0.95, 1.1, 1.15
    height = above + below + sum(heights) + between * (len(heights) - 1)
    figure = plt.figure(figsize=(14.2, height))
    lines = panels_of(figure, heights, margins)
    for number, ((device, backend), own) in enumerate(zip(devices, by_device)):
        most = of_most_threads(own)
        times, bars = lines[2 * number:2 * number + 2]
        highest = 1.04 * max(float(row["seconds"]) for row in most)
        for axes, numbering in zip(times, NUMBERINGS):
            there = [row for row in most if row["numbering"] == numbering]
            draw_times(axes, there, f"run time, {numbering} numbering: {device} ({backend})", highest)
        place = bars[0].get_position()
        swept = len({row["threads"] for row in own}) > 1
        left = 0.135
        bars[0].set_position([left, place.y0, (0.5 if swept else 0.965) - left, place.height])
        draw_bars(bars[0], most, f"phases, {device}")
        if swept:
            bars[1].set_position([0.565, place.y0, 0.31, place.height])
            draw_threads(bars[1], own, f"by threads: {device}")
        else:
            bars[1].remove()
    if collide:
        for axes, algorithm, title in zip(lines[-1], ("sort", "hash-fight"),
                                          ("collisions of sort: keys beside another one of the same hash",
                                           "collisions of hash-fight: keys that fight again, over all iterations")):
            if algorithm in collide:
                draw_collisions(axes, first, algorithm, title)
            else:
                axes.remove()
    trials = 1 + max(int(row["trial"]) for row in rows)
    per_cube = int(rows[0]["cells"]) // int(rows[0]["cubes"]) ** 3
    figure.suptitle(f"External faces of cubes cut into tetrahedra, {per_cube} a cube: a dot a trial of {trials}, lines "
                    "through the means", fontsize=11.5, y=1 - 0.28 / height)
    legend_of(figure, rows)
    sign(figure, about["version"], about["git"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "study_faces.py STUDY.csv PICTURE.png")
