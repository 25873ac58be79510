"""psi of a run at some times: python3 tdse_snapshots.py FILE.h5 PICTURE.png T1,T2,...

For each time a panel with the real and imaginary part and the density of psi, its nodes dotted, over the potential.
Only the first of several wave functions is drawn.
Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

import sys

from common import COLOURS, LINES, draw_command, figure_of, legend_below, save, sign
from tdse_waves import open_run, window

try:
    import numpy as np
except ImportError:
    sys.exit(3)


def draw_potential(axes, run, frame, ends, height):
    """In grey and by no scale: where the wells are."""
    values = run.potential(frame)
    shown = values[(run.x >= ends[0]) & (run.x <= ends[1])]
    spread = max(shown.max() - shown.min(), 1e-300)
    axes.fill_between(run.x, -height, -height + 0.9 * height * (values - shown.min()) / spread, color="#e9e9ee",
                      linewidth=0, zorder=0)


def draw_nodes(axes, run, frame):
    axes.plot(run.nodes[frame], np.zeros(len(run.nodes[frame])), linestyle="none", marker="o", markersize=6,
              color=COLOURS[3], zorder=5, label="nodes")


def main(source, target, times):
    run = open_run(source)
    frames = [int(np.argmin(np.abs(run.t - float(time)))) for time in times.split(",")]
    ends = window(run, frames)
    height = 1.12 * max(np.abs(run.psi[frames]).max(), run.density[frames].max())
    columns = min(len(frames), 2 if len(frames) < 5 else 3)
    rows = -(-len(frames) // columns)
    figure, panels = figure_of(rows, columns, 3.0 + 3.4 * columns, 1.1 + 2.3 * rows, sharex=True, sharey=True)
    for axes, frame in zip(panels.flat, frames):
        psi = run.psi[frame]
        draw_potential(axes, run, frame, ends, height)
        axes.fill_between(run.x, 0, run.density[frame], color="#111111", alpha=0.12, linewidth=0)
        axes.plot(run.x, run.density[frame], color="#111111", linewidth=1.4, label=r"$|\psi|^2$  (1/bohr)")
        axes.plot(run.x, psi.real, color=COLOURS[0], linewidth=1.2, label=r"Re $\psi$")
        axes.plot(run.x, psi.imag, color=COLOURS[1], linewidth=1.2, linestyle=LINES[1], label=r"Im $\psi$")
        draw_nodes(axes, run, frame)
        count = len(run.nodes[frame])
        axes.set_title(f"t = {run.t[frame]:.5g}   {count} node{'' if count == 1 else 's'}", loc="left", fontsize=10,
                       pad=4)
    panels[0, 0].set_xlim(*ends)
    panels[0, 0].set_ylim(-height, height)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    for axes in panels.flat[len(frames):]:
        axes.remove()
    for column in range(columns):
        lowest = panels[(len(frames) - 1 - column) // columns, column]
        lowest.tick_params(labelbottom=True)
        lowest.set_xlabel("x  (bohr)")
    for axes in panels[:, 0]:
        axes.set_ylabel(r"$\psi$  (bohr$^{-1/2}$)")
    figure.suptitle(f"psi in time   {run.words()}", fontsize=12)
    legend_below(figure, handles, labels)
    sign(figure, run.version, run.git)
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "tdse_snapshots.py FILE.h5 PICTURE.png T1,T2,...", 1)
