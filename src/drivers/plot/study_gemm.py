"""Figures of `heddle study gemm`: python3 study_gemm.py STUDY.csv PICTURE.png.

By size, with the tile that the model chose, and of other libraries with their fastest block: the rate, its share of the
ranks' peak, and the share of the transfers that products hide. By tile, of the largest size: the rate measured and
predicted, and the lower bounds of Y. R. Choi and V. Stegailov (2022), equations (6) and (8); where no tile is near a
bound, it is written beside the curves. Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

from common import COLOURS, draw_command, plt, read_tables, save, sign

MARKERS = "osD^vP*X"
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
        self.style = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)],
                      "markersize": 4.5, "linestyle": "-" if self.ours else "--"}

    def by_size(self, column, factor=1.0):
        found = [(int(row["size"]), factor * float(row[column])) for row in self.rows
                 if row["chosen"] == "1" and row[column]]
        return list(zip(*found)) if found else ([], [])

    def of_largest(self):
        largest = max(int(row["size"]) for row in self.rows)
        return largest, [row for row in self.rows if int(row["size"]) == largest]


def prepare(axes, title, unit, ticks, along):
    axes.set_title(title, fontsize=10.5)
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [str(n) for n in ticks], rotation=45, fontsize=8)
    axes.minorticks_off()
    axes.set_xlabel(along)
    axes.set_ylabel(unit)
    # Room above for markers.
    axes.set_ylim(0, 1.04 * axes.get_ylim()[1])


def draw_tiles(axes, all_series):
    ticks = set()
    bounds = {}
    all_series = [series for series in all_series if series.ours]
    if not all_series:
        axes.text(0.5, 0.5, "no products of Heddle's", transform=axes.transAxes, ha="center", color="#777777")
        return
    for series in all_series:
        size, rows = series.of_largest()
        tiles = [int(row["tile"]) for row in rows]
        ticks.update(tiles)
        axes.plot(tiles, [float(row["gflops"]) for row in rows], **series.style)
        predicted = [(int(row["tile"]), float(row["gflops"]) * float(row["seconds"]) / float(row["predicted_seconds"]))
                     for row in rows if row["predicted_seconds"]]
        if predicted:
            axes.plot(*zip(*predicted), linestyle=(0, (2, 2)), color=series.style["color"], linewidth=1.0)
        for row in rows:
            if row["chosen"] == "1":
                axes.plot(int(row["tile"]), float(row["gflops"]), "o", markersize=12, fillstyle="none",
                          color=series.style["color"])
        if not series.in_parts:  # whose bounds are those of real products
            bounds[series.ranks, series.scalar] = (rows[0]["memory_bound"], rows[0]["transfer_bound"])
    # Far from all tiles a bound would leave no room for the curves.
    shown = range(min(ticks) // 2, 2 * max(ticks))
    # What is bounded alike is named once; a single rank receives nothing, and (8) says nothing of it.
    bounded = {}
    for (ranks, scalar), (memory, transfer) in sorted(bounds.items()):
        bounded.setdefault(("(6)", memory), []).append(f"{scalar}, {plural(ranks)}")
        if ranks > 1:
            bounded.setdefault(("(8)", transfer), []).append(f"{scalar}, {plural(ranks)}")
    notes = []
    drawn = []
    for (name, bound), whose in bounded.items():
        label = f"{name} {'; '.join(whose)}"
        if not bound:
            notes.append(f"{label}: no tile meets it")
        elif int(bound) not in shown:
            met = "all tiles meet it" if int(bound) < min(ticks) else "none of these tiles meets it"
            notes.append(f"{label}: {bound}, {met}")
        else:
            drawn.append((int(bound), label))
            axes.axvline(int(bound), color="#777777", linestyle=":" if name == "(6)" else "-.", linewidth=1.0)
    # Labels of lines stand above the notes, which lie in the corner.
    notes = notes[:12]
    for bound, label in drawn:
        axes.text(bound, 0.03 + 0.042 * len(notes), f" {label}", fontsize=7.5, rotation=90, color="#555555",
                  transform=axes.get_xaxis_transform(), va="bottom", ha="left")
    axes.text(0.985, 0.02, "\n".join(notes), fontsize=7.5, transform=axes.transAxes, color="#555555", va="bottom",
              ha="right", bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1.5})
    sizes = sorted({series.of_largest()[0] for series in all_series})
    prepare(axes, f"rate by tile, n = {', '.join(map(str, sizes))} (dotted: predicted; ringed: chosen)", "GFLOP/s",
            sorted(ticks), "tile $N_i$")


def main(source, target):
    about, (rows,) = read_tables(source)
    if not rows:
        raise ValueError("has no rows")
    keys = list(dict.fromkeys(tuple(row[name] for name in KEY) for row in rows))
    all_series = [Series(key, [row for row in rows if tuple(row[name] for name in KEY) == key], number)
                  for number, key in enumerate(keys)]
    sizes = sorted({int(row["size"]) for row in rows})
    figure, ((rate, by_tile), (share, hidden)) = plt.subplots(2, 2, figsize=(12.6, 9.2))
    legend_lines = (len(all_series) + 2) // 3
    figure.subplots_adjust(left=0.065, right=0.985, top=0.92, bottom=0.12 + 0.022 * legend_lines, wspace=0.18,
                           hspace=0.36)
    for series in all_series:
        rate.plot(*series.by_size("gflops"), label=series.name, **series.style)
        share.plot(*series.by_size("peak_share", 100.0), **series.style)
        share.plot(*series.by_size("nominal_share", 100.0), **{**series.style, "linestyle": ":", "markersize": 3})
        hidden.plot(*series.by_size("hidden_share", 100.0), **series.style)
    prepare(rate, "rate by size, the model's tile" + (" (dashed: others, best block)" if any(
        not series.ours for series in all_series) else ""), "GFLOP/s", sizes, "size n")
    dotted = " (dotted: nominal)" if any(row["nominal_share"] for row in rows) else ""
    prepare(share, f"share of the ranks' measured peak{dotted}", "%", sizes, "size n")
    share.axhline(100, color="#999999", linewidth=0.8, zorder=0.5)
    prepare(hidden, "share of the transfers that products hide", "%", sizes, "size n")
    hidden.set_ylim(0, 104)
    if not any(row["hidden_share"] for row in rows):
        hidden.text(0.5, 0.5, "nothing travelled", transform=hidden.transAxes, ha="center", va="center",
                    color="#777777")
    draw_tiles(by_tile, all_series)
    figure.legend(*rate.get_legend_handles_labels(), loc="lower center", ncol=3, bbox_to_anchor=(0.5, 0.012))
    figure.suptitle("Distributed matrix product C = A B of n × n matrices", fontsize=12, y=0.975)
    sign(figure, about["version"], about["git"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "study_gemm.py STUDY.csv PICTURE.png")
