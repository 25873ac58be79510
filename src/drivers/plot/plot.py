"""Picture of a run of `heddle tdse`: python3 plot.py FILE.h5 PICTURE.png

Above: |psi|^2 over time and x with the paths of the nuclei. Below, over the same time: populations of the lowest
instantaneous eigenstates, energy, mean position and nodes, and the error of the norm.
Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

import sys

from common import COLOURS, draw_command, plt, save, sign

try:
    import h5py
    import numpy as np
    from matplotlib.colors import PowerNorm
    from matplotlib.ticker import MaxNLocator
except ImportError:
    sys.exit(3)


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
    density = file["density"][:]
    frames = file["frames/t"][:]
    axes.grid(False)
    # The square root shows the tails, which tunnel, beside the peaks.
    image = axes.imshow(density.T, extent=(*border(frames), *border(x)), origin="lower", aspect="auto", cmap="magma",
                        norm=PowerNorm(0.5, 0, density.max()), interpolation="bilinear")
    if nuclei is not None:
        for k in range(nuclei.shape[1]):
            axes.plot(t, nuclei[:, k], color="white", linewidth=1.1, linestyle=(0, (5, 3)), alpha=0.9,
                      label="nuclei" if k == 0 else None)
        axes.legend(loc="upper right", labelcolor="white")
    axes.set_ylim(*window(x, density, nuclei))
    axes.set_ylabel("x  (bohr)")
    axes.set_title(title, loc="left", fontsize=12, color="#222222", pad=10)
    return image


def draw_populations(axes, file, t):
    populations = file["observables/populations"][:]
    for k in range(populations.shape[1]):
        if populations[:, k].max() > 1e-6:
            axes.semilogy(t, np.maximum(populations[:, k], 1e-16), color=COLOURS[k % len(COLOURS)], label=f"{k}")
    axes.set_ylim(max(1e-6, min(1e-3, 0.3 * populations[populations > 1e-6].min(initial=1.0))), 2)
    axes.set_ylabel("population")
    axes.legend(title="eigenstate of H(t)", title_fontsize=9, ncol=1 + (len(axes.lines) > 4), loc="upper left", bbox_to_anchor=(1.01, 1.0),
                borderaxespad=0)


def draw_energy(axes, file, t):
    energies = file["observables/energies"][:]
    for k in range(energies.shape[1]):
        axes.plot(t, energies[:, k], color=COLOURS[k % len(COLOURS)], linewidth=0.8, alpha=0.7)
    axes.plot(t, file["observables/energy"][:], color="#111111", label=r"$\langle H \rangle$")
    if energies.shape[1]:
        axes.plot([], [], color="#888888", linewidth=0.8, label="levels of H(t)")
    axes.set_ylabel("energy  (hartree)")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)


def draw_position(axes, file, t):
    position = file["observables/position"][:]
    dipole = file["observables/dipole"][:]
    axes.plot(t, position, color=COLOURS[0], label=r"$\langle x \rangle$  (bohr)")
    axes.plot(t, dipole, color=COLOURS[1], linestyle=(0, (4, 2)), label="dipole  (e bohr)")
    largest = max(np.abs(position).max(), np.abs(dipole).max())
    if largest < 1e-3:  # Round-off is not to fill the panel.
        axes.set_ylim(-1e-3, 1e-3)
    axes.set_ylabel(r"$\langle x \rangle$, dipole")
    nodes = axes.twinx()
    nodes.step(t, file["observables/nodes"][:], where="post", color=COLOURS[3], linewidth=1.0, alpha=0.8)
    nodes.set_ylabel("nodes", color=COLOURS[3])
    nodes.tick_params(axis="y", colors=COLOURS[3])
    nodes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=4))
    nodes.set_ylim(bottom=-0.2, top=max(nodes.get_ylim()[1], 1.2))
    nodes.grid(False)
    axes.legend(loc="upper left", bbox_to_anchor=(1.08, 1.0), borderaxespad=0)


def draw_norm(axes, file, t):
    error = np.abs(file["observables/norm"][:] - 1.0)
    axes.semilogy(t, np.maximum(error, 1e-17), color=COLOURS[4])
    axes.set_ylim(1e-16, max(1e-12, 3 * error.max()))
    axes.set_ylabel(r"$|\,\|\psi\| - 1\,|$")
    axes.set_xlabel("t  (atomic units of time)")


def title_of(file):
    deck = file.attrs["deck"]
    values = {}
    table = ""
    for line in deck.splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("["):
            table = line.strip("[]")
        elif "=" in line:
            key, value = line.split("=", 1)
            values[f"{table}.{key.strip()}"] = value.strip().strip('"')
    kind = values.get("potential.kind", "")
    parts = [f"{values.get('potential.kind', '')} potential"]
    if kind == "soft-core":
        parts = [f"soft-core Coulomb, Z = {float(values['potential.charge']):g}, a = "
                 f"{float(values['potential.softening']):g}, R = {float(values['nuclei.separation']):g}"]
        parts.append(f"nuclei: {values['nuclei.motion']}")
    elif kind == "harmonic":
        parts.append(f"$\\omega$ = {float(values['potential.omega']):g}")
    parts.append(f"dt = {float(values['time.step']):g}")
    if not file.attrs["complete"]:
        parts.append(f"unfinished, step {file.attrs['steps_done']} of {file.attrs['steps_planned']}")
    return r"$|\psi(x, t)|^2$" + "   " + ",  ".join(parts), kind == "soft-core"


def main(source, target):
    with h5py.File(source, "r") as file:
        t = file["time/t"][:]
        title, has_nuclei = title_of(file)
        nuclei = file["nuclei/position"][:] if has_nuclei else None
        with_states = file["observables/populations"].shape[1] > 0
        heights = [3.2] + ([1.5] if with_states else []) + [1.5, 1.2, 1.0]
        figure, panels = plt.subplots(len(heights), 1, figsize=(10.5, 2.6 + 1.25 * sum(heights)), sharex=True,
                                      gridspec_kw={"height_ratios": heights, "hspace": 0.14})
        figure.subplots_adjust(left=0.1, right=0.8, top=0.962, bottom=0.05)
        image = draw_density(panels[0], file, t, nuclei, title)
        place = panels[0].get_position()
        bar = figure.add_axes([place.x1 + 0.015, place.y0, 0.015, place.height])
        bar.grid(False)
        figure.colorbar(image, cax=bar, label=r"$|\psi|^2$  (1/bohr)")
        rest = iter(panels[1:])
        if with_states:
            draw_populations(next(rest), file, t)
        draw_energy(next(rest), file, t)
        draw_position(next(rest), file, t)
        draw_norm(next(rest), file, t)
        panels[0].set_xlim(t[0], t[-1] if len(t) > 1 else t[0] + 1)
        figure.align_ylabels(panels)
        sign(figure, file.attrs["heddle_version"], file.attrs["git_hash"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "plot.py FILE.h5 PICTURE.png")
