"""Figures of `heddle study jacobi`: python3 study_jacobi.py STUDY.csv PICTURE.png.

By order of the matrix: run time, cost factor, deviation of eigenvalues, speed-up, acceleration and efficiency; dashed, the
times that J. A. Ayala Barbosa published (tesina, UNAM, 2018; a GTX 1060, and OpenACC on its host), with the processors that
are counted there. Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

from common import draw_command, figure_of, legend_below, look, pale, read_tables, save, sign
from curves import Curve, draw_panel, grid_of, handle_of

# Seconds by order: C on one thread, OpenACC, CUDA. The iteration ended after 50 000 rotations.
PUBLISHED = {
    3: (0.000074, 0.009269, 0.667713),
    5: (0.079594, 0.105867, 0.667437),
    10: (0.537204, 0.277441, 0.663814),
    16: (2.272125, 0.606796, 0.693325),
    32: (16.624936, 6.420716, 1.075765),
    64: (127.455333, 61.942851, 6.336773),
    128: (1127.73628, 592.659655, 87.821701),
    256: (10417.17143, 5429.11005, 516.680462),
    512: (76337.37146, 46845.537, 2495.80583),
    1024: (381686.8573, 93691.0741, 12754.6959),
}
PUBLISHED_NAMES = ("thesis: serial C", "thesis: OpenACC", "thesis: CUDA")
PUBLISHED_PROCESSORS = (lambda n: 1, lambda n: 32, lambda n: n)
PUBLISHED_STYLES = [{"color": colour, "linestyle": (0, (4, 1.5)), "linewidth": 1.2}
                    for colour in ("#8a8f98", "#b9a36b", "#7fb08f")]


class Series:
    """The rows of one backend and method; `differing`: the columns that tell their matrices and devices apart, too."""

    def __init__(self, rows, differing, place):
        first = rows[0]
        count = int(first["processors"])
        threads = "1 thread" if first["backend"] == "serial" else f"p = {count}"
        self.name = ", ".join([f"{first['backend']}, {first['method']} ({threads})",
                               *(first[key] for key in ("scalar", "matrix", "device") if key in differing)])
        self.parallel = first["backend"] != "serial"
        self.rows = rows
        self.style = look(place)

    def curve(self, name, change=lambda value: value):
        found = [(int(row["order"]), change(float(row[name]))) for row in self.rows if row[name]]
        return Curve(self.name, [order for order, _ in found], [value for _, value in found], self.style)


def published(change, which=(0, 1, 2)):
    """Return the curves of the thesis's times mapped by change(times, order, k)."""
    return [Curve(PUBLISHED_NAMES[k], list(PUBLISHED), [change(times, n, k) for n, times in PUBLISHED.items()],
                  PUBLISHED_STYLES[k]) for k in which]


def main(source, target):
    about, (rows,) = read_tables(source)
    if not rows:
        raise ValueError("has no rows")
    # The serial rows and those of all threads have devices of their own.
    differing = [key for key in ("scalar", "matrix") if len({row[key] for row in rows}) > 1]
    if any(len({row["device"] for row in rows if row["backend"] == name}) > 1 for name in {r["backend"] for r in rows}):
        differing.append("device")

    def kind_of(row):
        return tuple(row[key] for key in ("backend", "method", "processors", *differing))

    kinds = list(dict.fromkeys(map(kind_of, rows)))
    all_series = [Series([row for row in rows if kind_of(row) == kind], differing, k) for k, kind in enumerate(kinds)]
    known = any(row["speed_up"] for row in rows)

    def curves(column, change=lambda value: value):
        return [series.curve(column, change) for series in all_series]

    def against_itself(share):
        """Pale: a method's gain over the same on one thread."""
        found = []
        for series in all_series:
            if series.parallel:
                curve = series.curve("own_speed_up", lambda s, p=int(series.rows[0]["processors"]): share(s, p))
                found.append(curve._replace(style=pale(series.style)))
        return found

    def efficiency(times, n, k):
        return 100 * times[0] / times[k] / PUBLISHED_PROCESSORS[k](n)

    panels = []  # Title, curves, unit, scale, level to compare with.
    if len({row["order"] for row in rows}) > 1:
        panels.append(("run time", curves("seconds"), "seconds", "linear", None))
    panels += [
        ("run time, logarithmic", curves("seconds") + published(lambda times, n, k: times[k]), "seconds", "log", None),
        ("cost factor $p\\,t_p$", curves("cost")
         + published(lambda times, n, k: PUBLISHED_PROCESSORS[k](n) * times[k]), "processors · seconds", "log", None),
        # Eigenvalues that agree to the last bit have no place on a logarithmic axis.
        ("deviation of eigenvalues from those in double", curves("deviation", lambda value: value or float("nan")),
         "of the largest eigenvalue", "log", None),
    ]
    alone = any(row["own_speed_up"] for row in rows if row["backend"] != "serial")
    if known or alone:
        panels += [
            ("speed-up $S = t_s / t_p$", curves("speed_up") + against_itself(lambda s, p: s)
             + published(lambda times, n, k: times[0] / times[k], (1, 2)), "times", "log", 1),
            ("acceleration $100\\,(S - 1)$", curves("acceleration")
             + published(lambda times, n, k: 100 * (times[0] / times[k] - 1), (1, 2)), "%", "symlog", 0),
            ("efficiency $100\\,S / p$", curves("efficiency") + against_itself(lambda s, p: 100 * s / p)
             + published(efficiency, (1, 2)), "%", "log", 100),
        ]
    panels = [panel for panel in panels if any(y == y for curve in panel[1] for y in curve.y)]
    lines, columns = grid_of(len(panels), 4)
    figure, all_axes = figure_of(lines, columns, 4.8 * columns, 1.2 + 3.5 * lines + 0.06 * len(all_series))
    for axes, (title, shown, unit, scale, level) in zip(all_axes.flat, panels):
        draw_panel(axes, title, shown, "order n", unit, "log2", scale, level, False,
                   **({"linthresh": 100} if scale == "symlog" else {}))
    for axes in all_axes.flat[len(panels):]:
        axes.remove()
    handles = [handle_of(style) for style in [series.style for series in all_series] + PUBLISHED_STYLES]
    names = [series.name for series in all_series] + list(PUBLISHED_NAMES)
    if alone:
        handles.append(handle_of(pale({"color": "#555555"})))
        names.append("pale: against the same method on one thread")
    legend_below(figure, handles, names)

    def listed(key):
        return ", ".join(dict.fromkeys(row[key] for row in rows))

    figure.suptitle(f"Jacobi eigensolver, all eigenvalues and vectors, {listed('matrix')} matrices, {listed('scalar')}: "
                    f"{listed('device')}\n"
                    "$t_s$: the cyclic order on one thread; $p$: threads, or multiprocessors of a GPU", fontsize=11.5)
    sign(figure, about["version"], about["git"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "study_jacobi.py STUDY.csv PICTURE.png")
