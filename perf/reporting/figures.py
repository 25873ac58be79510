"""The figures under perf/results/: how files of them are read, checked and written. README.md there has the schema."""

import json
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

QUANTITIES = {
    "speed": "times as fast",
    "cost": "times as long",
    "share": "share of its rate",
    "time": "time",
    "rate": "rate",
    "error": "error",
    "percent": "part of the time",
}
SETTINGS = {"machines.json", "modules.json", "thresholds.json"}
BEHIND = ("ours", "theirs", "joules", "joules_theirs")  # what may stand behind a value, by column
FIGURE_FIELDS = {"module", "operation", "peer", "quantity", "unit", "case", "over", "values", *BEHIND, "command",
                 "benchmark", "detail"}
REQUIRED_FIELDS = {"module", "operation", "quantity", "over", "values", "command"}
# Fields that share a line of a file, so that a changed number is one changed line.
LINES = (("module", "operation", "peer"), ("quantity", "unit", "case", "over"), ("values",), ("ours", "theirs"),
         ("joules", "joules_theirs"), ("command",), ("benchmark", "detail"))


class DataError(Exception):
    """Error: a file of results breaks the schema of README.md."""


@dataclass
class Cell:
    """One measured value, of as many runs as the file names, and the rates or times and the energies behind it."""
    runs: list
    ours: list  # or None, as all that follow
    theirs: list
    joules: list
    joules_theirs: list
    date: str


@dataclass
class Series:
    """Values of one quantity in one case, by column of its table."""
    machine: str
    module: str
    operation: str
    peer: str
    quantity: str
    unit: str
    case: dict
    over: str
    command: str = ""
    detail: bool = False  # shown by report.py --all only
    cells: dict = field(default_factory=dict)


def read_json(path):
    """JSON with its numbers as they are written: 1.00 stays 1.00."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, json.JSONDecodeError) as error:
        raise DataError(f"{Path(path).name}: {error}") from error


def runs_of(value, place):
    """The runs of one value: a number is one run."""
    runs = value if isinstance(value, list) else [value]
    if not runs or any(isinstance(run, bool) or not isinstance(run, (int, float, Decimal)) for run in runs):
        raise DataError(f"{place}: {value!r} is neither a number nor a list of numbers")
    return runs


def check_figure(figure, modules, place):
    """Refuse a figure that a table could not show."""
    unknown, missing = figure.keys() - FIGURE_FIELDS, REQUIRED_FIELDS - figure.keys()
    if unknown or missing:
        raise DataError(f"{place}: unknown {sorted(unknown)}, missing {sorted(missing)}")
    if figure["quantity"] not in QUANTITIES:
        raise DataError(f"{place}: no such quantity: {figure['quantity']}")
    if figure["module"] not in modules:
        raise DataError(f"{place}: modules.json has no {figure['module']}")
    if not figure["values"]:
        raise DataError(f"{place}: no values")
    for name in BEHIND:
        if figure.get(name, {}).keys() - figure["values"].keys():
            raise DataError(f"{place}: {name} of a column without a value")


def identity(machine, figure):
    """Return the key that is equal for repeated measurements of one figure."""
    case = json.dumps(figure.get("case", {}), sort_keys=True, default=str)
    return (machine, figure["module"], figure["operation"], figure.get("peer", ""), figure["quantity"],
            figure.get("unit", ""), case, figure["over"])


def add_figure(series, machine, date, figure, place):
    """Add the values of a figure to its series; a newer value of a column replaces the older one."""
    key = identity(machine, figure)
    words = {name: figure.get(name, "") for name in ("module", "operation", "peer", "quantity", "unit", "over")}
    one = series.setdefault(key, Series(machine=machine, case=figure.get("case", {}), **words))
    one.command, one.detail = figure["command"], figure.get("detail", False)
    for label, value in figure["values"].items():
        behind = [runs_of(figure[name][label], place) if label in figure.get(name, {}) else None for name in BEHIND]
        one.cells[label] = Cell(runs_of(value, place), *behind, date)


class Results:
    """Everything under a folder of results: machines, modules, and the newest value of every figure."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.machines = read_json(self.folder / "machines.json")
        self.modules = {module["id"]: module for module in read_json(self.folder / "modules.json")}
        self.raw = []  # (machine, figure) as the files have them, the oldest first
        series = {}
        entries = [(path.name, read_json(path)) for path in sorted(self.folder.glob("*.json"))
                   if path.name not in SETTINGS]
        for name, entry in sorted(entries, key=lambda pair: (pair[1].get("date", ""), pair[0])):
            self.read_entry(name, entry, series)
        order = list(self.machines)
        self.series = sorted(series.values(), key=lambda one: order.index(one.machine))

    def read_entry(self, name, entry, series):
        if entry.keys() - {"machine", "commit", "date", "software", "figures"} or not entry.get("date"):
            raise DataError(f"{name}: needs machine, commit, date, figures; may have software")
        if entry.get("machine") not in self.machines:
            raise DataError(f"{name}: machines.json has no {entry.get('machine')}")
        for number, figure in enumerate(entry["figures"], 1):
            place = f"{name}, figure {number}"
            check_figure(figure, self.modules, place)
            self.raw.append((entry["machine"], figure))
            add_figure(series, entry["machine"], entry["date"], figure, place)


def write_entry(path, entry):
    """Writes one file of results, a few lines a figure."""
    head = [f"  {json.dumps(name)}: {json.dumps(entry[name], ensure_ascii=False)},"
            for name in ("machine", "commit", "date", "software") if name in entry]
    figures = []
    for figure in entry["figures"]:
        lines = []
        for names in LINES:
            fields = {name: figure[name] for name in names if name in figure}
            if fields:
                lines.append(json.dumps(fields, ensure_ascii=False)[1:-1])
        figures.append("    {" + ",\n     ".join(lines) + "}")
    text = "\n".join(["{", *head, '  "figures": [', ",\n".join(figures), "  ]", "}", ""])
    Path(path).write_text(text, encoding="utf-8")


def joined(path, entry):
    """The entry with what its file holds already; columns measured again take the place of the old ones."""
    if not Path(path).is_file():
        return entry
    figures = {identity(entry["machine"], figure): figure
               for figure in json.loads(Path(path).read_text(encoding="utf-8"))["figures"]}
    for figure in entry["figures"]:
        old = figures.get(identity(entry["machine"], figure), {})
        columns = {name: old.get(name, {}) | figure.get(name, {}) for name in ("values", *BEHIND)}
        figures[identity(entry["machine"], figure)] = figure | {name: value for name, value in columns.items() if value}
    return entry | {"figures": list(figures.values())}
