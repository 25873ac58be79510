"""A run of `heddle eig --scf`: python3 eig_scf.py SCF.csv PICTURE.png.

Above, how it converged and what each step cost the eigensolver; below, the density in the potential of the nuclei, or of a
molecule the levels of its orbitals. Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

from common import COLOURS, draw_command, figure_of, read_tables, save, sign
from curves import few_ticks, label_ends


def column(rows, name):
    return [float(row[name]) for row in rows]


def draw_convergence(axes, steps):
    iterations = column(steps, "iteration")
    energy = column(steps, "energy")
    rotations = column(steps, "rotations")
    bars = axes.twinx()
    bars.bar(iterations, rotations, width=0.55, color=COLOURS[7], alpha=0.25, label="rotations")
    bars.set_ylim(0, 1.6 * max(max(rotations), 1))
    bars.set_ylabel("rotations")
    bars.grid(False)
    bars.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_zorder(bars.get_zorder() + 1)
    axes.patch.set_visible(False)
    axes.semilogy(iterations, column(steps, "residual"), "o-", color=COLOURS[0], label="residual")
    # Distance to the last energy, without zeros, which have no logarithm.
    left = [(i, abs(e - energy[-1])) for i, e in zip(iterations[:-1], energy) if e != energy[-1]]
    if left:
        axes.semilogy(*zip(*left), "s--", color=COLOURS[1], label="energy, off the last [hartree]")
    axes.set_xlabel("iteration")
    axes.set_xlim(0.4, iterations[-1] + 0.6)
    axes.xaxis.get_major_locator().set_params(integer=True)
    few_ticks(axes.yaxis)
    handles, labels = axes.get_legend_handles_labels()
    more, names = bars.get_legend_handles_labels()
    axes.legend(handles + more, labels + names, loc="lower left", bbox_to_anchor=(0, 1.0), ncol=3, borderaxespad=0.3)


def draw_density(axes, points):
    x = column(points, "x")
    density = column(points, "density")
    potential = axes.twinx()
    potential.plot(x, column(points, "external"), color=COLOURS[3])
    potential.set_ylabel("potential of the nuclei [hartree]", color=COLOURS[3])
    potential.grid(False)
    axes.fill_between(x, density, color=COLOURS[0], alpha=0.25)
    axes.plot(x, density, color=COLOURS[0])
    axes.set_ylabel("density [1/bohr]", color=COLOURS[0])
    axes.set_ylim(0, 1.15 * max(density))
    axes.set_xlabel("x [bohr]")
    axes.set_xlim(x[0], x[-1])


def draw_levels(axes, orbitals, occupied, names):
    """A column of levels for each spin, or one for both: the occupied ones, and some above."""
    some = 5
    ends = []
    for column_number, (name, count) in enumerate(zip(names, occupied)):
        energies = column(orbitals, ("energy_up", "energy_down")[column_number])[:count + some]
        for k, energy in enumerate(energies):
            colour = COLOURS[0] if k < count else "#9aa0a8"
            axes.plot([column_number - 0.35, column_number + 0.35], [energy, energy], color=colour,
                      linewidth=2.2 if k < count else 1.2, zorder=3 if k < count else 2)
            # Names of one column stand beside it alone.
            if column_number == len(names) - 1 and k <= count:
                ends.append((column_number + 0.35, energy, f"{energy:.4f}", colour))
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.6, len(names) - 0.4)
    # Cores lie far below the others.
    axes.set_yscale("symlog", linthresh=0.1)
    low, high = axes.get_ylim()
    axes.set_ylim(min(1.5 * low, low - 0.05), max(1.5 * high, high + 0.05))
    axes.set_ylabel("energy of an orbital [hartree]")
    axes.grid(axis="x", visible=False)
    axes.set_title("levels: dark ones are occupied")
    label_ends(axes, ends)


def main(source, target):
    about, (steps, rest) = read_tables(source)
    panels = [lambda axes: draw_convergence(axes, steps)] if len(steps) > 1 else []
    of_molecule = "orbital" in rest[0]
    if of_molecule:
        counts = [int(word) for word in about["electrons"].split("+")]
        names = ["both spins"] if about["shells"] == "closed" else ["spin up", "spin down"]
        panels.append(lambda axes: draw_levels(axes, rest, counts, names))
    else:
        panels.append(lambda axes: draw_density(axes, rest))
    figure, all_axes = figure_of(len(panels), 1, 8.4, 0.6 + 3.6 * len(panels))
    for axes, draw in zip(all_axes.flat, panels):
        draw(axes)
    energy = float(about["energy"].split()[0])
    found = f"energy {energy:.9f} hartree" if about["converged"] == "yes" else "not converged"
    if of_molecule:
        title = f"{about['electrons']} electrons, {about['functional']}, {about['shells']} shells: {found}"
    else:
        title = (f"{about['atoms']} atoms, {about['electrons']} electrons on {about['points']} points: {found}\n"
                 f"Jacobi eigensolver, {about['start']} starts")
    figure.suptitle(title, fontsize=11.5)
    sign(figure, about["version"], about["git"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "eig_scf.py SCF.csv PICTURE.png")
