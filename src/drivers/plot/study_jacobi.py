"""Figures of `heddle study jacobi`: python3 study_jacobi.py STUDY.csv PICTURE.png.

By order of the matrix: run time, cost factor, deviation of eigenvalues, speed-up, acceleration and efficiency; dashed, the run times that J. A.
Ayala Barbosa published (tesina, UNAM, 2018; a GTX 1060, and OpenACC on its host). Exit status: 0 done, 1 the file
can't be plotted, 3 a module is missing.
"""

from common import COLOURS, draw_command, plt, read_tables, save, sign

# Seconds by order: C on one thread, OpenACC, CUDA. Its iteration ended after 50 000 rotations.
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
PUBLISHED_COLOURS = ("#8a8f98", "#b9a36b", "#7fb08f")
MARKERS = "osD^vP*X"


class Series:
    """The rows of one backend and method; `differing`: the columns that tell their matrices and devices apart, too."""

    def __init__(self, rows, differing, colour, marker):
        first = rows[0]
        count = int(first["processors"])
        threads = "1 thread" if first["backend"] == "serial" else f"p = {count}"
        self.name = ", ".join([f"{first['backend']}, {first['method']} ({threads})",
                               *(first[key] for key in ("scalar", "matrix", "device") if key in differing)])
        self.parallel = first["backend"] != "serial"
        self.rows = rows
        self.style = {"color": colour, "marker": marker, "markersize": 4.5}

    def column(self, name, change=lambda value: value):
        found = [(int(row["order"]), change(float(row[name]))) for row in self.rows if row[name]]
        return list(zip(*found)) if found else ([], [])


def draw_published(axes, change, which=(0, 1, 2)):
    for k in which:
        values = [change(times, k) for times in PUBLISHED.values()]
        axes.plot(list(PUBLISHED), values, "--", color=PUBLISHED_COLOURS[k], label=PUBLISHED_NAMES[k], linewidth=1.2)


def prepare(axes, title, unit, orders):
    axes.set_title(title, fontsize=10.5)
    axes.set_xscale("log", base=2)
    axes.set_xticks(orders, [str(n) for n in orders], rotation=45, fontsize=8)
    axes.minorticks_off()
    axes.set_xlabel("order n")
    axes.set_ylabel(unit)


def mark_absent(axes):
    if not axes.lines:
        axes.text(0.5, 0.5, "no times of one thread\n(--serial-table)", transform=axes.transAxes, ha="center",
                  va="center", color="#777777")


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
    all_series = [Series([row for row in rows if kind_of(row) == kind], differing, COLOURS[k % len(COLOURS)],
                         MARKERS[(k + k // len(COLOURS)) % len(MARKERS)]) for k, kind in enumerate(kinds)]
    orders = sorted({int(row["order"]) for row in rows})
    all_orders = sorted({*orders, *PUBLISHED})
    figure, panels = plt.subplots(2, 4, figsize=(18.4, 8.4))
    figure.subplots_adjust(left=0.045, right=0.99, top=0.88, bottom=0.1, wspace=0.25, hspace=0.36)
    (linear, logarithmic, cost, deviation), (speed_up, acceleration, efficiency, names) = panels

    for axes in (linear, logarithmic):
        for series in all_series:
            axes.plot(*series.column("seconds"), label=series.name, **series.style)
    draw_published(logarithmic, lambda times, k: times[k])
    prepare(linear, "run time", "seconds", orders)
    logarithmic.set_yscale("log")
    prepare(logarithmic, "run time, logarithmic", "seconds", all_orders)

    cost.set_yscale("log")
    for series in all_series:
        cost.plot(*series.column("cost"), **series.style)
    draw_published(cost, lambda times, k: times[k], (0,))
    prepare(cost, "cost factor $p\\,t_p$", "processors · seconds", all_orders)

    deviation.set_yscale("log")
    for series in all_series:
        # Eigenvalues that agree to the last bit have no place on a logarithmic axis.
        deviation.plot(*series.column("deviation", lambda value: value or float("nan")), **series.style)
    prepare(deviation, "deviation of eigenvalues from those in double", "of the largest eigenvalue", orders)

    for series in all_series:
        speed_up.plot(*series.column("speed_up"), **series.style)
        acceleration.plot(*series.column("acceleration"), **series.style)
        efficiency.plot(*series.column("efficiency"), **series.style)
        if series.parallel:
            alone = {**series.style, "linestyle": ":", "markersize": 3}
            speed_up.plot(*series.column("own_speed_up"), **alone)
            share = 100 / float(series.rows[0]["processors"])
            efficiency.plot(*series.column("own_speed_up", lambda s, share=share: share * s), **alone,
                            label="dotted: against the same\nmethod on one thread")
    known = any(row["speed_up"] for row in rows)
    if known:
        draw_published(speed_up, lambda times, k: times[0] / times[k], (1, 2))
        draw_published(acceleration, lambda times, k: 100 * (times[0] / times[k] - 1), (1, 2))
    speed_up.set_yscale("log")
    efficiency.set_yscale("log")
    acceleration.set_yscale("symlog", linthresh=100)
    prepare(speed_up, "speed-up $S = t_s / t_p$", "times", all_orders if known else orders)
    prepare(acceleration, "acceleration $100\\,(S - 1)$", "%", all_orders if known else orders)
    prepare(efficiency, "efficiency $100\\,S / p$", "%", orders)
    for axes, level in ((speed_up, 1), (acceleration, 0), (efficiency, 100)):
        mark_absent(axes)
        axes.axhline(level, color="#999999", linewidth=0.8, zorder=0.5)
    handles, labels = logarithmic.get_legend_handles_labels()
    dotted = [(h, l) for h, l in zip(*efficiency.get_legend_handles_labels())][:1]
    names.axis("off")
    names.legend(handles + [h for h, _ in dotted], labels + [l for _, l in dotted], loc="upper left",
                 bbox_to_anchor=(-0.08, 1.04), fontsize=9 if len(handles) < 14 else 7)

    def listed(key):
        return ", ".join(dict.fromkeys(row[key] for row in rows))

    figure.suptitle(f"Jacobi eigensolver, all eigenvalues and vectors, {listed('matrix')} matrices, {listed('scalar')}: "
                    f"{listed('device')}\n"
                    "$t_s$: the cyclic order on one thread; $p$: threads, or multiprocessors of a GPU", fontsize=11.5,
                    y=0.98)
    sign(figure, about["version"], about["git"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "study_jacobi.py STUDY.csv PICTURE.png")
