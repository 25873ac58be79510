"""RESULTS.md from the figures: a page of operations, then the tables of each module."""

import textwrap
from decimal import Decimal

from reporting.figures import QUANTITIES
from reporting.thresholds import verdicts_of

LONGEST = 250  # lines
WIDTH = 120  # of lines that are no rows
COUNTED = ("GPUs", "ranks", "threads", "cores")
PHRASES = {"speed": "times as fast as {}", "share": "of the rate of {}", "cost": "times as long as {}"}
HEAD = """\
`perf/report.py` makes this page from [results](results/README.md); `perf/report.py --all` prints more figures. What was
tried, and why figures are as they are, stands in [docs/notes](../docs/notes/README.md).

*Times as fast* is the peer's time over Heddle's: above 1 Heddle is faster. *Times as long* is Heddle's time over the
peer's, where Heddle does more, such as rounding exactly. *Share of its rate* compares with what can hardly be exceeded,
such as a copy of the same bytes. Both sides ran in turn in one run; ratios are medians of pairs. "1.0 to 1.2" spans
several runs or, on this first page, all cases. Brackets hold Heddle's own figure and the peer's in the row's unit, for
scale (of *joules a run* the peer's). In commands `B` is the build folder (`build/openmp-tests` after `ci/test`,
`build/gpu` after `ci/gpu`), `P` the GPUs, `N` the size, `R` the norm. A figure that misses what is required says so.
"""


def wrapped(text, indent=""):
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def number(value):
    """A number with the digits that the file has."""
    if isinstance(value, Decimal) and value and not -4 <= value.adjusted() < 6:
        return f"{value:e}".replace("e+", "e")
    return f"{value:,}" if value >= 10000 else str(value)


def span(runs):
    low, high = min(runs), max(runs)
    return number(low) if low == high else f"{number(low)} to {number(high)}"


def case_words(name, value):
    if isinstance(value, str):
        return value
    if name in COUNTED:
        return f"{value} {name[:-1] if value == 1 else name}"
    return f"{name} = {value}"


def case_text(series):
    return ", ".join(case_words(name, value) for name, value in series.case.items())


def cell_text(cell, verdict):
    """Return a value, the text behind it, and whether it reaches its bound."""
    text = span(cell.runs)
    behind = [span(runs) for runs in (cell.ours, cell.theirs) if runs]
    if behind:
        text += f" ({'; '.join(behind)})"
    if verdict and not verdict.met:
        why = f" ([why]({verdict.reason}))" if verdict.reason else ""
        text += f", **misses {number(verdict.bound)}**{why}"
    return text


def required_text(verdicts, labels):
    """Return the bounds of a row: one if all columns have the same, else one per column."""
    bounds = {label: f"{verdicts[label].sign} {number(verdicts[label].bound)}" for label in labels if label in verdicts}
    if len(set(bounds.values())) == 1 and len(bounds) == len(labels):
        return next(iter(bounds.values()))
    return ", ".join(f"{label}: {bound}" for label, bound in bounds.items())


def joules_text(series, labels):
    """Energies of a run, by column: Heddle's, and the peer's in brackets."""
    texts = []
    for label in labels:
        cell = series.cells.get(label)
        if cell and cell.joules:
            peer = f" ({span(cell.joules_theirs)})" if cell.joules_theirs else ""
            texts.append(f"{label}: {span(cell.joules)}{peer}")
    return ", ".join(texts)


def label_order(labels):
    """Numbers by size, then words as they come."""
    def place(label):
        try:
            return (0, Decimal(label))
        except ArithmeticError:
            return (1, 0)
    return sorted(labels, key=place)


