"""Parts that the pictures of these scripts share: colours, boxes, arrows, and the SVG around them."""
from xml.sax.saxutils import escape

HEIGHT = 62  # Height of a box.
COLOURS = ["#f5f5f5", "#eceff1", "#e3f2fd", "#e0f2f1", "#e8f5e9",  # By floor.
           "#fff8e1", "#fff3e0", "#fbe9e7", "#fce4ec", "#f3e5f5"]
BESIDE = "#efebe9"  # Programs and packages beside the rooms.


def picture(title, width, height, lines):
    """Return the text of a picture with these elements on white."""
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif">',
        f'<title>{escape(title)}</title>',
        "<style>text { text-anchor: middle; fill: #263238 } .name { font-size: 16px; font-weight: bold }"
        " .words { font-size: 13px } .inner { font-size: 12px; fill: #455a64 } .file { font-size: 13.5px }"
        " .lane { font-size: 14.5px; font-weight: bold }"
        " .arrow { fill: none; stroke: #546e7a; stroke-width: 1.4 }</style>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M 0 0 L 8 4 L 0 8 z" fill="#546e7a"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="white"/>', *lines, "</svg>"]) + "\n"


def text(x, y, words, kind):
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(words)}</text>'


def frame(x, y, width, colour, height=HEIGHT):
    """The rectangle of a box, whose upper edge has its middle at (x, y)."""
    return (f'<rect x="{x - width / 2:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8" fill="{colour}"'
            ' stroke="#455a64"/>')


def arrow(points):
    """A smooth line downwards through the points."""
    path = f"M {points[0][0]:g} {points[0][1]:g}"
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        half = (y1 - y0) / 2
        path += f" C {x0:g} {y0 + half:g}, {x1:g} {y1 - half:g}, {x1:g} {y1:g}"
    return f'<path d="{path}" class="arrow" marker-end="url(#head)"/>'
