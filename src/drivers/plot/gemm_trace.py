"""Timeline of a product: python3 gemm_trace.py TRACE.json PICTURE.png, with a trace of `heddle gemm --trace`.

A group of lanes for each rank: its products, what it received and sent, and its waits.
Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
"""

import json
import sys

from common import draw_command, plt, save, sign

try:
    import numpy as np
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch
except ImportError:
    sys.exit(3)

KINDS = ["product", "receive", "send", "wait"]
# Colours of M. Okabe and K. Ito, which all kinds of eyes tell apart.
COLOURS = {"product": "#0072b2", "A": "#e69f00", "B": "#009e73", "C": "#cc79a7", "wait": "#8a8a8a"}
MEANINGS = {"product": "product of a tile", "A": "band of A travels", "B": "band of B travels",
            "C": "tile of C travels", "wait": "waits, nothing to compute"}

# All lengths in points.
WIDTH = 800
LEFT, RIGHT, TOP, BOTTOM = 106, 86, 70, 46
ROW_GAP, RANK_GAP = 2.5, 13
TALLEST = 1500


class Row:
    """Lanes of one kind on one rank; events of one lane don't overlap."""

    def __init__(self, kind):
        self.kind = kind
        self.lanes = {}

    def add(self, event):
        self.lanes.setdefault(event["tid"], []).append(event)

    @property
    def lane_height(self):
        if self.kind == "product":
            return 15
        # Many lanes share what a few would take.
        return 11 if self.kind == "wait" else min(11, 44 / len(self.lanes))

    @property
    def height(self):
        return self.lane_height * len(self.lanes)


def rows_of(events, ranks):
    """For each rank, its rows in order of KINDS."""
    rows = [{} for _ in range(ranks)]
    for event in events:
        if event["ph"] == "X" and event["cat"] in KINDS:
            rows[event["pid"]].setdefault(event["cat"], Row(event["cat"])).add(event)
    return [[of_rank[kind] for kind in KINDS if kind in of_rank] for of_rank in rows]


def colour_key(event):
    return event.get("args", {}).get("operand", "") if event["cat"] in ("receive", "send") else event["cat"]


def draw_lane(axes, events, top, height, points_per_ms):
    """The events of one lane as bars, those of one colour at once; names where there is room."""
    # A few short events would vanish; many, widened, would tell of more than there was.
    least = 0.8 / points_per_ms if len(events) < 100 else 0
    colours = {}
    for event in events:
        colours.setdefault(colour_key(event), []).append(event)
    for key, group in colours.items():
        begin = np.array([event["ts"] for event in group]) / 1e3
        end = begin + np.maximum([event["dur"] / 1e3 for event in group], least)
        corners = np.empty((len(group), 4, 2))
        corners[:, [0, 1], 0] = begin[:, None]
        corners[:, [2, 3], 0] = end[:, None]
        corners[:, [0, 3], 1] = top
        corners[:, [1, 2], 1] = top + height
        # A border between neighbours, unless it would hide them.
        border = 0.5 if np.median(end - begin) * points_per_ms > 4 and height > 3 else 0
        axes.add_collection(PolyCollection(corners, facecolors=COLOURS.get(key, "#333333"), edgecolors="white",
                                           linewidths=border), autolim=False)
    if height < 8:
        return
    for event in events:
        name = short_name(event)
        if event["dur"] / 1e3 * points_per_ms > 4.1 * len(name) + 4:
            axes.text((event["ts"] + 0.5 * event["dur"]) / 1e3, top + 0.5 * height, name, fontsize=6.5, ha="center",
                      va="center_baseline", color="white" if event["cat"] == "product" else "black", clip_on=True)


def short_name(event):
    """Return the text that fits into a bar."""
    if event["cat"] == "wait":
        return ""
    numbers = [str(event["args"][key]) for key in ("row_band", "column_band") if key in event.get("args", {})]
    return ("" if event["cat"] == "product" else colour_key(event)) + ",".join(numbers)


def covered(events):
    """Length of the union of intervals, in milliseconds."""
    total, until = 0.0, -np.inf
    for begin, end in sorted((event["ts"], event["ts"] + event["dur"]) for event in events):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total / 1e3


