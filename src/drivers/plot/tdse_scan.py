"""A scan over a key of a deck: python3 tdse_scan.py FILE.scan.h5 PICTURE.png

Against the value of the key: the populations at the end of each run; how much has left the level in which the run began, at
its end and on the average; where the deck has a pulse or an absorber, what is ionised, outside and absorbed at the end. At the
bottom the harmonic spectra: curves of a few values, else a map. Bars if the key has one value. The first of several wave
functions is drawn.
Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

import sys

from common import COLOURS, draw_command, figure_of, later, look, save, sign
from curves import Curve, draw_panel, few_ticks, label_ends, part_equal
from tdse_waves import keys_of

try:
    import h5py
    import numpy as np
    from matplotlib.colors import LogNorm
except ImportError:
    sys.exit(3)

FREQUENCIES = ("nuclei.omega", "pulse.omega", "pulse.1.omega")


FEW = 6  # Spectra that are drawn as curves.
LEAST = 1e-16  # Probabilities below are round-off.
LOST = {"ionisation": "in no bound state", "outside": "outside", "absorbed": "absorbed"}


class Scan:
    """The first wave function of a scan, in the order of rising values."""

    def __init__(self, file):
        self.key = file.attrs["key"]
        self.unit = file["scan/value"].attrs["unit"].replace("^2", "$^2$")
        self.deck = keys_of(file.attrs["deck"])
        self.done, self.version, self.git = (file.attrs[name] for name in ("points_done", "heddle_version", "git_hash"))
        values = file["scan/value"][:]
        order = np.argsort(values, kind="stable")
        self.values = values[order]
        self.energies = file["scan/energies"][:][order]
        self.last, self.mean = (self.first(file, f"{when}/populations", 2)[order] for when in ("final", "mean"))
        self.energy = self.first(file, "final/energy", 1)[order]
        self.lost = {name: self.first(file, f"final/{name}", 1)[order] for name in LOST if f"final/{name}" in file}
        if self.deck["absorber.kind"] == "none":
            self.lost.pop("absorbed", None)  # It would be the error of the norm.
        self.lost = {name: found for name, found in self.lost.items() if np.isfinite(found).any()}
        self.orders = self.spectra = None
        if "spectrum/dipole" in file:
            self.orders, self.spectra = file["spectrum/order"][:], self.first(file, "spectrum/dipole", 2)[order]
            if not np.nanmax(self.spectra, initial=0.0) > 0:
                self.spectra = None

    @staticmethod
    def first(file, name, dimensions):
        """A dataset of the first wave function, which has so many dimensions."""
        values = file[name][:]
        return values[:, 0] if values.ndim > dimensions else values

    def several(self):
        return bool(self.values[0] < self.values[-1])

    def scale(self):
        """Return "log" where the values are spaced by factors rather than by differences."""
        values = np.unique(self.values)
        if len(values) < 3 or values[0] <= 0 or values[-1] < 20 * values[0]:
            return "linear"
        spacings, factors = np.diff(values), np.diff(np.log(values))
        return "log" if factors.max() / factors.min() < spacings.max() / spacings.min() else "linear"

    def along(self):
        """The name of the axis of the values."""
        return self.key if self.unit == "1" else f"{self.key}  ({self.unit})"

    def text(self, value):
        return f"{value:g}" if self.unit == "1" else f"{value:g} {self.unit}"


def draw_gaps(axes, values, energies, level):
    """Lines at the distances from the first level to the others, where the key is a frequency and they are in reach."""
    shown = None
    for k, gap in enumerate(np.abs(energies[0] - energies[0, level])):
        if k != level and np.isfinite(gap) and values.min() <= gap <= values.max():
            shown = axes.axvline(gap, color="#888888", linewidth=0.9, linestyle=(0, (2, 3)), zorder=0)
    if shown:
        axes.legend([shown], [f"$|E_k - E_{{{level}}}|$ at t = 0"], loc="lower right", bbox_to_anchor=(1.0, 1.0),
                    borderaxespad=0.2)


def name_value(axes, scan):
    """The unit behind the one value in a title."""
    if not scan.several() and scan.unit != "1":
        axes.set_title(f"{axes.get_title()} {scan.unit}")


def draw_populations(axes, scan, marked):
    curves = [Curve(f"level {k}", scan.values, scan.last[:, k], look(k) | {"markersize": 3.5} | marked)
              for k in range(scan.last.shape[1]) if np.nanmax(scan.last[:, k], initial=0.0) > 1e-3]
    draw_panel(axes, "populations at the end", curves, scan.along(), "population", scan.scale())
    if scan.several():
        axes.set_ylim(-0.03, 1.03)
    else:
        axes.set_xlim(0, 1.15)


def draw_left(axes, scan, marked, level):
    styles = [{"color": colour, "marker": mark, "markersize": 3.5, "linestyle": line} | marked
              for colour, mark, line in ((COLOURS[0], "o", "-"), (COLOURS[3], "s", (0, (4, 2))))]
    last, mean = scan.last[:, level], scan.mean[:, level]
    draw_panel(axes, f"probability of having left level {level}",
               [Curve("at the end", scan.values, 1 - last, styles[0]),
                Curve("mean over the run", scan.values, 1 - mean, styles[1])], scan.along(), "probability", scan.scale())
    most = np.nanmax(1 - np.minimum(last, mean), initial=0.0)
    if scan.several():
        axes.set_ylim(-0.03 * max(most, 0.1), min(1.12 * max(most, 0.1), 1.03))


def draw_lost(axes, scan, marked):
    names = LOST | {"outside": f"outside |x| $\\leq$ {float(scan.deck.get('output.radius', 0)):g} bohr"}
    curves = [Curve(names[name], scan.values, np.where(np.isnan(found), found, np.maximum(found, LEAST)),
                    look(k) | {"markersize": 3.5} | marked) for k, (name, found) in enumerate(scan.lost.items())]
    draw_panel(axes, "what has left at the end", curves, scan.along(), "probability", scan.scale(), "log")


def draw_curves(axes, scan, shown, floor):
    """The spectra of a few values over the orders of the harmonics."""
    rows = [k for k in range(len(scan.values)) if np.isfinite(scan.spectra[k]).any()]
    lines, ends = [], []
    for j, k in enumerate(rows):
        spectrum = np.maximum(scan.spectra[k][shown], floor)
        style = look(j, marker=False)
        lines += axes.semilogy(scan.orders[shown], spectrum, **style | {"linewidth": 1.1})
        known = np.flatnonzero(np.isfinite(spectrum))
        ends.append((scan.orders[shown][known[-1]], spectrum[known[-1]], scan.text(scan.values[k]), style["color"]))
    axes.set_xlim(0, scan.orders[shown][-1])
    axes.set_ylim(bottom=floor)
    axes.set_xlabel("harmonic of the first pulse's carrier")
    axes.set_ylabel(r"$\omega^4 |\tilde d(\omega)|^2$")
    few_ticks(axes.yaxis)
    later(axes.figure, lambda: part_equal(axes, lines))
    label_ends(axes, ends, heading=scan.key)


def draw_map(axes, scan, shown, floor):
    """The spectra of many values: one colour for each value and order."""
    values, first = np.unique(scan.values, return_index=True)
    axes.grid(False)
    spectra = np.maximum(scan.spectra[first][:, shown], floor)
    image = axes.pcolormesh(values, scan.orders[shown], spectra.T, cmap="magma", shading="nearest", rasterized=True,
                            norm=LogNorm(floor, np.nanmax(scan.spectra)))
    axes.set_xscale(scan.scale())
    axes.set_xlim(values[0], values[-1])
    axes.set_ylim(0, scan.orders[shown][-1])
    axes.set_xlabel(scan.along())
    axes.set_ylabel("harmonic order")
    bar = axes.inset_axes([1.02, 0, 0.018, 1])
    bar.grid(False)
    axes.figure.colorbar(image, cax=bar, label=r"$\omega^4 |\tilde d(\omega)|^2$")


def draw_spectra(axes, scan):
    # To some decades below the highest, where round-off or the window's side lobes take over.
    most = np.nanmax(scan.spectra)
    seen = scan.orders[(np.nan_to_num(scan.spectra) > 1e-11 * most).any(axis=0)][-1]
    shown = scan.orders <= max(5, 1.3 * seen)
    (draw_curves if len(np.unique(scan.values)) <= FEW else draw_map)(axes, scan, shown, 1e-14 * most)
    axes.set_title("harmonic spectrum of the dipole moment")
    name_value(axes, scan)


def title_of(scan):
    kind = scan.deck["potential.kind"]
    words = f"{kind} potential"
    if kind == "soft-core":
        words = f"Z = {float(scan.deck['potential.charge']):g}, a = {float(scan.deck['potential.softening']):g}"
    count = len(scan.values)
    missing = "" if scan.done == count else f",  {scan.done} of {count} points"
    return f"{f'{count} runs over {scan.key}' if count > 1 else '1 run'}   {words}{missing}"


def main(source, target):
    with h5py.File(source, "r") as file:
        scan = Scan(file)
    level = int(scan.deck["initial.level"]) if scan.deck["initial.kind"] in ("eigenstate", "imaginary-time") else 0
    marked = {} if len(scan.values) <= 60 else {"marker": ""}
    panels = []
    if np.nanmax(scan.last, initial=0.0) > 1e-3:
        panels.append(lambda axes: draw_populations(axes, scan, marked))
    if level < scan.last.shape[1]:
        panels.append(lambda axes: draw_left(axes, scan, marked, level))
    else:
        panels.append(lambda axes: draw_panel(axes, "energy at the end", [Curve("energy", scan.values, scan.energy, look(0))],
                                              scan.along(), "energy  (hartree)", scan.scale(), named=False))
    gaps = len(panels) - 1
    if scan.lost:
        panels.append(lambda axes: draw_lost(axes, scan, marked))
    over_values = len(panels)
    if scan.spectra is not None:
        panels.append(lambda axes: draw_spectra(axes, scan))
    figure, all_axes = figure_of(len(panels), 1, 9.2, 1.0 + 3.0 * len(panels))
    all_axes = all_axes[:, 0]
    for k, (axes, draw) in enumerate(zip(all_axes, panels)):
        draw(axes)
        if k < over_values:
            name_value(axes, scan)
            if scan.several():
                axes.set_xlim(scan.values[0], scan.values[-1])
        if scan.several() and k < over_values - 1:
            axes.set_xlabel("")
            axes.tick_params(labelbottom=False)
    if scan.several() and scan.key in FREQUENCIES and level < scan.energies.shape[1]:
        draw_gaps(all_axes[gaps], scan.values, scan.energies, level)
    figure.suptitle(title_of(scan), fontsize=11)
    figure.align_ylabels(all_axes)
    sign(figure, scan.version, scan.git)
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "tdse_scan.py FILE.scan.h5 PICTURE.png")
