"""Figures of `heddle study gemm`: python3 study_gemm.py STUDY.csv PICTURE.png.

By size, with the tile that the model chose: the rate, its share of the ranks' peak, and the share of the transfers that
products hide. By tile, of the largest size: the rate measured and predicted, and the lower bounds of Y. R. Choi and V.
Stegailov (2022), equations (6) and (8). Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

from common import COLOURS, draw_command, plt, read_tables, save, sign

MARKERS = "osD^vP*X"


def plural(ranks):
    return f"{ranks} rank{'s' if ranks > 1 else ''}"


class Series:
    """The rows of one device, number of ranks, scalar type and placement."""

    def __init__(self, key, rows, number):
        device, ranks, scalar, placement = key
        self.ranks = int(ranks)
        self.scalar = scalar
        self.name = f"{placement}, {scalar}, {plural(self.ranks)} of {device}"
        self.rows = sorted(rows, key=lambda row: (int(row["size"]), int(row["tile"])))
        self.style = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)],
                      "markersize": 4.5}

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
    for series in all_series:
        size, rows = series.of_largest()
        tiles = [int(row["tile"]) for row in rows]
        ticks.update(tiles)
        axes.plot(tiles, [float(row["gflops"]) for row in rows], **series.style)
        predicted = [(int(row["tile"]), float(row["gflops"]) * float(row["seconds"]) / float(row["predicted_seconds"]))
                     for row in rows if row["predicted_seconds"]]
        if predicted:
            axes.plot(*zip(*predicted), "--", color=series.style["color"], linewidth=1.0)
        for row in rows:
            if row["chosen"] == "1":
                axes.plot(int(row["tile"]), float(row["gflops"]), "o", markersize=12, fillstyle="none",
                          color=series.style["color"])
        bounds[series.ranks, series.scalar] = (rows[0]["memory_bound"], rows[0]["transfer_bound"])
    # Far from all tiles a bound says no more than that all meet it, or none.
    shown = range(min(ticks) // 2, 2 * max(ticks))
    for (ranks, scalar), (memory, transfer) in sorted(bounds.items()):
        for bound, name, style in ((memory, "(6)", ":"), (transfer, "(8)", "-.")):
            if not bound or int(bound) not in shown:
                continue
            axes.axvline(int(bound), color="#777777", linestyle=style, linewidth=1.0)
            axes.text(int(bound), 0.02, f" {name}, {scalar}, {plural(ranks)}", fontsize=7.5, rotation=90,
                      transform=axes.get_xaxis_transform(), color="#555555", va="bottom", ha="left")
    sizes = sorted({series.of_largest()[0] for series in all_series})
    prepare(axes, f"rate by tile, n = {', '.join(map(str, sizes))} (dashed: predicted; ringed: chosen)", "GFLOP/s",
            sorted(ticks), "tile $N_i$")


def main(source, target):
    about, (rows,) = read_tables(source)
    if not rows:
        raise ValueError("has no rows")
    keys = list(dict.fromkeys((row["device"], row["ranks"], row["scalar"], row["placement"]) for row in rows))
    all_series = [Series(key, [row for row in rows
                               if (row["device"], row["ranks"], row["scalar"], row["placement"]) == key], number)
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
    prepare(rate, "rate by size, the model's tile", "GFLOP/s", sizes, "size n")
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
