"""A scan over a key of a deck: python3 tdse_scan.py FILE.scan.h5 PICTURE.png

Above: the populations at the end of each run against the value of the key. Below: how much has left the level in which the
run began, at its end and on the average. Bars if the key has one value. The first of several wave functions is drawn.
Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

import sys

from common import COLOURS, draw_command, figure_of, look, save, sign
from curves import Curve, draw_panel
from tdse_waves import keys_of

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(3)

FREQUENCIES = ("nuclei.omega", "pulse.omega", "pulse.1.omega")


def first_of(file, name):
    values = file[name][:]
    return values[:, 0] if values.ndim == 3 else values


def draw_gaps(axes, values, energies, level):
    """Lines at the distances from the first level to the others, where the key is a frequency and they are in reach."""
    shown = None
    for k, gap in enumerate(np.abs(energies[0] - energies[0, level])):
        if k != level and np.isfinite(gap) and values.min() <= gap <= values.max():
            shown = axes.axvline(gap, color="#888888", linewidth=0.9, linestyle=(0, (2, 3)), zorder=0)
    if shown:
        axes.legend([shown], [f"$|E_k - E_{{{level}}}|$ at t = 0"], loc="lower right", bbox_to_anchor=(1.0, 1.0),
                    borderaxespad=0.2)


def main(source, target):
    with h5py.File(source, "r") as file:
        values, key = file["scan/value"][:], file.attrs["key"]
        energies = file["scan/energies"][:]
        last, mean = (first_of(file, f"{when}/populations") for when in ("final", "mean"))
        energy = file["final/energy"][:]
        energy = energy if energy.ndim == 1 else energy[:, 0]
        deck = keys_of(file.attrs["deck"])
        done, version, git = file.attrs["points_done"], file.attrs["heddle_version"], file.attrs["git_hash"]
    order = np.argsort(values, kind="stable")
    values, energies, last, mean, energy = (array[order] for array in (values, energies, last, mean, energy))
    level = int(deck["initial.level"]) if deck["initial.kind"] in ("eigenstate", "imaginary-time") else 0
    along = f"{key}  (atomic units)"
    marked = {} if len(values) <= 60 else {"marker": ""}
    several = bool(values[0] < values[-1])
    populations = [Curve(f"level {k}", values, last[:, k], look(k) | {"markersize": 3.5} | marked)
                   for k in range(last.shape[1]) if np.nanmax(last[:, k], initial=0.0) > 1e-3]
    kind = deck["potential.kind"]
    words = f"{kind} potential"
    if kind == "soft-core":
        words = f"Z = {float(deck['potential.charge']):g}, a = {float(deck['potential.softening']):g}"
    missing = "" if done == len(values) else f",  {done} of {len(values)} points"
    count = f"{len(values)} runs over {key}" if len(values) > 1 else "1 run"
    figure, all_axes = figure_of(2 if populations else 1, 1, 9.2, 7.0 if populations else 4.0, sharex=several)
    axes = all_axes[-1, 0]
    if populations:
        above = all_axes[0, 0]
        draw_panel(above, "populations at the end", populations, along, "population", "linear")
        (above.set_ylim if several else above.set_xlim)(-0.03 if several else 0, 1.03 if several else 1.15)
        if several:
            above.set_xlabel("")
    if level < last.shape[1]:
        styles = [{"color": colour, "marker": mark, "markersize": 3.5, "linestyle": line} | marked
                  for colour, mark, line in ((COLOURS[0], "o", "-"), (COLOURS[3], "s", (0, (4, 2))))]
        draw_panel(axes, f"probability of having left level {level}",
                   [Curve("at the end", values, 1 - last[:, level], styles[0]),
                    Curve("mean over the run", values, 1 - mean[:, level], styles[1])], along, "probability", "linear")
        most = np.nanmax(1 - np.minimum(last[:, level], mean[:, level]), initial=0.0)
        if several:
            axes.set_ylim(-0.03 * max(most, 0.1), min(1.12 * max(most, 0.1), 1.03))
    else:
        draw_panel(axes, "energy at the end", [Curve("energy", values, energy, look(0))], along, "energy  (hartree)",
                   "linear", named=False)
    if several:
        if key in FREQUENCIES and level < energies.shape[1]:
            draw_gaps(axes, values, energies, level)
        axes.set_xlim(values[0], values[-1])
    figure.suptitle(f"{count}   {words}{missing}", fontsize=11)
    figure.align_ylabels(all_axes[:, 0])
    sign(figure, version, git)
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "tdse_scan.py FILE.scan.h5 PICTURE.png")
