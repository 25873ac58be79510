"""Figures of `heddle study transpose`: python3 study_transpose.py STUDY.csv PICTURE.png.

For each device, scalar type and matrix a heat map of each variant, blocks by rows and columns, GB/s as colour and
number; what the device can't run is left blank. Beside them how many times as fast as the sequential loop each variant
is at its best block. Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

import sys

from common import COLOURS, MARGIN, draw_command, plt, read_tables, save, sign, wrapped
from curves import write_bars

try:
    import numpy as np
except ImportError:
    sys.exit(3)

BAR_COLOURS = {"naive": COLOURS[1], "tiled": COLOURS[0], "tiled-padded": COLOURS[2], "automatic": "#111111",
               "copy": "#b8bec7"}


def rate_of(rows, variant):
    return max((float(row["gbytes_per_second"]) for row in rows if row["variant"] == variant and row["seconds"]),
               default=float("nan"))


def draw_map(axes, rows, variant, heights, widths, copy):
    rates = np.full((len(heights), len(widths)), np.nan)
    for row in rows:
        if row["variant"] == variant and row["gbytes_per_second"]:
            place = heights.index(int(row["block_rows"])), widths.index(int(row["block_columns"]))
            rates[place] = max(float(row["gbytes_per_second"]), np.nan_to_num(rates[place]))
    image = axes.imshow(rates, origin="lower", cmap="viridis", vmin=0, vmax=copy, aspect="auto")
    best = np.unravel_index(np.nanargmax(rates), rates.shape) if np.isfinite(rates).any() else None
    for (i, j), rate in np.ndenumerate(rates):
        if np.isfinite(rate):
            axes.text(j, i, f"{rate:.0f}" if copy >= 100 else f"{rate:.1f}", ha="center", va="center", fontsize=7.5,
                      color="white" if rate < 0.6 * copy else "black",
                      fontweight="bold" if (i, j) == best else "normal")
    axes.set_title(variant, fontsize=10.5)
    if best is not None:
        axes.add_patch(plt.Rectangle((best[1] - 0.5, best[0] - 0.5), 1, 1, fill=False, edgecolor="#b5394a",
                                     linewidth=2))
        axes.set_title(f"{variant}: best {heights[best[0]]} × {widths[best[1]]}, "
                       f"{100 * rates[best] / copy:.0f} % of a copy", fontsize=10.5)
    axes.set_xticks(range(len(widths)), widths)
    axes.set_yticks(range(len(heights)), heights)
    axes.set_xlabel("columns of a block")
    axes.grid(False)
    return image


def draw_speed_ups(axes, rows, variants):
    """A bar a variant, with milliseconds: the article's two tables in one."""
    shown = [name for name in (*variants, "automatic", "copy")
             if any(row["variant"] == name and row["seconds"] for row in rows)]
    fastest = [min((row for row in rows if row["variant"] == name and row["seconds"]),
                   key=lambda row: float(row["seconds"])) for name in shown]
    gains = [float(row["speed_up"]) for row in fastest]
    axes.barh(range(len(shown)), gains, color=[BAR_COLOURS[name] for name in shown], height=0.62)
    write_bars(axes, [(gain, k, f"{gain:.3g} ×,  {1e3 * float(row['seconds']):.3g} ms")
                      for k, (gain, row) in enumerate(zip(gains, fastest))], 8.5)
    axes.set_yticks(range(len(shown)), shown)
    axes.invert_yaxis()
    axes.set_axisbelow(True)
    axes.axvline(1, color="#555555", linewidth=0.8)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("speed-up over the sequential loop")
    sequential = next((row for row in rows if row["variant"] == "sequential"), None)
    if sequential:
        axes.set_title(f"sequential: {1e3 * float(sequential['seconds']):.3g} ms", fontsize=10.5)


def main(source, target):
    about, (rows,) = read_tables(source)
    if not rows:
        raise ValueError("has no rows")
    cases = list(dict.fromkeys((row["device"], row["processor"], row["scalar"], row["rows"], row["columns"])
                               for row in rows))
    blocks = [row for row in rows if row["block_rows"]]
    variants = list(dict.fromkeys(row["variant"] for row in blocks))
    heights = sorted({int(row["block_rows"]) for row in blocks})
    widths = sorted({int(row["block_columns"]) for row in blocks})
    figure = plt.figure(figsize=(4.4 * len(variants) + 5.6, 4.3 * len(cases) + 0.6), layout="constrained")
    for part, case in zip(np.atleast_1d(figure.subfigures(len(cases), 1)), cases):
        device, processor, scalar, m, n = case
        own = [row for row in rows if (row["device"], row["processor"], row["scalar"], row["rows"], row["columns"]) == case]
        copy = rate_of(own, "copy")
        line = part.subplots(1, len(variants) + 1, width_ratios=[4.4] * len(variants) + [3.6])
        maps, last = line[:-1], line[-1]
        for axes, variant in zip(maps, variants):
            image = draw_map(axes, own, variant, heights, widths, copy)
            if axes is not line[0]:
                axes.set_yticklabels([])
        line[0].set_ylabel("rows of a block")
        part.colorbar(image, ax=maps, label="GB/s read and written (top: a copy)", pad=0.01, aspect=30).ax.grid(False)
        draw_speed_ups(last, own, variants)
        automatic = rate_of(own, "automatic")
        title = (f"{device}, {m} × {n} {scalar}: a copy {copy:.4g} GB/s, automatic {automatic:.4g} GB/s "
                 f"({100 * automatic / copy:.0f} %); sequential on {processor}")
        part.suptitle(wrapped(title, 11, 72 * figure.get_figwidth() - 4 * MARGIN), fontsize=11)
    figure.suptitle("Transpose by the shape of blocks, and speed-ups over one core", fontsize=12.5)
    sign(figure, about["version"], about["git"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "study_transpose.py STUDY.csv PICTURE.png")
