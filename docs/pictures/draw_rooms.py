#!/usr/bin/env python3
"""Draws the pictures beside this file: rooms.svg from the tables of docs/architecture.md and docs/rooms.md (the rooms, and
who may use whom), and a picture for each page of docs/paths from its table.

    docs/pictures/draw_rooms.py            writes the pictures
    docs/pictures/draw_rooms.py --check    says whether the pictures are what the tables give, which ci/lint asks
"""
import sys
from pathlib import Path

from parts import BESIDE, COLOURS, HEIGHT, arrow, frame, picture, text

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "ci/lints"))
import rooms  # noqa: E402  (its folder is not on the path before)
import draw_paths  # noqa: E402

FOLDER = Path(__file__).parent
WIDTH, STEP, EDGE = 160, 108, 20
# Place of a room: the middle of its box, its floor, counted from the ground, and its contents in a few words.
PLACES = {
    "libm": (520, 0, "functions rounded once"),
    "core": (520, 1, "errors, scalars, names"),
    "blas": (190, 2, "one rank's BLAS"),
    "models": (450, 2, "problems for solvers"),
    "comm": (740, 2, "ranks, devices, transports"),
    "dist": (670, 3, "matrices over ranks"),
    "search": (910, 3, "equal keys, faces"),
    "exact": (440, 4, "numbers rounded once"),
    "transpose": (670, 4, "B = op(A)"),
    "io": (860, 4, "files"),
    "eigen": (168, 5, "Jacobi rotations"),
    "emulation": (440, 5, "products by integers"),
    "gemm": (600, 6, "products over ranks"),
    "interpose": (240, 6, "under programs as they are"),
    "expm": (460, 8, "exponentials"),
    "solve": (600, 7, "factorizations over ranks"),
    "tuning": (850, 7, "rates of this machine"),
    "schrodinger": (340, 9, "wave functions in time"),
    "c": (600, 9, "for C and Fortran"),
}
GROUND = {"core": 1000}  # Wider boxes.
# Arrows that would cross a box bend by these points: (x, floor) in the same measure.
BENDS = {("emulation", "blas"): [(300, 4.42), (300, 3.6)]}


def direct(page):
    """The arrows that do not follow from others."""
    for room, used in page.uses.items():
        for one in used:
            if not any(one in page.reach(other) for other in used if other != one):
                yield room, one


def box(name, x, y, words, inner, colour, width=None):
    inner = " · ".join(inner)
    y_of_name = y + (19 if inner else 27)
    lines = [frame(x, y, width or max(WIDTH, 16 + 6 * len(inner)), colour),
             text(x, y_of_name, name, "name"), text(x, y_of_name + 18, words, "words")]
    return lines + ([text(x, y + 54, inner, "inner")] if inner else [])


def ends_of(arrows):
    """Return the positions of the arrows, side by side on the lower edge of the user and the upper edge of the used."""
    ends = {}
    for which in (0, 1):
        for room in PLACES:
            mine = sorted((pair for pair in arrows if pair[which] == room), key=lambda pair: PLACES[pair[1 - which]][0])
            for k, pair in enumerate(mine):
                x = PLACES[room][0] + (k - (len(mine) - 1) / 2) * 30
                ends[pair, which] = PLACES[pair[0]][0] if room in GROUND else x
    return ends


def draw(page):
    if set(PLACES) != set(page.uses):
        raise rooms.Wrong(f"docs/pictures/draw_rooms.py: has no place for {', '.join(sorted(set(page.uses) ^ set(PLACES)))}")
    floors = 1 + max(floor for _, floor, _ in PLACES.values())
    top = {floor: EDGE + HEIGHT + 30 + (floors - 1 - floor) * STEP for floor in range(floors)}
    height = top[0] + HEIGHT + EDGE
    lines = []
    lines += box("drivers, perf, tests/install", 520, EDGE,
                 "the command heddle, benchmarks, and every program of a user: public headers of all rooms", [], BESIDE, 1000)
    arrows = list(direct(page))
    ends = ends_of(arrows)
    for pair in arrows:
        user, used = pair
        bends = [(x, top[0] - floor * STEP + HEIGHT / 2) for x, floor in BENDS.get(pair, [])]
        start, end = (ends[pair, 0], top[PLACES[user][1]] + HEIGHT), (ends[pair, 1], top[PLACES[used][1]] - 2)
        lines.append(arrow([start, *bends, end]))
    for name, (x, floor, words) in PLACES.items():
        inner = [folder.split("/")[1] for folder in page.folders if folder.startswith(f"{name}/") and folder.count("/") == 1]
        lines += box(name, x, top[floor], words, inner, COLOURS[floor], GROUND.get(name))
    return picture('The rooms of Heddle: an arrow means "may use"', 1040, height, lines)


def colour_of(lane):
    """The colour of a room's floor; that of programs and packages beside the rooms."""
    return COLOURS[PLACES[lane][1]] if lane in PLACES else BESIDE


def pictures():
    """The text of each picture, by its file."""
    drawn = {FOLDER / "rooms.svg": draw(rooms.read_pages(ROOT))}
    for name, steps in rooms.read_paths(ROOT).items():
        title = f"The path of {rooms.PATHS}/{name}.md through the code"
        drawn[FOLDER / f"{name}.svg"] = draw_paths.draw(title, steps, colour_of)
    return drawn


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        drawn = pictures()
    except (OSError, rooms.Wrong) as error:
        print(error)
        return 1
    if sys.argv[1:] == ["--check"]:
        stale = [path for path, wanted in drawn.items() if not path.is_file() or path.read_text(encoding="utf-8") != wanted]
        stale += [path for path in FOLDER.glob("*.svg") if path not in drawn]
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not what the tables give: run docs/pictures/draw_rooms.py")
        return 1 if stale else 0
    for path, wanted in drawn.items():
        path.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
