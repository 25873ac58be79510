#!/usr/bin/env python3
"""Writes tables.inc: constants and tables of the elementary functions, computed by mpmath with 2500 bits.

    src/libm/tables/tables.py > src/libm/tables/tables.inc
"""
import re

import mpmath
from mpmath import mpf

mpmath.mp.prec = 2500
WORDS = 12


def double(x, bits=53):
    """Round to the nearest number of at most `bits` bits."""
    with mpmath.workprec(bits):
        return float(+mpf(x))


def multiple(x, power):
    """Round to the nearest multiple of 2^power."""
    return float(mpmath.ldexp(mpmath.nint(mpmath.ldexp(x, -power)), power))


def text(x):
    return re.sub(r"\.?0*p", "p", x.hex()) if "." in x.hex() else x.hex()


def pair(x, power=None):
    high = double(x) if power is None else multiple(x, power)
    return high, double(x - mpf(high))


def array(name, rows):
    """A constant array; rows are texts, as many in a line as fit."""
    print(f"inline constexpr {name} = {{")
    line = "   "
    for row in rows:
        if len(line) + len(row) + 2 > 118:
            print(line)
            line = "   "
        line += f" {row},"
    print(f"{line}\n}};")


def pairs(name, values):
    array(f"Pair {name}[{len(values)}]", ["{%s, %s}" % (text(high), text(low)) for high, low in values])


def words(name, x, count):
    """The highest `count` words of x in [1/2, 1), the lowest first, truncated."""
    whole = int(mpmath.floor(mpmath.ldexp(x, 64 * count)))
    array(f"Word {name}[{count}]", [f"{whole >> 64 * i & 2**64 - 1:#018x}" for i in range(count)])


def scalar(name, x):
    print(f"inline constexpr double {name} = {text(x)};")


def parts(name, x, lengths):
    """x as the sum of doubles of so many bits, the last one of 53."""
    values = []
    for bits in [*lengths, 53]:
        values.append(double(x, bits))
        x -= mpf(values[-1])
    array(f"double {name}[{len(values)}]", [text(value) for value in values])


def logarithms():
    """For m in [1 + i / 512, 1 + (i + 1) / 512): a factor of 10 bits with |m factor - 1| < 2^-9, exactly 1 at m = 1 and
    1/2 at m = 2, and -log(factor), less log 2 from sqrt 2 on."""
    factors, values = [], []
    for i in range(512):
        centre = 1 + (mpf(i) + 0.5) / 512
        factor = mpf(1) if i == 0 else mpf(multiple(1 / centre, -10))
        upper = i >= 212
        value = -mpmath.log(factor) - (mpmath.log(2) if upper else 0)
        most = max(abs((1 + mpf(i) / 512) * factor - 1), abs((1 + mpf(i + 1) / 512) * factor - 1))
        assert most <= mpf(2) ** -9 and (value == 0 or abs(value) >= most), i
        factors.append(float(factor))
        values.append(pair(value, -42))
    assert factors[0] == 1 and factors[511] == 0.5
    array("float log_factor[512]", [f"{text(factor)}F" for factor in factors])
    pairs("log_value", values)


def main():
    print("// Written by tables.py; do not edit.")
    log_two = mpmath.log(2)
    words("two_over_pi_words", 2 / mpmath.pi, 32)
    words("half_pi_words", mpmath.pi / 4, WORDS)
    words("log_two_words", log_two, WORDS)
    words("log_ten_words", mpmath.log(10) / 4, WORDS)
    pairs("exp_table", [pair(mpf(2) ** (mpf(i) / 128)) for i in range(128)])
    scalar("exp_steps", double(128 / log_two))
    scalar("log_two_per_step", double(log_two / 128))
    parts("log_two_step", log_two / 128, [35])
    scalar("log_two", double(log_two))
    parts("log_two_parts", log_two, [42])
    logarithms()
    pairs("sine_table", [pair(mpmath.sin(i * mpmath.pi / 512) if i else mpf(0)) for i in range(257)])
    scalar("sine_steps", double(512 / mpmath.pi))
    parts("pi_step", mpmath.pi / 512, [33, 33])
    scalar("pi_per_step", double(mpmath.pi / 512))
    parts("pi_step_short", mpmath.pi / 512, [25])
    pairs("pi_step_pair", [pair(mpmath.pi / 512)])
    pairs("atan_table", [pair(mpmath.atan(mpf(i) / 128) if i else mpf(0)) for i in range(129)])
    pairs("half_pi", [pair(mpmath.pi / 2)])
    polynomial, error = mpmath.chebyfit(lambda x: mpmath.asin(mpmath.sqrt(x)) / mpmath.sqrt(x) if x else mpf(1), [0, 0.5], 4, error=True)
    assert error < 0.0004
    array("double rough_arcsine[4]", [text(double(value, 12)) for value in reversed(polynomial)])
    polynomial, error = mpmath.chebyfit(mpmath.cbrt, [1, 2], 5, error=True)
    assert error < mpf(2) ** -13.5
    array("double cbrt_polynomial[5]", [text(double(value)) for value in reversed(polynomial)])
    array("double cbrt_scale[3]", [text(double(mpmath.cbrt(2**i))) for i in range(3)])
    pairs("inverse_log_two", [pair(1 / log_two)])
    pairs("inverse_log_ten", [pair(1 / mpmath.log(10))])
    pairs("log_two_pair", [pair(log_two)])
    scalar("exp10_steps", double(128 * mpmath.log(10, 2)))
    pairs("log_ten_pair", [pair(mpmath.log(10))])


if __name__ == "__main__":
    main()