def text_of(about, travelled):
    n, m, k = (f"{about[key]:g}" if about[key] < 1e5 else f"{about[key]:.0f}" for key in ("rows", "columns", "inner"))
    size = f"n = {n}" if n == m == k else f"C {n} x {m}, inner dimension {k}"
    ranks = f"{about['ranks']} rank{'' if about['ranks'] == 1 else 's'}"
    title = f"gemm   {size},  tile {about['tile']:.0f},  {about['scalar']},  {ranks}"
    hidden = f"{100 * about['hidden_share']:.1f} % of the communication hidden" if travelled else "nothing travelled"
    rate = about["gflops"]
    speed = f"{rate:.4g} GFLOP/s" if rate < 1e4 else f"{rate / 1e3:.4g} TFLOP/s"
    return title, (f"{speed},  {hidden};  A {about['place_a']}, B {about['place_b']}, "
                   f"C {about['place_c']}")


def main(source, target):
    with open(source, encoding="utf-8") as file:
        trace = json.load(file)
    about = trace["otherData"]
    ranks = rows_of(trace["traceEvents"], about["ranks"])
    everything = [event for rows in ranks for row in rows for lane in row.lanes.values() for event in lane]
    last = max([1e3 * about["seconds"]] + [(event["ts"] + event["dur"]) / 1e3 for event in everything]) or 1.0
    travelled = any(event["cat"] == "receive" and event["dur"] > 0 for event in everything)

    heights = [sum(row.height for row in rows) + ROW_GAP * max(len(rows) - 1, 0) or 15 for rows in ranks]
    natural = sum(heights) + RANK_GAP * len(ranks)
    scale = min(1.0, TALLEST / natural)
    tall = scale * natural
    figure = plt.figure(figsize=(WIDTH / 72, (TOP + tall + BOTTOM) / 72))
    axes = figure.add_axes([LEFT / WIDTH, BOTTOM / (TOP + tall + BOTTOM), 1 - (LEFT + RIGHT) / WIDTH,
                            tall / (TOP + tall + BOTTOM)])
    points_per_ms = (WIDTH - LEFT - RIGHT) / last
    beside = axes.get_yaxis_transform()

    y = 0.5 * RANK_GAP * scale
    for rank, rows in enumerate(ranks):
        begin = y
        for row in rows:
            height = scale * row.height
            axes.axhspan(y, y + height, color="#f4f4f4", linewidth=0, zorder=0)
            if height >= 7.5:
                axes.text(-0.008, y + 0.5 * height, row.kind + "s", transform=beside, fontsize=7.5, ha="right",
                          va="center", color="#555555")
            for number, tid in enumerate(sorted(row.lanes)):
                draw_lane(axes, row.lanes[tid], y + number * scale * row.lane_height, scale * row.lane_height,
                          points_per_ms)
            y += height + scale * ROW_GAP
        end = max(begin + heights[rank] * scale, y - scale * ROW_GAP)
        middle = 0.5 * (begin + end)
        axes.text(-54 / (WIDTH - LEFT - RIGHT), middle, f"rank {rank}", transform=beside, fontsize=9.5, ha="right",
                  va="center", color="#222222")
        products = [event for row in rows if row.kind == "product" for lane in row.lanes.values() for event in lane]
        shares = [f"computes {100 * covered(products) / last:.1f} %"]
        if any(row.kind == "receive" for row in rows):
            shares.append(f"hidden {100 * about['hidden_share_of_ranks'][rank]:.1f} %")
        axes.text(1.01, middle, "\n".join(shares), transform=beside, fontsize=7.5, va="center", color="#555555",
                  linespacing=1.5)
        y = end + 0.5 * scale * RANK_GAP
        if rank + 1 < len(ranks):
            axes.axhline(y, color="#bbbbbb", linewidth=0.6)
        y += 0.5 * scale * RANK_GAP

    axes.set_xlim(0, last)
    axes.set_ylim(tall, 0)
    axes.set_yticks([])
    axes.set_axisbelow(True)
    axes.set_xlabel("time  (ms)")
    title, subtitle = text_of(about, travelled)
    above = 1 / (TOP + tall + BOTTOM)
    figure.text(LEFT / WIDTH, 1 - 12 * above, title, fontsize=12, va="top", color="#222222")
    figure.text(LEFT / WIDTH, 1 - 32 * above, subtitle, fontsize=9.5, va="top", color="#555555")
    shown = [key for key in COLOURS if any(colour_key(event) == key for event in everything)]
    figure.legend(handles=[Patch(color=COLOURS[key], label=MEANINGS[key]) for key in shown], ncol=5, loc="lower left",
                  bbox_to_anchor=(LEFT / WIDTH, (BOTTOM + tall + 3) * above), borderaxespad=0, borderpad=0,
                  handlelength=1.2, columnspacing=1.6, handletextpad=0.5)
    sign(figure, about["version"], about["git_hash"])
    save(figure, target)


if __name__ == "__main__":
    draw_command(main, "gemm_trace.py TRACE.json PICTURE.png")
