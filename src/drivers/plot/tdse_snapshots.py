"""psi of a run at some times: python3 tdse_snapshots.py FILE.h5 PICTURE.png T1,T2,...

For each time a panel with the real and imaginary part and the density of psi, its nodes dotted, over the potential. A
run with a pulse or an absorber has a second panel below it: the density in the whole box on a logarithmic axis, with the
absorber shaded, and the probability that has left.
Only the first of several wave functions is drawn.
Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

import sys

from common import COLOURS, LINES, draw_command, figure_of, legend_below, save, sign
from curves import handle_of
from tdse_waves import open_run, window

try:
    import numpy as np
except ImportError:
    sys.exit(3)

ABSORBER = "#f3e3d0"
ROUND_OFF = 1e-14
LOST = {"ionisation": "ionised", "outside": "outside", "absorbed": "absorbed"}


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


def draw_wave(axes, run, frame, ends, height):
    """psi and its density on linear axes, over the potential."""
    psi = run.psi[frame]
    draw_potential(axes, run, frame, ends, height)
    axes.fill_between(run.x, 0, run.density[frame], color="#111111", alpha=0.12, linewidth=0)
    axes.plot(run.x, run.density[frame], color="#111111", linewidth=1.4, label=r"$|\psi|^2$  (1/bohr)")
    axes.plot(run.x, psi.real, color=COLOURS[0], linewidth=1.2, label=r"Re $\psi$")
    axes.plot(run.x, psi.imag, color=COLOURS[1], linewidth=1.2, linestyle=LINES[1], label=r"Im $\psi$")
    draw_nodes(axes, run, frame)
    count = len(run.nodes[frame])
    axes.set_title(f"t = {run.t[frame]:.5g}   {count} node{'' if count == 1 else 's'}", loc="left", fontsize=10, pad=4)


def draw_box(axes, run, frame):
    """The density in the whole box on a logarithmic axis, with the absorber shaded, and how much has left."""
    first, last, width = run.x[0], run.x[-1], run.absorber()
    if width > 0:
        for low, high in ((first, first + width), (last - width, last)):
            axes.axvspan(low, high, color=ABSORBER, linewidth=0, zorder=0)
        axes.annotate("absorber", (last - width / 2, 1), xycoords=("data", "axes fraction"), xytext=(0, -4),
                      textcoords="offset points", rotation=90, ha="center", va="top", fontsize=7.5, color="#8a5a2b")
    if "outside" in run.lost:
        radius = float(run.deck["output.radius"])
        for place in (-radius, radius):
            axes.axvline(place, color="#888888", linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
    with np.errstate(divide="ignore"):
        axes.semilogy(run.x, run.density[frame], color="#111111", linewidth=1.1)
    words = [f"{name} {probability(run.lost[key][frame])}" for key, name in LOST.items() if key in run.lost]
    axes.set_title(",  ".join(words), loc="left", fontsize=8.5, color="#555555", pad=3)


def probability(value):
    """Two digits; 0 for round-off, which may be negative."""
    return f"{value:.1e}" if value > ROUND_OFF else "0"


def decades(run, frames, ends):
    """Limits of a logarithmic density: some decades below what is between the window of the wave and the absorber."""
    shown = run.density[frames]
    most, width = shown.max(), run.absorber()
    outer = ((run.x < ends[0]) | (run.x > ends[1])) & (run.x > run.x[0] + width) & (run.x < run.x[-1] - width)
    leaving = np.median(shown[:, outer], axis=1).max() if outer.any() else 0.0
    return min(max(1e-4 * leaving, 1e-16 * most), 1e-6 * most), 5 * most


def share(panels):
    """One range of both axes for these panels, and numbers at the left ones alone."""
    for axes in panels.flat[1:]:
        axes.sharex(panels[0, 0])
        axes.sharey(panels[0, 0])
    for axes in panels[:, 1:].flat:
        axes.tick_params(labelleft=False)


def main(source, target, times):
    run = open_run(source)
    frames = [int(np.argmin(np.abs(run.t - float(time)))) for time in times.split(",")]
    ends = window(run, frames)
    height = 1.12 * max(np.abs(run.psi[frames]).max(), run.density[frames].max())
    columns = min(len(frames), 2 if len(frames) < 5 else 3)
    rows = -(-len(frames) // columns)
    heights = [2.3, 1.7] if run.leaves() else [2.3]
    figure, panels = figure_of(rows * len(heights), columns, 3.0 + 3.4 * columns, 1.1 + rows * sum(heights),
                               gridspec_kw={"height_ratios": rows * heights})
    waves, boxes = panels[::len(heights)], panels[1::2] if run.leaves() else None
    for shared in (waves, boxes) if run.leaves() else (waves,):
        share(shared)
    for k, frame in enumerate(frames):
        draw_wave(waves.flat[k], run, frame, ends, height)
        if run.leaves():
            draw_box(boxes.flat[k], run, frame)
    waves[0, 0].set_xlim(*ends)
    waves[0, 0].set_ylim(-height, height)
    handles, labels = waves[0, 0].get_legend_handles_labels()
    if run.leaves():
        boxes[0, 0].set_xlim(run.x[0], run.x[-1])
        boxes[0, 0].set_ylim(*decades(run, frames, ends))
        if "outside" in run.lost:
            handles.append(handle_of({"color": "#888888", "linewidth": 0.9, "linestyle": (0, (2, 2))}))
            labels.append(f"|x| = {float(run.deck['output.radius']):g} bohr")
    for axes in [axes for part in (waves, boxes) if part is not None for axes in part.flat[len(frames):]]:
        axes.remove()
    for column in range(columns):
        last = (len(frames) - 1 - column) // columns
        for part in (waves, boxes) if run.leaves() else (waves,):
            for row in range(last):
                part[row, column].tick_params(labelbottom=run.leaves())
        (boxes if run.leaves() else waves)[last, column].set_xlabel("x  (bohr)")
    for axes in waves[:, 0]:
        axes.set_ylabel(r"$\psi$  (bohr$^{-1/2}$)")
    for axes in boxes[:, 0] if run.leaves() else ():
        axes.set_ylabel(r"$|\psi|^2$  (1/bohr)")
    figure.align_ylabels(panels[:, 0])
    figure.suptitle(f"psi in time   {run.words()}", fontsize=12)
    legend_below(figure, handles, labels)
    sign(figure, run.version, run.git)
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "tdse_snapshots.py FILE.h5 PICTURE.png T1,T2,...", 1)
