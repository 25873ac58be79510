"""Picture of a run of `heddle tdse`: python3 plot.py FILE.h5 PICTURE.png

Above: |psi|^2 over time and x with the paths of the nuclei. Below, over the same time: the field of the pulses,
populations of the lowest instantaneous eigenstates, energy, mean position and nodes, and the error of the norm or, with
an absorber, what has left. At the bottom, where the file has them: spectra of the autocorrelation and of the dipole.
Of several wave functions: the first.
Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

import sys

from common import COLOURS, draw_command, plt, save, sign

try:
    import h5py
    import numpy as np
    from matplotlib.colors import LogNorm, PowerNorm
    from matplotlib.ticker import MaxNLocator
except ImportError:
    sys.exit(3)


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
    if nuclei is not None:
        for k in range(nuclei.shape[1]):
            axes.plot(t, nuclei[:, k], color="white", linewidth=1.1, linestyle=(0, (5, 3)), alpha=0.9,
                      label="nuclei" if k == 0 else None)
        axes.legend(loc="upper right", labelcolor="white")
    axes.set_ylim(*((x[0], x[-1]) if leaves else window(x, density, nuclei)))
    axes.set_ylabel("x  (bohr)")
    axes.set_title(title, loc="left", fontsize=12, color="#222222", pad=10)
    return image


def draw_populations(axes, file, t):
    populations = first_of(file, "observables/populations")
    for k in range(populations.shape[1]):
        if populations[:, k].max() > 1e-6:
            axes.semilogy(t, np.maximum(populations[:, k], 1e-16), color=COLOURS[k % len(COLOURS)], label=f"{k}")
    axes.set_ylim(max(1e-6, min(1e-3, 0.3 * populations[populations > 1e-6].min(initial=1.0))), 2)
    axes.set_ylabel("population")
    if len(axes.lines) > 10:  # More than there is room for: the most populated.
        shown = sorted(axes.lines, key=lambda line: -line.get_ydata().max())[:10]
        handles = [line for line in axes.lines if line in shown]
    else:
        handles = list(axes.lines)
    axes.legend(handles=handles, title="eigenstate of H(t)", title_fontsize=9, ncol=1 + (len(handles) > 4),
                loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)


def draw_energy(axes, file, t):
    energies = file["observables/energies"][:]
    for k in range(energies.shape[1]):
        axes.plot(t, energies[:, k], color=COLOURS[k % len(COLOURS)], linewidth=0.8, alpha=0.7)
    axes.plot(t, first_of(file, "observables/energy"), color="#111111", label=r"$\langle H \rangle$")
    if energies.shape[1]:
        axes.plot([], [], color="#888888", linewidth=0.8, label="levels of H(t)")
    axes.set_ylabel("energy  (hartree)")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)


def draw_position(axes, file, t):
    position = first_of(file, "observables/position")
    dipole = first_of(file, "observables/dipole")
    axes.plot(t, position, color=COLOURS[0], label=r"$\langle x \rangle$  (bohr)")
    axes.plot(t, dipole, color=COLOURS[1], linestyle=(0, (4, 2)), label="dipole  (e bohr)")
    largest = max(np.abs(position).max(), np.abs(dipole).max())
    if largest < 1e-3:  # Round-off is not to fill the panel.
        axes.set_ylim(-1e-3, 1e-3)
    axes.set_ylabel(r"$\langle x \rangle$, dipole")
    nodes = axes.twinx()
    nodes.step(t, first_of(file, "observables/nodes"), where="post", color=COLOURS[3], linewidth=1.0, alpha=0.8)
    nodes.set_ylabel("nodes", color=COLOURS[3])
    nodes.tick_params(axis="y", colors=COLOURS[3])
    nodes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=4))
    nodes.set_ylim(bottom=-0.2, top=max(nodes.get_ylim()[1], 1.2))
    nodes.grid(False)
    axes.legend(loc="upper left", bbox_to_anchor=(1.08, 1.0), borderaxespad=0)


def draw_field(axes, file, t):
    axes.plot(t, file["observables/field"][:], color=COLOURS[5], linewidth=1.0)
    axes.set_ylabel("field  (a.u.)")


def draw_lost(axes, file, t):
    names = {"ionisation": "in no bound state", "outside": r"outside |x| $\leq$ R", "absorbed": "absorbed"}
    largest = 0.0
    for colour, (name, label) in zip(COLOURS, names.items()):
        if f"observables/{name}" in file:
            values = np.maximum(first_of(file, f"observables/{name}"), 1e-16)
            axes.semilogy(t, values, color=colour, label=label)
            largest = max(largest, values.max())
    axes.set_ylim(max(1e-12, 1e-6 * largest), 3 * max(largest, 1e-11))
    axes.set_ylabel("probability")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)


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
    axes.set_title("spectrum of the autocorrelation", loc="left", fontsize=10, color="#222222")
    if len(axes.lines) > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)


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
    axes.set_title("spectrum of the dipole moment", loc="left", fontsize=10, color="#222222")


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
                 f"{float(values['potential.softening']):g}, R = {float(values['nuclei.separation']):g}"]
        parts.append(f"nuclei: {values['nuclei.motion']}")
    elif kind == "harmonic":
        parts.append(f"$\\omega$ = {float(values['potential.omega']):g}")
    parts.append(f"dt = {float(values['time.step']):g}")
    if file["restart/psi"].ndim == 2:
        parts.append(f"first of {len(file['restart/psi'])} wave functions")
    if not file.attrs["complete"]:
        parts.append(f"unfinished, step {file.attrs['steps_done']} of {file.attrs['steps_planned']}")
    return r"$|\psi(x, t)|^2$" + "   " + ",  ".join(parts), kind == "soft-core"


def main(source, target):
    with h5py.File(source, "r") as file:
        t = file["time/t"][:]
        deck = deck_of(file)
        title, has_nuclei = title_of(file, deck)
        nuclei = file["nuclei/position"][:] if has_nuclei else None
        # What is drawn over time below the density, and its height.
        over_time = []
        if "observables/field" in file:
            over_time.append((draw_field, 1.0))
        if deck["output.states"] != "0":
            over_time.append((draw_populations, 1.5))
        over_time += [(draw_energy, 1.5), (draw_position, 1.2)]
        absorbs = "observables/absorbed" in file
        if absorbs or "observables/ionisation" in file:
            over_time.append((draw_lost, 1.2))
        if not absorbs:
            over_time.append((draw_norm, 1.0))
        spectra = []
        if "spectrum/autocorrelation" in file:
            spectra.append(draw_spectrum)
        if "spectrum/dipole" in file:
            spectra.append(lambda axes, data: draw_dipole(axes, data, float(deck["pulse.omega"])))
        heights = [3.2] + [height for _, height in over_time]
        # In inches, from the top; a spectrum has an axis and a title of its own.
        below = 2.3 * len(spectra)
        above = 2.6 + 1.25 * sum(heights)
        figure = plt.figure(figsize=(10.5, above + below))
        whole = above + below
        grid = figure.add_gridspec(len(heights), 1, height_ratios=heights, hspace=0.14, left=0.1, right=0.8,
                                   top=1 - 0.038 * above / whole, bottom=(below + 0.05 * above) / whole)
        panels = [figure.add_subplot(grid[0])]
        panels += [figure.add_subplot(grid[k], sharex=panels[0]) for k in range(1, len(heights))]
        for panel in panels[:-1]:
            panel.tick_params(labelbottom=False)
        panels[-1].set_xlabel("t  (atomic units of time)")
        image = draw_density(panels[0], file, t, nuclei, title)
        place = panels[0].get_position()
        bar = figure.add_axes([place.x1 + 0.015, place.y0, 0.015, place.height])
        bar.grid(False)
        figure.colorbar(image, cax=bar, label=r"$|\psi|^2$  (1/bohr)")
        for panel, (draw, _) in zip(panels[1:], over_time):
            draw(panel, file, t)
        panels[0].set_xlim(t[0], t[-1] if len(t) > 1 else t[0] + 1)
        figure.align_ylabels(panels)
        for k, draw in enumerate(spectra):
            draw(figure.add_axes([0.1, (below - 2.3 * k - 1.85) / whole, 0.7, 1.45 / whole]), file)
        sign(figure, file.attrs["heddle_version"], file.attrs["git_hash"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "plot.py FILE.h5 PICTURE.png")
