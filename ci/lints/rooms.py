"""The tables of docs/architecture.md and docs/rooms.md that lints and pictures read: rooms and whom each may use, the
folders within them, folders beside them, who may include the headers of other projects, rooms without the C library's
elementary functions, and rooms whose rounding differs;
and the tables of docs/paths, each of which follows one path through the code.

A table that is read has a line <!-- read: NAME --> before it. Names in it are in `code`."""

import re
from dataclasses import dataclass, field
from itertools import product
from fnmatch import fnmatchcase

PAGES = ("docs/architecture.md", "docs/rooms.md")
PATHS = "docs/paths"
MARK = re.compile(r"^<!-- read: (\w+) -->\s*$")
CODE = re.compile(r"`([^`]+)`")
# Without a folder, NAME.h is as a rule another project's.
FILE = re.compile(r"[\w./{},-]+\.(?:cpp|hpp|cu|cuh|f90|in|py|pyi|md|svg|sh|txt|json|toml|dict|cmake)|[\w./{},-]+/[\w{},-]+\.h")
COLUMNS = {"rooms": 3, "folders": 2, "beside": 3, "headers": 3, "elementary": 2, "rounding": 3}
MARKS = ("ranks", "bits", "memory", "errors")


class Wrong(Exception):
    """Error in a page, described in one line."""


@dataclass
class Page:
    uses: dict = field(default_factory=dict)      # A room, and those it may use directly.
    folders: list = field(default_factory=list)   # Folders within rooms and within src/drivers: "gemm/plan".
    beside: dict = field(default_factory=dict)    # "tests/fuzz": rooms whose private headers it may include; "own".
    headers: list = field(default_factory=list)   # (patterns of headers, patterns of files that may include them).
    elementary: set = field(default_factory=set)  # Rooms that call no elementary function of the C library's.
    rounding: dict = field(default_factory=dict)  # A list of HeddleRounding.cmake, and the rooms in it.

    def reach(self, room):
        """The room and all that it may use."""
        return {room}.union(*(self.reach(used) for used in self.uses[room]))

    def may_include(self, path, header):
        """Return whether the file may include <header>; headers without a line in the table are free for all."""
        return all(matches(path, files) for headers, files in self.headers if matches(header, headers))


def alternatives(pattern):
    """"{a,b}/c" gives "a/c" and "b/c"."""
    parts = [part[1:-1].split(",") if part.startswith("{") else [part] for part in re.split(r"(\{[^{}]*\})", pattern)]
    return ["".join(choice) for choice in product(*parts)]


def matches(name, patterns):
    return any(fnmatchcase(name, one) for pattern in patterns for one in alternatives(pattern))


def rows_of(texts, columns):
    """Each table that is read, by the names of pages with their texts and of tables with their numbers of columns: its
    rows, each with its place and its cells, without the two of the head."""
    tables = {}
    for page, text in texts.items():
        name, rows = None, []
        for number, line in enumerate(text.splitlines() + [""], start=1):
            place = f"{page}:{number}"
            if mark := MARK.match(line):
                name, rows = mark[1], []
                if name in tables:
                    raise Wrong(f"{place}: the table {name} is there twice")
                if name not in columns:
                    raise Wrong(f"{place}: nobody reads a table {name}")
                tables[name] = rows
            elif name and line.startswith("|"):
                cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
                if len(cells) != columns[name]:
                    raise Wrong(f"{place}: {len(cells)} columns; expected {columns[name]} in the table {name}")
                rows.append((place, cells))
            elif rows:
                name, rows = None, []
    for name in columns:
        if len(tables.get(name, [])) < 3:
            raise Wrong(f"{' and '.join(texts)}: there is no table {name}")
    return {name: rows[2:] for name, rows in tables.items()}


def files_named(text):
    """Files that a page names, with the number of the line; not patterns, nor names that stand for any."""
    for number, line in enumerate(text.splitlines(), start=1):
        for name in CODE.findall(line):
            if FILE.fullmatch(name) and not re.search(r"NAME|ROOM|COMMAND", name):
                yield from ((number, one) for one in alternatives(name))


def one_name(place, cell):
    if not (found := re.fullmatch(r"`([^`]+)`", cell)):
        raise Wrong(f"{place}: '{cell}'; expected one name in `code`")
    return found[1]


def names(place, cell):
    """Return the names in a cell; none if it says "nothing"."""
    if cell == "nothing":
        return []
    found = CODE.findall(cell)
    if not found or CODE.sub("", cell).strip(" ,"):
        raise Wrong(f"{place}: '{cell}'; expected names in `code` with commas between, or: nothing")
    return found


def require_no_circle(uses):
    """Remove rooms whose users are all removed; the rest is a circle."""
    left = dict(uses)
    while left:
        free = [room for room in left if not any(room in used for used in left.values())]
        if not free:
            raise Wrong(f"{PAGES[0]}: {', '.join(sorted(left))}: these rooms use one another in a circle, or are used by one")
        for room in free:
            del left[room]


def read_pages(root):
    """Return what the tables of the repository at `root` say. Raise Wrong if a table is missing, or names a room without a
    line, and OSError if a page is missing."""
    tables = rows_of({page: (root / page).read_text(encoding="utf-8") for page in PAGES}, COLUMNS)
    page = Page()
    for table, target in (("rooms", page.uses), ("beside", page.beside), ("rounding", page.rounding)):
        for place, cells in tables[table]:
            name = one_name(place, cells[0])
            if name in target:
                raise Wrong(f"{place}: {name} has two lines")
            target[name] = names(place, cells[2])
            known = [one_name(other, row[0]) for other, row in tables["rooms"]] + {"beside": ["own", "drivers"]}.get(table, [])
            for used in target[name]:
                if table != "rounding" and used not in known:
                    raise Wrong(f"{place}: {name} uses {used}, a room that has no line")
    require_no_circle(page.uses)
    for place, cells in tables["folders"]:
        name = one_name(place, cells[0])
        if name in page.folders:
            raise Wrong(f"{place}: {name} has two lines")
        page.folders.append(name)
    for place, cells in tables["elementary"]:
        page.elementary |= set(names(place, cells[1]))
        if unknown := page.elementary - set(page.uses):
            raise Wrong(f"{place}: {', '.join(sorted(unknown))}: a room that has no line")
    for place, cells in tables["headers"]:
        page.headers.append((names(place, cells[1]), names(place, cells[2])))
    return page


@dataclass
class Step:
    place: str     # Page and line.
    function: str  # "TileExchange::deliver".
    file: str      # Its path in the repository.
    often: str     # "once", "each panel".
    marks: list    # Some of MARKS.


def read_path(page, text):
    """Return the steps of a page of docs/paths. Raise Wrong if the table is missing or a row is not of its form."""
    steps = []
    for place, cells in rows_of({page: text}, {"path": 6})["path"]:
        step = Step(place, one_name(place, cells[1]), one_name(place, cells[2]), cells[3], names(place, cells[5]))
        if cells[0] != str(len(steps) + 1):
            raise Wrong(f"{place}: step {cells[0]}; expected {len(steps) + 1}")
        if unknown := [mark for mark in step.marks if mark not in MARKS]:
            raise Wrong(f"{place}: {', '.join(unknown)}; expected some of {', '.join(MARKS)}")
        steps.append(step)
    return steps


def read_paths(root):
    """Return the steps of every page of docs/paths in the repository at `root`, by the page's name."""
    pages = {path.stem: f"{PATHS}/{path.name}" for path in sorted((root / PATHS).glob("*.md"))}
    return {name: read_path(page, (root / page).read_text(encoding="utf-8")) for name, page in pages.items()}
