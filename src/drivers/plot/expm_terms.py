"""Terms of a Taylor series: python3 expm_terms.py TERMS.csv PICTURE.png

Above: the norm of each term, beside |exp(A)| and what rounding the largest term leaves. Below: the mean of the diagonal
of the sum up to each term, which swings as the terms do before it settles.
Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

import math

from common import COLOURS, draw_command, plt, read_tables, save, sign


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

    figure, (above, below) = plt.subplots(2, 1, figsize=(8.4, 7.0), sharex=True)
    figure.subplots_adjust(left=0.11, right=0.97, top=0.93, bottom=0.085, hspace=0.1)
    if largest > 0:
        above.set_yscale("log")
        above.axhline(whole, color=COLOURS[2], linewidth=1.1, label=f"$\\|\\exp\\|_1$ = {whole:.4g}")
        above.axhline(unit * largest, color=COLOURS[3], linewidth=1.1, linestyle=(0, (4, 2)),
                      label=f"rounding of the largest term, {unit * largest:.1e}")
    above.plot(k, drawn, color=COLOURS[0], marker="o", markersize=4, label="$\\|A^k/k!\\|_1$")
    above.set_ylabel("1-norm of the term")
    above.legend(loc="best")
    of = about["exponential of"]
    norm = float(about["norm1"])
    above.set_title(f"Taylor series of exp({of}), {about['rows']} x {about['rows']}, {about['scalar']}, "
                    f"$\\|A\\|_1$ = {norm:.4g}", loc="left", fontsize=11, color="#222222")

    below.plot(k, real, color=COLOURS[0], marker="o", markersize=4, label="real part")
    if any(imaginary):
        below.plot(k, imaginary, color=COLOURS[1], marker="s", markersize=4, label="imaginary part")
    below.axhline(real[-1], color=COLOURS[0], linewidth=0.7, linestyle=(0, (2, 3)))
    if any(imaginary):
        below.axhline(imaginary[-1], color=COLOURS[1], linewidth=0.7, linestyle=(0, (2, 3)))
    below.set_ylabel("mean diagonal element of the sum" if size > 1 else "sum up to the term")
    below.set_xlabel("term k")
    below.set_xlim(0, max(k[-1], 1))
    below.legend(loc="best")
    figure.align_ylabels([above, below])
    sign(figure, about["version"], about["git"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "expm_terms.py TERMS.csv PICTURE.png")