def row(cells):
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def table(group, machine, thresholds):
    """One table: series of one machine whose columns stand for the same."""
    labels = label_order(list(dict.fromkeys(label for series in group for label in series.cells)))
    verdicts = [verdicts_of(series, thresholds) for series in group]
    required = ["required"] if any(verdicts) else []
    energies = [joules_text(series, labels) for series in group]
    joules = ["joules a run"] if any(energies) else []
    lines = [row([f"on {machine['name']}", "beside", "figure", *required, f"{group[0].over}: {labels[0]}", *labels[1:],
                  *joules, "command"]),
             "|" + "---|" * (4 + len(required) + len(labels) + len(joules))]
    command = None
    for series, verdict, energy in zip(group, verdicts, energies):
        case = case_text(series)
        figure = QUANTITIES[series.quantity] + (f" ({series.unit})" if series.unit else "")
        measured = [label for label in labels if label in series.cells]
        cells = [cell_text(series.cells[label], verdict.get(label)) if label in measured else "" for label in labels]
        bound = [required_text(verdict, measured)] if required else []
        lines.append(row([series.operation + (f": {case}" if case else ""), series.peer, figure, *bound, *cells,
                          *([energy] if joules else []),
                          "as above" if series.command == command else f"`{series.command}`"]))
        command = series.command
    return lines


def groups_of(series, *names):
    """Lists of series that have the same values of some fields, in order of appearance."""
    groups = {}
    for one in series:
        groups.setdefault(tuple(getattr(one, name) for name in names), []).append(one)
    return groups.values()


def ratio_text(group):
    """'0.9 to 1.1 times as fast as X', over all cases of one peer."""
    runs = [run for series in group for cell in series.cells.values() for run in cell.runs]
    return f"**{span(runs)}** {PHRASES[group[0].quantity].format(group[0].peer)}"


def dates_text(group):
    dates = sorted({cell.date for series in group for cell in series.cells.values()})
    return dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"


def summary(results, thresholds):
    """The first page: one line for each operation on each machine."""
    lines = [row(["operation", "on", "beside others", "thresholds met", "measured"]), "|---|---|---|---|---|"]
    for module in results.modules:
        compared = [one for one in results.series if one.module == module and one.quantity in PHRASES and one.peer]
        for group in groups_of(compared, "operation", "machine"):
            if all(one.detail for one in group):
                continue
            verdicts = [verdict for series in group for verdict in verdicts_of(series, thresholds).values()]
            ratios = [ratio_text(peers) for peers in groups_of(group, "peer", "quantity")]
            lines.append(row([f"[{group[0].operation}](#{module})", results.machines[group[0].machine]["name"],
                              "; ".join(ratios),
                              f"{sum(verdict.met for verdict in verdicts)} of {len(verdicts)}" if verdicts else "",
                              dates_text(group)]))
    return lines


def machine_lines(results):
    lines = []
    for name in dict.fromkeys(series.machine for series in results.series):
        machine = results.machines[name]
        software = ", ".join(f"{program} {version}" for program, version in machine["software"].items())
        lines += wrapped(f"- **{machine['name']}**: {machine['description']} {software}.", "  ")
    return lines


def module_lines(module, series, results, thresholds):
    lines = [f"## {module['id']}", *wrapped(f"{module['about']} [Notes]({module['notes']}).")]
    for group in groups_of(series, "machine", "over"):
        lines += ["", *table(group, results.machines[group[0].machine], thresholds)]
    return lines + [""]


def document(results, thresholds, details=False):
    """The whole of RESULTS.md; with `details` also the figures that it leaves out."""
    lines = ["# What was measured", "", *HEAD.splitlines(), "", *machine_lines(results), "", "## Every operation", "",
             *summary(results, thresholds), ""]
    for name, module in results.modules.items():
        series = [one for one in results.series if one.module == name and (details or not one.detail)]
        if series:
            lines += module_lines(module, series, results, thresholds)
    return "\n".join(lines).rstrip() + "\n"


def too_long(text):
    """Return a warning line if the page has grown too long for a reader."""
    count = text.count("\n")
    return [f"RESULTS.md has {count} lines, more than {LONGEST}: mark figures as detail"] if count > LONGEST else []
