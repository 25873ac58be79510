"""A run as a film: python3 tdse_animate.py FILE.h5 FILM FORMAT, where FORMAT is mp4 or gif

The density and its nodes over the potential, and where the file has psi its real and imaginary part.
Only the first of several wave functions is drawn.
Exit status: 0 done, 1 the file can't be drawn, 3 a module is missing, 4 ffmpeg is missing.
"""

import sys

from common import COLOURS, LINES, draw_command, plt, sign, wrapped
from tdse_snapshots import draw_nodes, draw_potential
from tdse_waves import open_run, window

try:
    import numpy as np
    from matplotlib import animation
except ImportError:
    sys.exit(3)

FRAMES = 300  # At most: a film of 12 seconds.
RATE = 25
DPI = 100


class GifWriter(animation.PillowWriter):
    """Says the format, since the film is not called .gif before it is complete."""

    def finish(self):
        self._frames[0].save(self.outfile, format="GIF", save_all=True, append_images=self._frames[1:],
                             duration=int(1000 / self.fps), loop=0)


def writer_of(form):
    if form == "gif":
        if not animation.writers.is_available("pillow"):
            sys.exit(3)
        return GifWriter(fps=RATE)
    if not animation.writers.is_available("ffmpeg"):
        sys.exit(4)
    # Even numbers of points, which most players ask for.
    return animation.FFMpegWriter(fps=RATE, codec="h264", extra_args=["-f", "mp4", "-pix_fmt", "yuv420p"])


def main(source, target, form):
    writer = writer_of(form)
    run = open_run(source)
    stride = -(-len(run.t) // FRAMES)
    frames = list(range(0, len(run.t), stride))
    ends = window(run, frames)
    largest = run.density[frames].max()
    height = 1.12 * (largest if run.psi is None else max(largest, np.abs(run.psi[frames]).max()))
    low = -height if run.psi is not None else -0.25 * height

    figure, axes = plt.subplots(figsize=(8.0, 5.0))
    figure.subplots_adjust(left=0.09, right=0.98, top=0.86, bottom=0.12)
    with writer.saving(figure, target, DPI):
        for frame in frames:
            axes.clear()
            draw_potential(axes, run, frame, ends, -low)
            axes.fill_between(run.x, 0, run.density[frame], color="#111111", alpha=0.12, linewidth=0)
            axes.plot(run.x, run.density[frame], color="#111111", label=r"$|\psi|^2$")
            if run.psi is not None:
                axes.plot(run.x, run.psi[frame].real, color=COLOURS[0], linewidth=1.2, label=r"Re $\psi$")
                axes.plot(run.x, run.psi[frame].imag, color=COLOURS[1], linewidth=1.2, linestyle=LINES[1],
                          label=r"Im $\psi$")
            draw_nodes(axes, run, frame)
            axes.set_xlim(*ends)
            axes.set_ylim(low, height)
            axes.set_xlabel("x  (bohr)")
            axes.set_ylabel("atomic units")
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncol=4)
            axes.set_title(f"t = {run.t[frame]:.4f}", loc="right", fontsize=11, color="#222222")
            if frame == 0:
                figure.text(0.09, 0.985, wrapped(run.words(), 11, 0.89 * 72 * figure.get_figwidth()), ha="left",
                            va="top", fontsize=11, color="#222222")
                sign(figure, run.version, run.git)
            writer.grab_frame()


if __name__ == "__main__":
    draw_command(main, "tdse_animate.py FILE.h5 FILM FORMAT", 1)
