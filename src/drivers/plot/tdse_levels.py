"""Levels of a Hamiltonian: python3 tdse_levels.py LEVELS.csv PICTURE.png

The potential, and on the line of each level its density |phi_k|^2, all of them by one scale.
Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

from common import draw_command, figure_of, later, look, read_tables, save, sign
from curves import label_ends, part_equal


def window(x, densities):
    """Ends of the part of x in which some density is not negligible, with a margin."""
    seen = [i for i in range(len(x)) if any(row[i] > 1e-3 * max(row) for row in densities)]
    low, high = x[seen[0]], x[seen[-1]]
    margin = 0.15 * max(high - low, x[1] - x[0])
    return max(low - margin, x[0]), min(high + margin, x[-1])


def main(source, target):
    about, (levels, points) = read_tables(source)
    energies = [float(row["energy"]) for row in levels]
    x = [float(row["x"]) for row in points]
    potential = [float(row["potential"]) for row in points]
    densities = [[float(row[f"density_{k}"]) for row in points] for k in range(len(energies))]
    low, high = window(x, densities)
    shown = [v for a, v in zip(x, potential) if low <= a <= high]
    bottom, top = min(shown + energies), max(energies)
    # The highest peak is as tall as levels are apart on the average, so that neighbours overlap little.
    apart_by = (top - energies[0]) / max(len(energies) - 1, 1)
    room = max(apart_by, 0.12 * (top - bottom)) or 0.3 * max(abs(top), 1.0)
    scale = 0.9 * room / max(max(row) for row in densities)

    figure, ((axes,),) = figure_of(1, 1, 8.4, 6.2)
    axes.plot(x, potential, color="#111111", linewidth=1.8, label="V(x)")
    lines = []
    for k, (energy, density) in enumerate(zip(energies, densities)):
        style = look(k, marker=False)
        curve = [energy + scale * value for value in density]
        axes.axhline(energy, color=style["color"], linewidth=0.8, alpha=0.7)
        axes.fill_between(x, energy, curve, color=style["color"], alpha=0.2, linewidth=0)
        lines += axes.plot(x, curve, **style | {"linewidth": 1.3})
    axes.set_xlim(low, high)
    ceiling = top + 1.25 * room
    axes.set_ylim(bottom - 0.06 * (ceiling - bottom), ceiling)
    later(figure, lambda: part_equal(axes, lines))
    label_ends(axes, [(high, energy, f"E{k} = {energy:.6g}", look(k)["color"]) for k, energy in enumerate(energies)], 0.025)
    axes.set_xlabel("x  (bohr)")
    axes.set_ylabel("energy  (hartree)")
    axes.legend(loc="lower left")
    axes.set_title(f"levels and densities $|\\varphi_k(x)|^2$ on them   {about['potential']}", loc="left", fontsize=11)
    sign(figure, about["version"], about["git"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "tdse_levels.py LEVELS.csv PICTURE.png")
