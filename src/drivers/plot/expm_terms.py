"""Terms of a Taylor series: python3 expm_terms.py TERMS.csv PICTURE.png

Above: the norm of each term, beside |exp(A)| and what rounding the largest term leaves. Below: the mean of the diagonal
of the sum up to each term, which swings as the terms do before it settles.
Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

import math

from common import COLOURS, draw_command, figure_of, read_tables, save, sign
from curves import label_ends


def main(source, target):
    about, (rows,) = read_tables(source)
    size = max(int(about["rows"]), 1)
    k = [int(row["term"]) for row in rows]
    norms = [float(row["norm1"]) for row in rows]
    real = [float(row["sum_trace_real"]) / size for row in rows]
    imaginary = [float(row["sum_trace_imaginary"]) / size for row in rows]
    whole, unit = float(about["exponential_norm1"]), float(about["unit_roundoff"])
    largest = max(norms)
    drawn = [value if value > 0 else math.nan for value in norms]

    figure, ((above,), (below,)) = figure_of(2, 1, 9.4, 7.0, sharex=True)
    last = max(k[-1], 1)
    ends = []
    if largest > 0:
        above.set_yscale("log")
        above.axhline(whole, color=COLOURS[2], linewidth=1.1)
        above.axhline(unit * largest, color=COLOURS[3], linewidth=1.1, linestyle=(0, (4, 2)))
        ends = [(last, whole, f"$\\|\\exp\\|_1$ = {whole:.4g}", COLOURS[2]),
                (last, unit * largest, f"rounding of the\nlargest term, {unit * largest:.1e}", COLOURS[3])]
    above.plot(k, drawn, color=COLOURS[0], marker="o", markersize=4)
    ends.append((k[-1], drawn[-1] if drawn[-1] == drawn[-1] else 0.0, "$\\|A^k/k!\\|_1$", COLOURS[0]))
    above.set_ylabel("1-norm of the term")
    label_ends(above, ends, 0.02)
    of = about["exponential of"]
    norm = float(about["norm1"])
    above.set_title(f"Taylor series of exp({of}), {about['rows']} x {about['rows']}, {about['scalar']}, "
                    f"$\\|A\\|_1$ = {norm:.4g}", loc="left", fontsize=11)

    parts = [(real, "real part", COLOURS[0], "o")]
    if any(imaginary):
        parts.append((imaginary, "imaginary part", COLOURS[1], "s"))
    for width, (values, _, colour, marker) in zip((6, 3), parts):  # Both end as equals, or nearly so.
        below.plot(k, values, color=colour, marker=marker, markersize=width)
        below.axhline(values[-1], color=colour, linewidth=0.7, linestyle=(0, (2, 3)))
    label_ends(below, [(k[-1], values[-1], f"{name},\n{values[-1]:.4g} at last", colour)
                       for values, name, colour, _ in parts], 0.02)
    below.set_ylabel("mean diagonal element of the sum" if size > 1 else "sum up to the term")
    below.set_xlabel("term k")
    below.set_xlim(0, last)
    figure.align_ylabels([above, below])
    sign(figure, about["version"], about["git"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "expm_terms.py TERMS.csv PICTURE.png")
