"""Draws the path of a page of docs/paths: a lane for each folder, a box for each step, and dots beside it for its marks."""
from parts import arrow, frame, picture, text

MARKS = {  # A mark, its colour, and what its dot says.
    "ranks": ("#1565c0", "data travel between ranks"),
    "bits": ("#6a1b9a", "bits of the result are decided"),
    "memory": ("#2e7d32", "memory is taken"),
    "errors": ("#c62828", "an error is raised or agreed between ranks"),
}
WIDTH, MARGIN, TOP, STEP, HEIGHT, MARK_WIDTH = 1040, 36, 64, 72, 48, 78
RIGHT = WIDTH - MARK_WIDTH * len(MARKS) - 16  # End of the lanes.


def lane_of(step):
    """The lane of a step: a room and a folder in it."""
    parts = step.file.split("/")[:-1]
    if parts[0] == "python":
        return "python", "/".join(parts[1:])
    inner = parts[2:] if parts[0] == "include" else parts[1:]
    return inner[0], "/".join(inner[1:])


def frames(steps):
    """Runs of steps that happen equally often, more than once: first step, last step, how often."""
    first = 0
    for k in range(1, len(steps) + 1):
        if k == len(steps) or steps[k].often != steps[first].often:
            if steps[first].often != "once":
                yield first, k - 1, steps[first].often
            first = k


def boxes_of(steps, middles):
    """Left edge, width and name of each step's box. A box may be wider than its lane: its row has no other."""
    for number, step in enumerate(steps, start=1):
        name = f"{number}. {step.function}"
        capitals = sum(letter.isupper() for letter in name)
        width = max(10.2 * len(name) + 2.5 * capitals, 8.2 * len(step.file.split("/")[-1])) + 16
        left = middles[lane_of(step)] - width / 2
        yield max(MARGIN + 4, min(left, RIGHT - 4 - width)), width, name


def draw(title, steps, colour_of):
    """Return the picture of the steps. `colour_of`: the colour of a room by its name."""
    lanes = list(dict.fromkeys(lane_of(step) for step in steps))
    wide = (RIGHT - MARGIN) / len(lanes)
    middles = {lane: MARGIN + wide * (k + 0.5) for k, lane in enumerate(lanes)}
    columns = {mark: RIGHT + 8 + MARK_WIDTH * (k + 0.5) for k, mark in enumerate(MARKS)}
    bottom = TOP + STEP * len(steps)
    top_of = [TOP + 12 + STEP * k for k in range(len(steps))]
    lines = [text(at, 36, mark, "name") for mark, at in columns.items()]
    for (room, folder), middle in middles.items():
        lines += [f'<rect x="{middle - wide / 2 + 2:g}" y="14" width="{wide - 4:g}" height="{bottom - 14:g}" rx="8"'
                  f' fill="{colour_of(room)}" fill-opacity="0.4"/>',
                  text(middle, 36, room, "lane"), text(middle, 54, folder, "file")]
    for first, last, often in frames(steps):
        high = top_of[last] - top_of[first] + HEIGHT + 18
        y = top_of[first] - 9 + high / 2
        lines += [f'<rect x="{MARGIN - 6}" y="{top_of[first] - 9}" width="{RIGHT - MARGIN + 12:g}" height="{high}" rx="8"'
                  ' fill="none" stroke="#455a64" stroke-dasharray="5 4"/>',
                  f'<text x="20" y="{y:g}" transform="rotate(-90 20 {y:g})" class="file">{often}</text>']
    before = None
    for (left, width, name), step, top in zip(boxes_of(steps, middles), steps, top_of):
        middle, y = left + width / 2, top + HEIGHT / 2
        if before:
            lines.append(arrow([before, (middle, top - 2)]))
        before = middle, top + HEIGHT
        if step.marks:
            lines.append(f'<path d="M {middle:g} {y:g} H {columns[step.marks[-1]]:g}" stroke="#b0bec5"/>')
        lines += [frame(middle, top, width, colour_of(lane_of(step)[0]), HEIGHT), text(middle, top + 20, name, "name"),
                  text(middle, top + 39, step.file.split("/")[-1], "file")]
        lines += [f'<circle cx="{columns[mark]:g}" cy="{y:g}" r="7" fill="{MARKS[mark][0]}"/>' for mark in step.marks]
    meanings = [f"{mark}: {meaning}" for mark, (_, meaning) in MARKS.items()]
    for k in range(0, len(meanings), 2):
        lines.append(text(WIDTH / 2, bottom + 26 + 10 * k, " · ".join(meanings[k:k + 2]), "file"))
    return picture(title, WIDTH, bottom + 62, lines)
