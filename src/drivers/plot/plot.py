"""Picture of a run of `heddle tdse`: python3 plot.py FILE.h5 PICTURE.png

Above: |psi|^2 over time and x with the paths of the nuclei. Below, over the same time: the field of the pulses,
populations of the lowest instantaneous eigenstates, energy, mean position and nodes where they change, and the error of
the norm or, with an absorber, what has left. At the bottom, where the file has them: spectra of the autocorrelation and of
the dipole. A run without a step: the density alone. Only the first of several wave functions is drawn.
Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

import sys

from common import COLOURS, draw_command, figure_of, later, look, plt, save, sign
from curves import label_ends, part_equal

try:
    import h5py
    import numpy as np
    from matplotlib.colors import LogNorm, PowerNorm
    from matplotlib.ticker import MaxNLocator
except ImportError:
    sys.exit(3)

STILL = 1e-6  # Bohr: less is round-off, not a motion.
MOST = 10, 6  # Populations, and levels, that there is room to name.


def first_of(file, name):
    """A dataset of the first wave function; `name` is one of those that each has."""
    values = file[name][:]
    several = file["restart/psi"].ndim == 2
    return (values[0] if name.startswith("spectrum/") else values[:, 0]) if several else values


def border(centres):
    """First and last border of the equal cells around evenly spaced centres."""
    half = 0.5 * (centres[-1] - centres[0]) / max(len(centres) - 1, 1) or 0.5
    return centres[0] - half, centres[-1] + half


def window(x, density, nuclei):
    """Part of x that holds all but a sliver of the density at all times, and the nuclei."""
    seen = np.flatnonzero((density > 2e-3 * density.max()).any(axis=0))
    low, high = (x[seen[0]], x[seen[-1]]) if len(seen) else (x[0], x[-1])
    if nuclei is not None:
        low, high = min(low, nuclei.min()), max(high, nuclei.max())
    margin = 0.12 * max(high - low, x[1] - x[0])
    return max(low - margin, x[0]), min(high + margin, x[-1])


def draw_density(axes, file, t, nuclei, title):
    x = file["grid/x"][:]
    density = first_of(file, "density")
    frames = file["frames/t"][:]
    axes.grid(False)
    leaves = "observables/field" in file or "observables/absorbed" in file
    # The square root shows the tails, which tunnel, beside the peaks; decades what leaves.
    norm = LogNorm(1e-9 * density.max(), density.max()) if leaves else PowerNorm(0.5, 0, density.max())
    shown = np.maximum(density, 1e-9 * density.max()) if leaves else density
    image = axes.imshow(shown.T, extent=(*border(frames), *border(x)), origin="lower", aspect="auto", cmap="magma",
                        norm=norm, interpolation="bilinear")
    if nuclei is not None:  # One series, broken between its curves.
        places = np.vstack([nuclei, np.full((1, nuclei.shape[1]), np.nan)])
        axes.plot(np.tile(np.append(t, np.nan), nuclei.shape[1]), places.T.ravel(), color="white", linewidth=1.1,
                  linestyle=(0, (5, 3)), alpha=0.9, label="nuclei")
        axes.legend(loc="upper right", labelcolor="white")
    axes.set_ylim(*((x[0], x[-1]) if leaves else window(x, density, nuclei)))
    axes.set_ylabel("x  (bohr)")
    axes.set_title(title, loc="left", fontsize=12, pad=10)
    bar = axes.inset_axes([1.02, 0, 0.018, 1])
    bar.grid(False)
    axes.figure.colorbar(image, cax=bar, label=r"$|\psi|^2$  (1/bohr)")


def levels_of(file):
    """Return the name of the levels in the file: those of the Hamiltonian without its pulses if it has a field."""
    return "level without the field" if "observables/field" in file else "level of H(t)"


def draw_others(axes, t, values):
    """Series that there is no room to name, as one: a column each."""
    broken = np.vstack([values, np.full((1, values.shape[1]), np.nan)])
    axes.plot(np.tile(np.append(t, np.nan), values.shape[1]), broken.T.ravel(), color="#bbbbbb", linewidth=0.5)


def draw_populations(axes, file, t):
    populations = np.maximum(first_of(file, "observables/populations"), 1e-16)
    followed = [k for k in range(populations.shape[1]) if populations[:, k].max() > 1e-6]
    named = sorted(sorted(followed, key=lambda k: -populations[:, k].max())[:MOST[0]])
    ends = [(t[-1], populations[-1, k], f"{k}", look(k)["color"]) for k in named]
    others = populations[:, [k for k in followed if k not in named]]
    if others.size:
        draw_others(axes, t, others)
        ends.append((t[-1], others[-1].max(), "others", "#888888"))
    lines = [axes.semilogy(t, populations[:, k], **look(k, marker=False))[0] for k in named]
    axes.set_ylim(max(1e-6, min(1e-3, 0.3 * populations[populations > 1e-6].min(initial=1.0))), 2)
    axes.set_ylabel("population")
    later(axes.figure, lambda: part_equal(axes, lines))
    label_ends(axes, ends, 0.02, levels_of(file))


def draw_energy(axes, file, t):
    energies, energy = file["observables/energies"][:], first_of(file, "observables/energy")
    count = energies.shape[1]
    named = range(count if count <= MOST[1] + 1 else MOST[1])
    ends = [(t[-1], energy[-1], r"$\langle H \rangle$", "#111111")]
    ends += [(t[-1], energies[-1, k], f"{k}", look(k)["color"]) for k in named]
    if len(named) < count:
        draw_others(axes, t, energies[:, len(named):])
        ends.append((t[-1], energies[-1, -1], f"{len(named)} to {count - 1}", "#888888"))
    lines = [axes.plot(t, energies[:, k], **look(k, marker=False) | {"linewidth": 0.9})[0] for k in named]
    lines += axes.plot(t, energy, color="#111111")
    axes.set_ylabel("energy  (hartree)")
    later(axes.figure, lambda: part_equal(axes, lines))
    label_ends(axes, ends, 0.02, levels_of(file) if count else "")


def moves(file):
    """Whether the mean position changes, and whether the number of nodes does."""
    nodes = first_of(file, "observables/nodes")
    return any(np.ptp(first_of(file, f"observables/{name}")) > STILL for name in ("position", "dipole")), np.ptp(nodes) > 0


def draw_nodes(axes, file, t):
    axes.step(t, first_of(file, "observables/nodes"), where="post", color=COLOURS[3], linewidth=1.0)
    axes.set_ylabel("nodes", color=COLOURS[3])
    axes.tick_params(axis="y", colors=COLOURS[3])
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=4))
    axes.set_ylim(bottom=-0.2, top=max(axes.get_ylim()[1], 1.2))


def draw_position(axes, file, t):
    shown = ((first_of(file, "observables/position"), r"$\langle x \rangle$  (bohr)", COLOURS[0], "-"),
             (first_of(file, "observables/dipole"), "dipole  (e bohr)", COLOURS[1], (0, (4, 2))))
    lines = [axes.plot(t, values, color=colour, linestyle=line)[0] for values, _, colour, line in shown]
    axes.set_ylabel(r"$\langle x \rangle$, dipole")
    nodes_change = moves(file)[1]
    if nodes_change:
        nodes = axes.twinx()
        draw_nodes(nodes, file, t)
        nodes.grid(False)
    later(axes.figure, lambda: part_equal(axes, lines))
    label_ends(axes, [(t[-1], values[-1], name, colour) for values, name, colour, _ in shown],
               0.1 if nodes_change else 0.02)


def draw_field(axes, file, t):
    axes.plot(t, file["observables/field"][:], color=COLOURS[5], linewidth=1.0)
    axes.set_ylabel("field  (a.u.)")


def draw_lost(axes, file, t):
    names = {"ionisation": "in no bound state",
             "outside": f"outside |x| $\\leq$ {float(deck_of(file).get('output.radius', 0)):g} bohr", "absorbed": "absorbed"}
    lines, ends = [], []
    largest = 0.0
    for colour, (name, label) in zip(COLOURS, names.items()):
        if f"observables/{name}" in file:
            values = np.maximum(first_of(file, f"observables/{name}"), 1e-16)
            lines += axes.semilogy(t, values, color=colour)
            ends.append((t[-1], values[-1], label, colour))
            largest = max(largest, values.max())
    axes.set_ylim(max(1e-12, 1e-6 * largest), 3 * max(largest, 1e-11))
    axes.set_ylabel("probability")
    later(axes.figure, lambda: part_equal(axes, lines))
    label_ends(axes, ends, 0.02)


def draw_spectrum(axes, file):
    energy, spectrum = file["spectrum/energy"][:], first_of(file, "spectrum/autocorrelation")
    axes.plot(energy, spectrum, color=COLOURS[0])
    levels = file["observables/energies"][0]
    for k, level in enumerate(levels[(levels >= energy[0]) & (levels <= energy[-1])]):
        axes.axvline(level, color="#888888", linewidth=0.8, linestyle=(0, (2, 2)), zorder=0,
                     label="eigenvalues" if k == 0 else None)
    axes.set_xlim(energy[0], energy[-1])
    axes.set_xlabel("E  (hartree)")
    axes.set_ylabel("S(E)  (1/hartree)")
    axes.set_title("spectrum of the autocorrelation", loc="left", fontsize=10)
    if len(axes.lines) > 1:
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)


def draw_dipole(axes, file, omega):
    order, spectrum = file["spectrum/frequency"][:] / omega, first_of(file, "spectrum/dipole")
    # To some decades below the highest, where round-off or the window's side lobes take over.
    floor = max(spectrum.max(), 1e-300) * 1e-14
    axes.semilogy(order, np.maximum(spectrum, floor), color=COLOURS[3], linewidth=1.0)
    last = order[spectrum > 1e-11 * spectrum.max()][-1] if spectrum.max() > 0 else 1
    axes.set_xlim(0, min(order[-1], max(5, 1.3 * last)))
    axes.set_ylim(bottom=floor)
    axes.set_xlabel("harmonic of the first pulse's carrier")
    axes.set_ylabel(r"$\omega^4 |\tilde d(\omega)|^2$")
    axes.set_title("spectrum of the dipole moment", loc="left", fontsize=10)


def draw_norm(axes, file, t):
    error = np.abs(first_of(file, "observables/norm") - 1.0)
    axes.semilogy(t, np.maximum(error, 1e-17), color=COLOURS[4])
    axes.set_ylim(1e-16, max(1e-12, 3 * error.max()))
    axes.set_ylabel(r"$|\,\|\psi\| - 1\,|$")


def deck_of(file):
    """Values of the deck by "table.key", of the first [[pulse]] that has a carrier."""
    values = {}
    table = ""
    for line in file.attrs["deck"].splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("["):
            table = line.strip("[]")
        elif "=" in line:
            key, value = (part.strip() for part in line.split("=", 1))
            if f"{table}.{key}" == "pulse.omega" and float(values.get("pulse.omega", 0)) > 0:
                continue
            values[f"{table}.{key}"] = value.strip('"')
    return values


def title_of(file, values):
    kind = values.get("potential.kind", "")
    parts = [f"{values.get('potential.kind', '')} potential"]
    if kind == "soft-core":
        parts = [f"soft-core Coulomb, Z = {float(values['potential.charge']):g}, a = "
                 f"{float(values['potential.softening']):g}, separation {float(values['nuclei.separation']):g} bohr"]
        parts.append(f"nuclei: {values['nuclei.motion']}")
    elif kind == "harmonic":
        parts.append(f"$\\omega$ = {float(values['potential.omega']):g}")
    parts.append(f"dt = {float(values['time.step']):g}")
    if file["restart/psi"].ndim == 2:
        parts.append(f"first of {len(file['restart/psi'])} wave functions")
    if not file.attrs["complete"]:
        parts.append(f"unfinished, step {file.attrs['steps_done']} of {file.attrs['steps_planned']}")
    return r"$|\psi(x, t)|^2$" + "   " + ",  ".join(parts), kind == "soft-core"


def draw_still(axes, file, title):
    """The density at the one time that there is."""
    x, density = file["grid/x"][:], first_of(file, "density")
    axes.fill_between(x, density[0], color=COLOURS[0], alpha=0.25)
    axes.plot(x, density[0], color=COLOURS[0])
    axes.set_xlim(*window(x, density, None))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("x  (bohr)")
    axes.set_ylabel(r"$|\psi|^2$  (1/bohr)")
    axes.set_title(f"{title},  t = {file['frames/t'][0]:g}", loc="left", fontsize=12)


def panels_over_time(file, deck):
    """Return the panels over time below the density, and their heights."""
    panels = []
    if "observables/field" in file and np.any(file["observables/field"][:]):
        panels.append((draw_field, 1.0))
    if deck["output.states"] != "0":
        panels.append((draw_populations, 1.5))
    panels.append((draw_energy, 1.5))
    position_changes, nodes_change = moves(file)
    if position_changes:
        panels.append((draw_position, 1.2))
    elif nodes_change:
        panels.append((draw_nodes, 1.0))
    absorbs = "observables/absorbed" in file
    if absorbs or "observables/ionisation" in file:
        panels.append((draw_lost, 1.2))
    if not absorbs:
        panels.append((draw_norm, 1.0))
    return panels


def draw_run(file, deck, title, nuclei):
    t = file["time/t"][:]
    over_time = panels_over_time(file, deck)
    spectra = []
    if "spectrum/autocorrelation" in file:
        spectra.append(draw_spectrum)
    if "spectrum/dipole" in file:
        spectra.append(lambda axes, data: draw_dipole(axes, data, float(deck["pulse.omega"])))
    heights = [3.2, *(height for _, height in over_time), *(1.2 for _ in spectra)]
    figure, panels = figure_of(len(heights), 1, 10.5, 1.6 + 1.3 * sum(heights) + 0.4 * len(spectra),
                               gridspec_kw={"height_ratios": heights})
    panels = panels[:, 0]
    timed = panels[:1 + len(over_time)]
    for panel in timed[1:]:
        panel.sharex(timed[0])
    draw_density(timed[0], file, t, nuclei, title)
    for panel, (draw, _) in zip(timed[1:], over_time):
        draw(panel, file, t)
    for panel in timed[:-1]:
        panel.tick_params(labelbottom=False)
    timed[-1].set_xlabel("t  (atomic units of time)")
    timed[0].set_xlim(t[0], t[-1])
    for panel, draw in zip(panels[len(timed):], spectra):
        draw(panel, file)
    figure.align_ylabels(panels)
    return figure


def main(source, target):
    with h5py.File(source, "r") as file:
        deck = deck_of(file)
        title, has_nuclei = title_of(file, deck)
        if len(file["time/t"]) > 1:
            figure = draw_run(file, deck, title, file["nuclei/position"][:] if has_nuclei else None)
        else:
            figure, ((axes,),) = figure_of(1, 1, 8.4, 4.6)
            draw_still(axes, file, title)
        sign(figure, file.attrs["heddle_version"], file.attrs["git_hash"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "plot.py FILE.h5 PICTURE.png")
