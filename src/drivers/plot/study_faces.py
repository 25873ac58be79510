"""Figures of `heddle study faces`: python3 study_faces.py STUDY.csv PICTURE.png.

For each device, run time over the size of the mesh for its two numberings: a dot a trial, lines through the means; and
bars of the phases of each method at the largest size that all ran at, one for each numbering. If several numbers of
threads ran, run time over these stands beside the bars, and all else is of the most threads. Below, the collisions of the
hash functions. Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

import statistics

from common import COLOURS, draw_command, plt, read_tables, save, sign
from curves import Curve, draw_panel, write_bars

# The colour is the hash function's, the line the algorithm's.
HASH_COLOURS = {"xor": COLOURS[3], "fnv1a": COLOURS[0], "morton": COLOURS[2], "mixer": COLOURS[4]}
ALGORITHM_COLOURS = {"partition": "#111111", "sort-by-id": COLOURS[5]}
LINES = {"sort": (0, (4, 1.5)), "hash-fight": "-", "sort-by-id": (0, (1, 1.2)), "partition": "-"}
MARKERS = {"sort": "s", "hash-fight": "o", "sort-by-id": "D", "partition": "^"}
NUMBERINGS = ("regular", "randomised")
# In the order of a search. The time between the phases is the rest.
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
            "linestyle": line, "linewidth": 2.2 if algorithm == "partition" else 1.4,
            "marker": MARKERS.get(algorithm, "o"), "markersize": 3.5}


def phases_of(row):
    """Seconds by phase, the rest included."""
    seconds = {name: float(value) for name, value in (part.split("=") for part in row["phases"].split(";") if part)}
    return seconds | {"rest": max(0.0, float(row["seconds"]) - sum(seconds.values()))}


def means_of(rows, column):
    """Millions of cells, ascending, and the mean of a column there."""
    sizes = sorted({int(row["cells"]) for row in rows})
    return ([size / 1e6 for size in sizes],
            [statistics.fmean(float(row[column]) for row in rows if int(row["cells"]) == size) for size in sizes])


def draw_times(axes, rows, title, highest):
    curves = []
    for method in dict.fromkeys(map(method_of, rows)):
        own = [row for row in rows if method_of(row) == method]
        curves.append(Curve(name_of(method), *means_of(own, "seconds"), style_of(method) | {"markersize": 0}))
    draw_panel(axes, title, curves, "millions of cells", "seconds", "linear")
    if len({row["cells"] for row in rows}) > 1:
        for method in dict.fromkeys(map(method_of, rows)):  # A dot a trial.
            own = [row for row in rows if method_of(row) == method]
            axes.scatter([int(row["cells"]) / 1e6 for row in own], [float(row["seconds"]) for row in own], s=9, alpha=0.45,
                         color=style_of(method)["color"], linewidths=0, marker=MARKERS.get(method[0], "o"), zorder=2)
        axes.set_xlim(left=0)
        axes.set_ylim(0, highest)


def draw_bars(axes, rows, title, inches):
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
    write_bars(axes, [(end, y, text) for y, (end, text) in ends.items()], 7.5)
    axes.set_yticks(range(len(methods)), [name_of(method) for method in methods])
    axes.invert_yaxis()
    axes.set_axisbelow(True)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("seconds")
    axes.set_title(f"{title}: {size / 1e6:.4g} million cells" + (f", {shown[0]}" if len(shown) == 1 else ""),
                   fontsize=10.5)
    used = [name for name in PHASE_COLOURS if any(phases_of(row).get(name, 0.0) > 0 for row in rows)]
    handles = [plt.Rectangle((0, 0), 1, 1, color=PHASE_COLOURS[name]) for name in used]
    axes.legend(handles, used, loc="upper center", ncol=-(-len(used) // 2), bbox_to_anchor=(0.5, -0.45 / inches),
                fontsize=8.5, handlelength=1.2, columnspacing=1.2, borderaxespad=0)


def draw_threads(axes, rows, title):
    methods = list(dict.fromkeys(map(method_of, rows)))
    size = min(max(int(row["cells"]) for row in rows if method_of(row) == method) for method in methods)
    numbering = next(name for name in NUMBERINGS if any(row["numbering"] == name for row in rows))
    rows = [row for row in rows if int(row["cells"]) == size and row["numbering"] == numbering]
    curves = []
    for method in methods:
        own = [row for row in rows if method_of(row) == method]
        threads = sorted({int(row["threads"]) for row in own})
        means = [statistics.fmean(float(row["seconds"]) for row in own if int(row["threads"]) == count) for count in threads]
        curves.append(Curve(name_of(method), threads, means, style_of(method)))
    draw_panel(axes, f"{title}, {numbering} numbering", curves, "threads", "seconds", "log2", "log")


def draw_collisions(axes, rows, algorithm, title):
    curves = []
    # The sort does not matter.
    methods = {method[:2]: method for method in map(method_of, reversed(rows)) if method[0] == algorithm}
    for method in methods.values():
        for numbering in NUMBERINGS:
            own = [row for row in rows if method_of(row) == method and row["numbering"] == numbering]
            points = [(size, mean) for size, mean in zip(*means_of(own, "collisions")) if mean > 0]
            if points:
                regular = numbering == "regular"
                style = style_of(method) | {"linestyle": "-" if regular else (0, (2, 1.5)), "marker": "o" if regular else "x"}
                curves.append(Curve(f"{method[1]}, {numbering}", *zip(*points), style))
    draw_panel(axes, title, curves, "millions of cells", "collisions", "linear", "log")


def of_most_threads(rows):
    most = max(int(row["threads"] or 0) for row in rows)
    return [row for row in rows if int(row["threads"] or 0) == most]


def main(source, target):
    about, (rows,) = read_tables(source)
    if not rows:
        raise ValueError("has no rows")
    devices = list(dict.fromkeys((row["device"], row["backend"]) for row in rows))
    by_device = [[row for row in rows if (row["device"], row["backend"]) == device] for device in devices]
    first = of_most_threads(by_device[0])
    # The function's own do not depend on the device; those of Hash-Fight hardly do.
    collide = [name for name in ("sort", "hash-fight")
               if any(row["algorithm"] == name and float(row["collisions"]) > 0 for row in first)]
    heights = []
    for own in by_device:
        methods = len(set(map(method_of, own)))
        heights += [max(3.1, 0.19 * methods), 1.0 + 0.36 * methods]
    if collide:
        heights.append(3.1)
    figure = plt.figure(figsize=(14.2, 0.6 + sum(heights) + 0.8 * len(heights) + 0.3 * len(devices)), layout="constrained")
    grid = figure.add_gridspec(len(heights), 2, height_ratios=heights)
    for number, ((device, backend), own) in enumerate(zip(devices, by_device)):
        most = of_most_threads(own)
        line = 2 * number
        numberings = [name for name in NUMBERINGS if any(row["numbering"] == name for row in most)]
        highest = 1.04 * max(float(row["seconds"]) for row in most)
        for place, numbering in enumerate(numberings):
            draw_times(figure.add_subplot(grid[line, place]), [row for row in most if row["numbering"] == numbering],
                       f"run time, {numbering} numbering: {device} ({backend})", highest)
        swept = len({row["threads"] for row in own}) > 1
        draw_bars(figure.add_subplot(grid[line + 1, 0] if swept else grid[line + 1, :]), most, f"phases, {device}",
                  heights[line + 1])
        if swept:
            draw_threads(figure.add_subplot(grid[line + 1, 1]), own, f"by threads: {device}")
    titles = {"sort": "collisions of sort: keys beside another one of the same hash",
              "hash-fight": "collisions of hash-fight: keys that fight again, over all iterations"}
    for place, algorithm in enumerate(collide):
        draw_collisions(figure.add_subplot(grid[-1, place]), first, algorithm, titles[algorithm])
    trials = 1 + max(int(row["trial"]) for row in rows)
    per_cube = int(rows[0]["cells"]) // int(rows[0]["cubes"]) ** 3
    figure.suptitle(f"External faces of cubes cut into tetrahedra, {per_cube} a cube: a dot a trial of {trials}, lines "
                    "through the means", fontsize=11.5)
    sign(figure, about["version"], about["git"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "study_faces.py STUDY.csv PICTURE.png")
