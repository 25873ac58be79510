"""Code shared by the pictures: looks, tables, layout, and the command line of the scripts that draw them."""

import csv
import re
import sys

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.cbook import is_math_text
    from matplotlib.colors import to_hex, to_rgb
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path
except ImportError:
    sys.exit(3)
if matplotlib.__version_info__ < (3, 6):  # Before, a constrained layout has no room for legends.
    sys.exit(5)

DPI = 130
plt.rcParams.update({
    "figure.dpi": DPI,
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.edgecolor": "#555555",
    "axes.linewidth": 0.8,
    "axes.labelcolor": "#222222",
    "axes.titlecolor": "#222222",
    "axes.titlesize": 10.5,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.7,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "legend.frameon": False,
    "legend.fontsize": 9,
    "legend.handlelength": 3.2,  # For a dash and a gap beside the mark.
    "lines.linewidth": 1.5,
})
COLOURS = ["#2a6f97", "#e07a2f", "#3d9a5f", "#b5394a", "#7b5ea7", "#8c6d46", "#d76fa8", "#6b7280"]
LINES = ["-", (0, (5, 1.6)), (0, (1.2, 1.3)), (0, (6, 1.5, 1.2, 1.5)), (0, (2.5, 2.5)), (0, (6, 1.5, 1.2, 1.5, 1.2, 1.5))]
MARKERS = "osD^vPX*<>hp"
MARGIN = 6  # Points that are kept free along the edges of a figure; below stands the stamp.
STAMP = 7


