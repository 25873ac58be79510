#!/usr/bin/env python3
"""Writes special_tables.inc: polynomials and constants of the error and gamma functions, computed by mpmath.

    src/libm/tables/special_tables.py > src/libm/tables/special_tables.inc
"""
import mpmath
from mpmath import mpf

from tables import WORDS, array, double, pair, pairs, text, words

DEGREE = 10
BERNOULLI = 84


def polynomial(function, lowest, highest, count, bound):
    """Return the `count` coefficients, the lowest first, of the polynomial that equals the function at Chebyshev's points;
    its error, sampled, is below 2^bound."""
    with mpmath.workprec(400):
        coefficients, error = mpmath.chebyfit(function, [lowest, highest], count, error=True)
        assert error < mpf(2) ** bound, (lowest, highest, mpmath.log(error, 2))
        return list(reversed(coefficients))


def broken(name, rows):
    """A constant array whose rows may be broken after each comma."""
    array(name, [piece for row in rows for piece in row.split(", ")])


def row_of(function, centre, radius, bound, cubic):
    """A polynomial of r = x - centre, |r| <= radius: three pairs and doubles. `bound` is that of the error, `cubic` that of
    the terms from r^3 on, absolute as powers of two. Sums from the highest term on are exact as pairs if each of the first
    terms is larger than the rest."""
    coefficients = polynomial(lambda r: function(centre + r), -radius, radius, DEGREE + 1, bound)
    assert sum(abs(coefficients[k]) * radius**k for k in range(3, DEGREE + 1)) < mpf(2) ** cubic, centre
    for i in range(3):
        rest = sum(abs(coefficients[k]) * radius ** (k - i) for k in range(i + 1, DEGREE + 1))
        assert rest < abs(coefficients[i]), (centre, i)
    values = [x for c in coefficients[:3] for x in pair(c)] + [double(c) for c in coefficients[3:]]
    return "{{%s}, {%s}}" % (", ".join("{%s, %s}" % (text(values[2 * i]), text(values[2 * i + 1])) for i in range(3)),
                             ", ".join(text(value) for value in values[6:]))


def rows_of_octaves(name, function, first, last, relative, cubic):
    """Rows whose centres have 5 bits behind the highest, from `first` to `last`; bounds are relative to the value."""
    rows = []
    centre = mpf(first)
    while centre <= last:
        octave = mpf(2) ** int(mpmath.floor(mpmath.log(centre, 2)))
        size = mpmath.log(abs(function(centre + octave * mpf(2) ** -20)), 2)
        rows.append(row_of(function, centre, octave / 64, size + relative, size + cubic))
        centre += octave / 32
    broken(f"Polynomial {name}[{len(rows)}]", rows)


def scaled_complement(x):
    return mpmath.exp(x * x) * mpmath.erfc(x)


def gamma_quotient(x):
    """log Gamma(x) / ((x - 1) (x - 2)), which has no zero."""
    x = mpf(x)
    if x == 1:
        return +mpmath.euler
    if x == 2:
        return 1 - mpmath.euler
    return mpmath.loggamma(x) / ((x - 1) * (x - 2))


def stirling_rest(t):
    """x (log Gamma(x) - (x - 1/2) log x + x - log(2 pi) / 2), t = 1 / x^2."""
    x = 1 / mpmath.sqrt(t)
    return x * (mpmath.loggamma(x) - (x - mpf(0.5)) * mpmath.log(x) + x - mpmath.log(2 * mpmath.pi) / 2)


def wide_numbers(name, values):
    """Positive numbers by their highest words, the lowest first, and their exponents."""
    rows = []
    for value in values:
        exponent = int(mpmath.floor(mpmath.log(value, 2))) + 1
        whole = int(mpmath.floor(mpmath.ldexp(value, 64 * WORDS - exponent)))
        assert 2 ** (64 * WORDS - 1) <= whole < 2 ** (64 * WORDS)
        rows.append("{%d, {%s}}" % (exponent, ", ".join(f"{whole >> 64 * i & 2**64 - 1:#018x}" for i in range(WORDS))))
    broken(f"Constant {name}[{len(rows)}]", rows)


def main():
    print("// Written by special_tables.py; do not edit.")
    with mpmath.workprec(400):
        broken("Polynomial erf_rows[189]", [row_of(mpmath.erf, mpf(i) / 32, mpf(1) / 64, -76, -19.4) for i in range(4, 193)])
        small = polynomial(lambda t: mpmath.erf(mpmath.sqrt(t)) / mpmath.sqrt(t), 0, mpf(1) / 64, 8, -76)
        pairs("erf_series", [pair(c) for c in small[:2]])
        array("double erf_series_rest[6]", [text(double(c)) for c in small[2:]])
        rows_of_octaves("erfcx_rows", scaled_complement, 1.25, 28, -73, -17.9)
        rows_of_octaves("log_gamma_rows", gamma_quotient, 0.5, 8, -73, -19.5)
        stirling = polynomial(stirling_rest, 0, mpf(1) / 64, 9, -70)
        pairs("stirling_first", [pair(stirling[0])])
        array("double stirling_rest[8]", [text(double(c)) for c in stirling[1:]])
        half_log = mpmath.log(2 * mpmath.pi) / 2
        pairs("stirling_constant", [pair(half_log - 0.5)])
        pairs("reflected_constant", [pair(mpmath.log(mpmath.pi) - half_log - 0.5)])
        pairs("pi_logarithm", [pair(mpmath.log(mpmath.pi))])
    words("two_over_root_pi_words", 1 / mpmath.sqrt(mpmath.pi), WORDS)
    words("half_log_two_pi_words", mpmath.log(2 * mpmath.pi) / 2, WORDS)
    wide_numbers("stirling_terms", [abs(mpmath.bernoulli(2 * k)) / (2 * k * (2 * k - 1)) for k in range(1, BERNOULLI + 1)])


if __name__ == "__main__":
    main()
