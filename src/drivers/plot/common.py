"""What the pictures share: their looks, their tables, and how a script that draws one is called."""

import csv
import re
import sys

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit(3)

plt.rcParams.update({
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.edgecolor": "#555555",
    "axes.linewidth": 0.8,
    "axes.labelcolor": "#222222",
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.7,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.5,
})
COLOURS = ["#2a6f97", "#e07a2f", "#3d9a5f", "#b5394a", "#7b5ea7", "#8c6d46", "#d76fa8", "#6b7280"]
DPI = 130


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


def sign(figure, version, git_hash):
    """Says in a corner which Heddle computed what is shown."""
    figure.text(0.995, 0.006, f"heddle {version} ({git_hash})", ha="right", va="bottom", fontsize=7, color="#999999")


def save(figure, target):
    figure.savefig(target, dpi=DPI, format="png", facecolor="white")


def draw_command(draw, usage, more=0):
    """Calls draw(source, target) with the two arguments of the command line, and those `more` that follow them.

    Exit status: 0 done, 1 the file can't be plotted, 3 a module is missing.
    """
    if len(sys.argv) != 3 + more:
        sys.exit(f"usage: {usage}")
    try:
        draw(*sys.argv[1:])
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"{usage.split()[0]}: {sys.argv[1]}: {error}")
