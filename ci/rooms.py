"""The tables of docs/architecture.md that lints and pictures read: rooms and whom each may use, the folders within them,
folders beside them, who may include the headers of other projects, and rooms whose rounding differs.

A table that is read has a line <!-- read: NAME --> before it. Names in it are in `code`."""

import re
from dataclasses import dataclass, field
from itertools import product
from fnmatch import fnmatchcase

PAGE = "docs/architecture.md"
MARK = re.compile(r"^<!-- read: (\w+) -->\s*$")
CODE = re.compile(r"`([^`]+)`")
FILE = re.compile(r"[\w./{},-]+\.(?:cpp|hpp|in|py|md|sh|txt|json|toml|dict|cmake)")
COLUMNS = {"rooms": 3, "folders": 2, "beside": 3, "headers": 3, "rounding": 3}


class Wrong(Exception):
    """Error in the page, described in one line."""


@dataclass
class Page:
    uses: dict = field(default_factory=dict)      # A room, and those it may use directly.
    folders: list = field(default_factory=list)   # Folders within rooms and within src/drivers: "gemm/plan".
    beside: dict = field(default_factory=dict)    # "tests/fuzz": rooms whose private headers it may include; "own".
    headers: list = field(default_factory=list)   # (patterns of headers, patterns of files that may include them).
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


def rows_of(text):
    """Each table that is read: its rows, each with the number of its line and its cells, without the two of the head."""
    tables, name, rows = {}, None, []
    for number, line in enumerate(text.splitlines() + [""], start=1):
        if mark := MARK.match(line):
            name, rows = mark[1], []
            if name in tables:
                raise Wrong(f"{PAGE}:{number}: the table {name} is there twice")
            if name not in COLUMNS:
                raise Wrong(f"{PAGE}:{number}: nobody reads a table {name}")
            tables[name] = rows
        elif name and line.startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) != COLUMNS[name]:
                raise Wrong(f"{PAGE}:{number}: {len(cells)} columns, where the table {name} has {COLUMNS[name]}")
            rows.append((number, cells))
        elif rows:
            name, rows = None, []
    for name in COLUMNS:
        if len(tables.get(name, [])) < 3:
            raise Wrong(f"{PAGE}: there is no table {name}")
    return {name: rows[2:] for name, rows in tables.items()}


def files_named(text):
    """Files that the page names, with the number of the line; not patterns, nor names that stand for any."""
    for number, line in enumerate(text.splitlines(), start=1):
        for name in CODE.findall(line):
            if FILE.fullmatch(name) and not re.search(r"NAME|ROOM", name):
                yield from ((number, one) for one in alternatives(name))


def one_name(number, cell):
    if not (found := re.fullmatch(r"`([^`]+)`", cell)):
        raise Wrong(f"{PAGE}:{number}: '{cell}', where one name in `code` is expected")
    return found[1]


def names(number, cell):
    """Return the names in a cell; none if it says "nothing"."""
    if cell == "nothing":
        return []
    found = CODE.findall(cell)
    if not found or CODE.sub("", cell).strip(" ,"):
        raise Wrong(f"{PAGE}:{number}: '{cell}', where names in `code` with commas between are expected, or: nothing")
    return found


def require_no_circle(uses):
    """Remove rooms whose users are all removed; the rest is a circle."""
    left = dict(uses)
    while left:
        free = [room for room in left if not any(room in used for used in left.values())]
        if not free:
            raise Wrong(f"{PAGE}: {', '.join(sorted(left))}: these rooms use one another in a circle, or are used by one")
        for room in free:
            del left[room]


def read_page(text):
    """Return the page. Raise Wrong if a table is missing, or names a room without a line."""
    tables = rows_of(text)
    page = Page()
    for table, target in (("rooms", page.uses), ("beside", page.beside), ("rounding", page.rounding)):
        for number, cells in tables[table]:
            name = one_name(number, cells[0])
            if name in target:
                raise Wrong(f"{PAGE}:{number}: {name} has two lines")
            target[name] = names(number, cells[2])
            known = [one_name(line, row[0]) for line, row in tables["rooms"]] + {"beside": ["own", "drivers"]}.get(table, [])
            for used in target[name]:
                if table != "rounding" and used not in known:
                    raise Wrong(f"{PAGE}:{number}: {name} uses {used}, a room that has no line")
    require_no_circle(page.uses)
    for number, cells in tables["folders"]:
        name = one_name(number, cells[0])
        if name in page.folders:
            raise Wrong(f"{PAGE}:{number}: {name} has two lines")
        page.folders.append(name)
    for number, cells in tables["headers"]:
        page.headers.append((names(number, cells[1]), names(number, cells[2])))
    return page
