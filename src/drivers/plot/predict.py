"""Figures of `heddle predict gemm --sweep`: python3 predict.py TABLE.csv PICTURE.png.

Strong and weak scaling: the rate of all ranks beside the straight line of the first, and the efficiency, with the share of
the transfers that is hidden. Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

from common import COLOURS, draw_command, plt, read_tables, save, sign


def main(source, target):
    about, (rows,) = read_tables(source)
    if not rows:
        raise ValueError("has no rows")
    figure, (rate, share) = plt.subplots(1, 2, figsize=(12, 5.2))
    figure.subplots_adjust(left=0.07, right=0.985, top=0.86, bottom=0.14, wspace=0.2)
    every = sorted({int(row["ranks"]) for row in rows})
    for colour, marker, scaling in zip(COLOURS, "os", ("strong", "weak")):
        mine = [row for row in rows if row["scaling"] == scaling]
        if not mine:
            continue
        ranks = [int(row["ranks"]) for row in mine]
        gflops = [float(row["gflops"]) for row in mine]
        extent = f"{mine[0]['rows']} x {mine[0]['columns']}"
        name = f"strong: C of {extent}" if scaling == "strong" else f"weak: from {extent}, as much a rank"
        rate.plot(ranks, [value / 1e3 for value in gflops], color=colour, marker=marker, label=name)
        rate.plot(ranks, [gflops[0] / 1e3 * count / ranks[0] for count in ranks], ":", color=colour, linewidth=1)
        share.plot(ranks, [100 * float(row["efficiency"]) for row in mine], color=colour, marker=marker,
                   label=f"{scaling}: efficiency")
        share.plot(ranks, [100 * float(row["hidden_share"]) for row in mine], "--", color=colour, linewidth=1,
                   label=f"{scaling}: hidden share of transfers")
    for axes in (rate, share):
        axes.set_xscale("log", base=2)
        axes.set_xticks(every, [str(count) for count in every])
        axes.minorticks_off()
        axes.set_xlabel("ranks")
    rate.set_yscale("log")
    rate.set_ylabel("TFLOP/s of all ranks (dotted: as many times the first)")
    share.set_ylabel("%")
    share.set_ylim(0, 105)
    rate.legend(loc="upper left")
    share.legend(loc="lower left")
    figure.suptitle(f"Predicted products, {about['scalar']}, {about['arithmetic']}, rates {about['rates']}", fontsize=12)
    sign(figure, about["version"], about["git"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "predict.py TABLE.csv PICTURE.png")