def look(k, marker=True):
    """Colour, line and marker of the k-th series: 48 of them differ in colour or line."""
    found = {"color": COLOURS[k % len(COLOURS)], "linestyle": LINES[k // len(COLOURS) % len(LINES)]}
    return found | ({"marker": MARKERS[k % len(MARKERS)], "markersize": 4.5} if marker else {})


def pale(style, white=0.5):
    """For what belongs to a series: its colour mixed with so much white, and a thinner line."""
    mixed = [white + (1 - white) * value for value in to_rgb(style["color"])]
    return style | {"color": to_hex(mixed), "linewidth": 1.1, "markersize": 3}


def read_tables(source):
    """The comments' values by name ("# name: value"; version and git from the first), and the tables as lists of rows.

    Blank lines separate tables; each begins with its columns' names.
    """
    with open(source, encoding="utf-8", newline="") as file:
        lines = file.read().splitlines()
    about = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line)
    found = re.search(r"heddle ([0-9.]+) \(([^)]*)\)", lines[0]) if lines else None
    about["version"], about["git"] = found.groups() if found else ("", "")
    blocks = "\n".join(line for line in lines if not line.startswith("#")).split("\n\n")
    return about, [list(csv.DictReader(block.splitlines())) for block in blocks]


def width_of(text, size):
    """Points that the widest line of a text takes."""
    font = FontProperties(family="DejaVu Sans", size=size)
    return max(text_to_path.get_text_width_height_descent(line, font, bool(is_math_text(line)))[0]
               for line in text.split("\n"))


def wrapped(text, size, room):
    """The text in lines of at most `room` points, broken at blanks outside of formulas."""
    lines = []
    for line in text.split("\n"):
        words = re.findall(r"(?:\$[^$]*\$|[^ $])+ *", line)
        lines.append("")
        for word in words:
            if lines[-1] and width_of((lines[-1] + word).rstrip(), size) > room:
                lines.append("")
            lines[-1] += word
        lines[-1] = lines[-1].rstrip()
    return "\n".join(lines)


def figure_of(rows, columns, width, height, **more):
    """A figure of so many inches, whose layout leaves room for all that is written, and its axes as an array."""
    return plt.subplots(rows, columns, figsize=(width, height), layout="constrained", squeeze=False, **more)


def later(figure, act, labels=False):
    """Calls act() before the figure is saved, when limits and places of its axes are known; first what writes `labels`."""
    whole = figure.figure  # `figure` may be a part of a figure.
    whole.waiting = [*getattr(whole, "waiting", []), (not labels, act)]


def legend_below(figure, handles, names):
    """A legend of the whole figure below its axes, with as many columns as fit."""
    size = 9
    room = 72 * figure.get_figwidth() - 4 * MARGIN
    names = [wrapped(name, size, room - 6.7 * size) for name in names]
    for columns in range(len(names), 0, -1):
        # A column is as wide as its longest name; the first ones have one more where they differ.
        least, longer = divmod(len(names), columns)
        rest = iter(names)
        parts = [[next(rest) for _ in range(least + (column < longer))] for column in range(columns)]
        if sum(max(width_of(name, size) for name in part) + 6.7 * size for part in parts) <= room:
            break
    figure.below = figure.legend(handles, names, loc="lower center", ncol=columns, fontsize=size, borderaxespad=0,
                                 bbox_to_anchor=(0.5, (STAMP + 2 * MARGIN) / 72 / figure.get_figheight()))


def wrap_titles(figure):
    """Breaks the titles that are wider than what they stand above."""
    wide = 72 * figure.get_figwidth()
    if figure._suptitle is not None:
        title = figure._suptitle
        title.set_text(wrapped(title.get_text(), title.get_fontsize(), wide - 4 * MARGIN))
    titled = [axes for axes in figure.axes if axes.get_title() or axes.get_title("left")]
    for axes in titled:
        place = axes.get_position()
        neighbours = [other.get_position() for other in titled]
        end = min([other.x0 * wide for other in neighbours
                   if other.x0 >= place.x1 and other.y0 < place.y1 and place.y0 < other.y1] + [wide]) - 2 * MARGIN
        for where, room in (("center", (place.x1 - place.x0) * wide + 2 * MARGIN), ("left", end - place.x0 * wide)):
            if axes.get_title(where):
                size = (axes.title if where == "center" else axes._left_title).get_fontsize()
                text = wrapped(axes.get_title(where), size, room)
                (axes.title if where == "center" else axes._left_title).set_text(text)


def settle(figure):
    """Finds the places of axes, breaks titles, and does what waits for both."""
    engine = figure.get_layout_engine()
    if engine is not None:
        points = 72 * figure.get_figheight()
        below = (STAMP + 2 * MARGIN if hasattr(figure, "stamp") else MARGIN) / points
        if getattr(figure, "below", None) is not None:
            below = figure.below.get_window_extent().y1 / figure.bbox.height + MARGIN / points
        engine.set(rect=(0, below, 1, 1 - below - MARGIN / points), w_pad=MARGIN / 72, h_pad=MARGIN / 72)
    waiting = getattr(figure, "waiting", [])
    figure.waiting = []
    figure.draw_without_rendering()
    for second in (False, True):
        for act in (act for last, act in waiting if last == second):
            act()
        figure.draw_without_rendering()
        wrap_titles(figure)
        figure.draw_without_rendering()


def sign(figure, version, git_hash):
    """Says in a corner, and in the file, which Heddle computed what is shown."""
    figure.stamp = f"heddle {version} ({git_hash})"
    figure.text(1 - MARGIN / 72 / figure.get_figwidth(), MARGIN / 72 / figure.get_figheight(), figure.stamp, ha="right",
                va="bottom", fontsize=STAMP, color="#999999")


def save(figure, target):
    settle(figure)
    figure.savefig(target, dpi=DPI, format="png", facecolor="white",
                   metadata={"Software": getattr(figure, "stamp", "heddle")})
    plt.close(figure)


def draw_command(draw, usage, more=0):
    """Calls draw(source, target) with the two arguments of the command line, and those `more` that follow them.

    Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing, 5 matplotlib is too old.
    """
    if len(sys.argv) != 3 + more:
        sys.exit(f"usage: {usage}")
    try:
        draw(*sys.argv[1:])
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"{usage.split()[0]}: {sys.argv[1]}: {error}")
