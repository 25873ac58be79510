#!/usr/bin/env python3
"""Draws rooms.svg beside this file from the tables of docs/architecture.md: the rooms, and who may use whom.

    docs/pictures/draw_rooms.py            writes the picture
    docs/pictures/draw_rooms.py --check    says whether the picture is what the tables give, which ci/lint asks
"""
import sys
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "ci"))
import rooms  # noqa: E402  (its folder is not on the path before)

PICTURE = Path(__file__).with_name("rooms.svg")
WIDTH, HEIGHT, STEP, EDGE = 160, 62, 108, 20
# Place of a room: the middle of its box, its floor, counted from the ground, and its contents in a few words.
PLACES = {
    "core": (520, 0, "errors, scalars, names"),
    "blas": (190, 1, "one rank's BLAS"),
    "models": (450, 1, "problems for solvers"),
    "comm": (740, 1, "ranks, devices, transports"),
    "dist": (670, 2, "matrices over ranks"),
    "search": (910, 2, "equal keys, faces"),
    "exact": (440, 3, "numbers rounded once"),
    "transpose": (670, 3, "B = op(A)"),
    "io": (860, 3, "files"),
    "eigen": (160, 4, "Jacobi rotations"),
    "emulation": (440, 4, "products by integers"),
    "gemm": (600, 5, "products over ranks"),
    "interpose": (240, 5, "under programs as they are"),
    "expm": (460, 7, "exponentials"),
    "solve": (600, 6, "factorizations over ranks"),
    "tuning": (850, 6, "rates of this machine"),
    "schrodinger": (360, 8, "wave functions in time"),
    "c": (600, 8, "for C and Fortran"),
}
GROUND = {"core": 1000}  # Wider boxes.
# Arrows that would cross a box bend by these points: (x, floor) in the same measure.
BENDS = {("emulation", "blas"): [(300, 3.42), (300, 2.6)]}
COLOURS = {0: "#eceff1", 1: "#e3f2fd", 2: "#e0f2f1", 3: "#e8f5e9", 4: "#fff8e1", 5: "#fff3e0", 6: "#fbe9e7", 7: "#fce4ec",
           8: "#f3e5f5"}


def direct(page):
    """The arrows that do not follow from others."""
    for room, used in page.uses.items():
        for one in used:
            if not any(one in page.reach(other) for other in used if other != one):
                yield room, one


def box(name, x, y, words, inner, colour, width=None):
    inner = " · ".join(inner)
    width = width or max(WIDTH, 20 + 5.4 * len(inner))
    y_of_name = y + (20 if inner else 27)
    lines = [f'<rect x="{x - width / 2:g}" y="{y}" width="{width:g}" height="{HEIGHT}" rx="8" fill="{colour}" stroke="#455a64"/>',
             f'<text x="{x:g}" y="{y_of_name}" class="name">{escape(name)}</text>',
             f'<text x="{x:g}" y="{y_of_name + 17}" class="words">{escape(words)}</text>']
    if inner:
        lines.append(f'<text x="{x:g}" y="{y + 53}" class="inner">{escape(inner)}</text>')
    return lines


def arrow(start, bends, end):
    """A smooth line downwards through the points."""
    points = [start] + bends + [end]
    path = f"M {start[0]:g} {start[1]:g}"
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        half = (y1 - y0) / 2
        path += f" C {x0:g} {y0 + half:g}, {x1:g} {y1 - half:g}, {x1:g} {y1:g}"
    return f'<path d="{path}" class="arrow" marker-end="url(#head)"/>'


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
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1040 {height}" font-family="Helvetica, Arial, sans-serif">',
             '<title>The rooms of Heddle: an arrow means "may use"</title>',
             "<style>text { text-anchor: middle; fill: #263238 } .name { font-size: 16px; font-weight: bold }"
             " .words { font-size: 11.5px } .inner { font-size: 10.5px; fill: #607d8b }"
             " .arrow { fill: none; stroke: #546e7a; stroke-width: 1.4 }</style>",
             '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
             '<path d="M 0 0 L 8 4 L 0 8 z" fill="#546e7a"/></marker></defs>',
             f'<rect width="1040" height="{height}" fill="white"/>']
    lines += box("drivers, perf, tests/install", 520, EDGE,
                 "the command heddle, benchmarks, and every program of a user: public headers of all rooms", [], "#f3e5f5", 1000)
    arrows = list(direct(page))
    ends = ends_of(arrows)
    for pair in arrows:
        user, used = pair
        bends = [(x, top[0] - floor * STEP + HEIGHT / 2) for x, floor in BENDS.get(pair, [])]
        lines.append(arrow((ends[pair, 0], top[PLACES[user][1]] + HEIGHT), bends, (ends[pair, 1], top[PLACES[used][1]] - 2)))
    for name, (x, floor, words) in PLACES.items():
        inner = [folder.split("/")[1] for folder in page.folders if folder.startswith(f"{name}/") and folder.count("/") == 1]
        lines += box(name, x, top[floor], words, inner, COLOURS[floor], GROUND.get(name))
    return "\n".join(lines + ["</svg>"]) + "\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        picture = draw(rooms.read_page((ROOT / rooms.PAGE).read_text(encoding="utf-8")))
    except rooms.Wrong as error:
        print(error)
        return 1
    if sys.argv[1:] == ["--check"]:
        if not PICTURE.is_file() or PICTURE.read_text(encoding="utf-8") != picture:
            print(f"{PICTURE.relative_to(ROOT)} is not what {rooms.PAGE} gives: run docs/pictures/draw_rooms.py")
            return 1
    else:
        PICTURE.write_text(picture, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
