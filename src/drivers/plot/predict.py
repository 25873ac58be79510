"""Figures of `heddle predict gemm --sweep`: python3 predict.py TABLE.csv PICTURE.png.

Strong and weak scaling: the rate of all ranks beside the straight line of the first, and the efficiency, with the share of
the transfers that is hidden. Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

from common import draw_command, figure_of, legend_below, look, pale, read_tables, save, sign
from curves import Curve, draw_panel, handle_of


def main(source, target):
    about, (rows,) = read_tables(source)
    if not rows:
        raise ValueError("has no rows")
    rates, straight, shares = [], [], []
    for place, scaling in enumerate(("strong", "weak")):
        mine = [row for row in rows if row["scaling"] == scaling]
        if not mine:
            continue
        style = look(place)
        ranks = [int(row["ranks"]) for row in mine]
        tflops = [float(row["gflops"]) / 1e3 for row in mine]
        extent = f"{mine[0]['rows']} x {mine[0]['columns']}"
        name = f"strong: C of {extent}" if scaling == "strong" else f"weak: from {extent}, as much a rank"
        rates.append(Curve(name, ranks, tflops, style))
        straight.append(Curve("pale: as many times the first", ranks, [tflops[0] * count / ranks[0] for count in ranks],
                              pale(style)))
        shares += [Curve(f"{scaling}: efficiency", ranks, [100 * float(row["efficiency"]) for row in mine], style),
                   Curve(f"{scaling}: hidden share of transfers", ranks,
                         [100 * float(row["hidden_share"]) for row in mine],
                         pale(style) | {"linestyle": "--", "linewidth": 1.5})]
    several = len({row["ranks"] for row in rows}) > 1
    figure, ((rate, share),) = figure_of(1, 2, 12.4, 5.0)
    draw_panel(rate, "rate", rates + (straight if several else []), "ranks", "TFLOP/s of all ranks", "log2", "log",
               named=False)
    draw_panel(share, "efficiency and hidden transfers", shares, "ranks", "%", "log2", named=False)
    (share.set_ylim if several else share.set_xlim)(0, 105 if several else 120)
    shown = rates + (straight[:1] if several else []) + shares[1:2] + shares[3:4]
    legend_below(figure, [handle_of(curve.style) for curve in shown], [curve.name for curve in shown])
    figure.suptitle(f"Predicted products, {about['scalar']}, {about['arithmetic']}, rates {about['rates']}", fontsize=12)
    sign(figure, about["version"], about["git"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "predict.py TABLE.csv PICTURE.png")
