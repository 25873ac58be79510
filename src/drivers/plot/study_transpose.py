"""Heat maps of `heddle study transpose`: python3 study_transpose.py STUDY.csv PICTURE.png.

One map for each variant, blocks by rows and columns, GB/s as colour and number; what the device can't run is left
blank. Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

import sys

from common import draw_command, plt, read_tables, save, sign

try:
    import numpy as np
except ImportError:
    sys.exit(3)


def main(source, target):
    about, (rows,) = read_tables(source)
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    heights = sorted({int(row["block_rows"]) for row in rows})
    widths = sorted({int(row["block_columns"]) for row in rows})
    copy = float(about["copy_gbytes_per_second"])
    figure, panels = plt.subplots(1, len(variants), figsize=(4.6 * len(variants) + 1.2, 5.4), sharey=True, squeeze=False)
    figure.subplots_adjust(left=0.06, right=0.9, top=0.83, bottom=0.11, wspace=0.06)
    for axes, variant in zip(panels[0], variants):
        rates = np.full((len(heights), len(widths)), np.nan)
        for row in rows:
            if row["variant"] == variant and row["gbytes_per_second"]:
                place = heights.index(int(row["block_rows"])), widths.index(int(row["block_columns"]))
                rates[place] = float(row["gbytes_per_second"])
        image = axes.imshow(rates, origin="lower", cmap="viridis", vmin=0, vmax=copy, aspect="auto")
        best = np.unravel_index(np.nanargmax(rates), rates.shape) if np.isfinite(rates).any() else None
        for (i, j), rate in np.ndenumerate(rates):
            if np.isfinite(rate):
                axes.text(j, i, f"{rate:.0f}" if copy >= 100 else f"{rate:.1f}", ha="center", va="center", fontsize=7.5,
                          color="white" if rate < 0.6 * copy else "black",
                          fontweight="bold" if (i, j) == best else "normal")
        if best is not None:
            axes.add_patch(plt.Rectangle((best[1] - 0.5, best[0] - 0.5), 1, 1, fill=False, edgecolor="#b5394a",
                                         linewidth=2))
            axes.set_title(f"{variant}: best {heights[best[0]]} × {widths[best[1]]}, "
                           f"{100 * rates[best] / copy:.0f} % of a copy", fontsize=10.5)
        axes.set_xticks(range(len(widths)), widths)
        axes.set_yticks(range(len(heights)), heights)
        axes.set_xlabel("columns of a block")
        axes.grid(False)
    panels[0][0].set_ylabel("rows of a block")
    place = panels[0][-1].get_position()
    bar = figure.add_axes([place.x1 + 0.012, place.y0, 0.013, place.height])
    bar.grid(False)
    figure.colorbar(image, cax=bar, label="GB/s read and written (top: a copy)")
    automatic = float(about["automatic_gbytes_per_second"])
    figure.suptitle(f"Transpose of {about['matrix'].replace(' x ', ' × ')}: a copy {copy:.4g} GB/s, "
                    f"automatic {automatic:.4g} GB/s ({100 * automatic / copy:.0f} %)\n{about['device']}", fontsize=11.5,
                    y=0.975)
    sign(figure, about["version"], about["git"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "study_transpose.py STUDY.csv PICTURE.png")
