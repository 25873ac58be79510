"""A scan over a key of a deck: python3 tdse_scan.py FILE.scan.h5 PICTURE.png

Above: the populations at the end of each run against the value of the key. Below: how much has left the level in which the
run began, at its end and on the average. Of several wave functions: the first.
Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

import sys

from common import COLOURS, draw_command, plt, save, sign
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
    shown = False
    for k, gap in enumerate(np.abs(energies[0] - energies[0, level])):
        if k != level and np.isfinite(gap) and values.min() <= gap <= values.max():
            axes.axvline(gap, color="#888888", linewidth=0.9, linestyle=(0, (2, 3)), zorder=0,
                         label=None if shown else f"$|E_k - E_{{{level}}}|$ at t = 0")
            shown = True


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
    marker = "o" if len(values) <= 60 else None
    figure, (above, below) = plt.subplots(2, 1, figsize=(9.2, 7.0), sharex=True)
    figure.subplots_adjust(left=0.09, right=0.8, top=0.93, bottom=0.085, hspace=0.1)
    for k in range(last.shape[1]):
        if np.nanmax(last[:, k], initial=0.0) > 1e-3:
            above.plot(values, last[:, k], color=COLOURS[k % len(COLOURS)], marker=marker, markersize=3.5, label=f"{k}")
    above.set_ylabel("population at the end")
    above.set_ylim(-0.03, 1.03)
    above.legend(title="eigenstate of H(t)", title_fontsize=9, loc="upper left", bbox_to_anchor=(1.01, 1.0),
                 borderaxespad=0)
    kind = deck["potential.kind"]
    words = f"{kind} potential"
    if kind == "soft-core":
        words = f"Z = {float(deck['potential.charge']):g}, a = {float(deck['potential.softening']):g}"
    missing = "" if done == len(values) else f",  {done} of {len(values)} points"
    above.set_title(f"{len(values)} runs over {key}   {words}{missing}", loc="left", fontsize=11, color="#222222")
    if level < last.shape[1]:
        below.plot(values, 1 - last[:, level], color=COLOURS[0], marker=marker, markersize=3.5, label="at the end")
        below.plot(values, 1 - mean[:, level], color=COLOURS[3], marker=marker, markersize=3.5, linestyle=(0, (4, 2)),
                   label="mean over the run")
        below.set_ylabel(f"probability of having left level {level}")
        most = np.nanmax(1 - np.minimum(last[:, level], mean[:, level]), initial=0.0)
        below.set_ylim(-0.03 * max(most, 0.1), min(1.12 * max(most, 0.1), 1.03))
    else:
        below.plot(values, energy, color=COLOURS[0], marker=marker, markersize=3.5, label="energy at the end")
        below.set_ylabel("energy  (hartree)")
    if key in FREQUENCIES and level < energies.shape[1]:
        draw_gaps(below, values, energies, level)
    below.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)
    below.set_xlabel(f"{key}  (atomic units)")
    if values[0] < values[-1]:
        below.set_xlim(values[0], values[-1])
    figure.align_ylabels([above, below])
    sign(figure, version, git)
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "tdse_scan.py FILE.scan.h5 PICTURE.png")
