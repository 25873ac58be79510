#!/usr/bin/env python3
"""Writes arcs.inc: polynomials of arcsine and arctangent on intervals, computed by mpmath.

    src/libm/tables/arcs.py > src/libm/tables/arcs.inc
"""
import mpmath
from mpmath import mpf

from tables import double, pair, text

mpmath.mp.prec = 250
DEGREE = 9
OCTAVES = 6


def polynomial(function, lowest, highest, centre):
    """The coefficients, in powers of x - centre, of the polynomial that interpolates at Chebyshev's nodes."""
    half = (highest - lowest) / 2
    nodes = [lowest + half - centre + half * mpmath.cos(mpmath.pi * (2 * k + 1) / (2 * DEGREE + 2))
             for k in range(DEGREE + 1)]
    differences = [function(centre + node) for node in nodes]
    for j in range(1, DEGREE + 1):
        for i in range(DEGREE, j - 1, -1):
            differences[i] = (differences[i] - differences[i - 1]) / (nodes[i] - nodes[i - j])
    result = [mpf(0)]
    for node, difference in zip(reversed(nodes), reversed(differences)):
        shifted = [mpf(0), *result]
        result = [low - node * high for low, high in zip(shifted, [*result, mpf(0)])]
        result[0] += difference
    return result[:DEGREE + 1]


def row(functions, lowest, highest, centre):
    """The text of a row for functions[0]; each function equals it but for a sign and a constant, and the row's error
    relative to each stays below 2^-64.7. The k-th coefficient has the bits that matter beside 2^-72."""
    found = polynomial(functions[0], lowest, highest, centre)
    if centre == 0:  # odd
        found[::2] = [mpf(0)] * len(found[::2])
    value, slope = pair(found[0]), pair(found[1])
    rest = [double(c, min(53, 72 - 5 * k)) for k, c in enumerate(found) if k > 1]
    used = [mpf(value[0]) + value[1], mpf(slope[0]) + slope[1], *map(mpf, rest)]
    for i in range(101):
        x = lowest + (highest - lowest) * i / 100
        error = mpmath.polyval(used[::-1], x - centre) - functions[0](x)
        assert all(abs(error) <= abs(f(x)) * mpf(2) ** -64.7 for f in functions), (centre, x)
    low = [double(value[1], 24), double(slope[1], 24)]
    numbers = [float(centre), value[0], low[0], slope[0], low[1], *rest]
    return "    {%s}," % ", ".join("0" if x == 0 else text(x) for x in numbers)


def main():
    print("// Written by arcs.py; do not edit.")
    # 1 - x, rounded to 5 bits, is the distance from 1 of a centre.
    rows = []
    for index in range(16 * OCTAVES + 1):
        exponent, part = divmod(index - 16 * OCTAVES, 16)
        distance = mpmath.ldexp(mpf(16 + part) / 16, exponent)
        above = mpmath.ldexp(mpf(1) / 32, exponent)
        below = above / 2 if part == 0 else above
        centre = 1 - distance
        lowest, highest = (centre - above, centre + below) if index < 16 * OCTAVES else (-below, below)
        rows.append(row([mpmath.asin, mpmath.acos], lowest, highest, centre))
    print("inline constexpr ArcRow arcsine_rows[%d] = {\n%s\n};" % (len(rows), "\n".join(rows)))
    half = mpf(501) / 32000
    rows = [row([mpmath.atan], mpf(i) / 32 - half, mpf(i) / 32 + half, mpf(i) / 32) for i in range(33)]
    print("inline constexpr ArcRow arctangent_rows[%d] = {\n%s\n};" % (len(rows), "\n".join(rows)))


if __name__ == "__main__":
    main()
