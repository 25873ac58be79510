"""Words to the caller: errors that name the function, the option, its value and what is expected; warnings."""

from __future__ import annotations

import functools
import inspect
import numbers
import operator
import os
import re
import sys
import warnings

import numpy as np

from . import _core

INT = 2**31 - 1


def described(name, value):
    """Return "name = value" for numbers, truth values and short texts, and otherwise the type of the value."""
    if value is None or isinstance(value, (bool, str, bytes, numbers.Number)):
        # repr() refuses integers of more than 4300 digits.
        long_integer = isinstance(value, int) and value.bit_length() > 200
        text = f"an integer of {value.bit_length()} bits" if long_integer else repr(value)
        if len(text) <= 80:
            return f"{name} = {text}"
    return f"{name} is of type {type(value).__name__}"


def refusal(function, name, value, expected, error=TypeError):
    return error(f"{function}: {described(name, value)}; expected {expected}")


def warn(category, text):
    """Issue a warning at the line that called the package."""
    depth, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        depth, frame = depth + 1, frame.f_back
    warnings.warn(text, category, stacklevel=depth)


def whole(least=None, most=2**63 - 1):
    """Return a conversion of whole numbers in a range to int."""

    def taken(function, name, value):
        try:
            number = operator.index(value)
        except TypeError:
            raise refusal(function, name, value, "a whole number") from None
        if least is not None and number < least:
            raise refusal(function, name, value, f"at least {least}", ValueError)
        if number > most:
            raise refusal(function, name, value, f"at most {most}", ValueError)
        return number

    return taken


def within(least, most):
    """Return a conversion of whole numbers that names both ends of a range."""

    def taken(function, name, value):
        found = whole(most=2**200)(function, name, value)
        if not least <= found <= most:
            raise refusal(function, name, value, f"{least} to {most}", ValueError)
        return found

    return taken


def number(of):
    """Return a conversion of finite numbers to float or complex."""

    def taken(function, name, value):
        try:
            if isinstance(value, (str, bytes)) or (of is float and isinstance(value, (complex, np.complexfloating))):
                raise TypeError
            found = of(value)
        except (TypeError, ValueError, OverflowError):
            raise refusal(function, name, value, "a number") from None
        if found - found != 0:  # infinite or NaN
            raise refusal(function, name, value, "a finite number", ValueError)
        return found

    return taken


def tolerance(function, name, value):
    found = real(function, name, value)
    if found < 0:
        raise refusal(function, name, value, "a number of at least 0", ValueError)
    return found


def flag(function, name, value):
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, np.integer)) and value in (0, 1)):
        return bool(value)
    raise refusal(function, name, value, "True or False")


def text(function, name, value):
    if not isinstance(value, str):
        raise refusal(function, name, value, "a string")
    if not value.isprintable() or len(value) > 80:
        raise refusal(function, name, value, "one of the names in its documentation", ValueError)
    return value


def path(function, name, value):
    try:
        found = os.fsdecode(value)
        found.encode()
    except (TypeError, UnicodeEncodeError):
        raise refusal(function, name, value, "the path of a file") from None
    return found


def one_of(*known, expected):
    """Return a conversion that takes these values alone."""

    def taken(function, name, value):
        if (value is None or isinstance(value, (str, numbers.Number))) and value in known:
            return value
        raise refusal(function, name, value, expected, ValueError)

    return taken


def axes(function, name, value):
    several = value if isinstance(value, (tuple, list)) else (value,)
    return tuple(whole(-INT, INT)(function, name, axis) for axis in several)


def optional(kind):
    """Return a conversion that takes None, too."""

    def taken(function, name, value):
        return None if value is None else kind(function, name, value)

    return taken


def watcher(function, name, value):
    if callable(value) or (hasattr(value, "update") and not isinstance(value, (dict, set))):
        return value
    raise refusal(function, name, value, "a function or a bar of tqdm")


def function_of_user(function, name, value):
    if callable(value):
        return value
    raise refusal(function, name, value, "a function")


def mapping(function, name, value):
    if hasattr(value, "items"):
        return value
    raise refusal(function, name, value, "a dict")


real = number(float)

# An option of one name is of one kind in every function. It may be None if that is its default.
KINDS = {
    **dict.fromkeys(("method", "structure", "accuracy", "arithmetic", "algorithm", "hash", "placement", "expect"), text),
    **dict.fromkeys(("tile", "memory", "size", "num"), whole(0)),
    **dict.fromkeys(("block", "group", "moduli", "refinements", "sweeps", "dimension", "device"), whole(0, INT)),
    "threads": whole(1, INT),
    "degree": within(1, _core.most_taylor_degree),
    **dict.fromkeys(("overwrite", "overwrite_a", "overwrite_b", "permute_l", "p_indices", "upper", "lower", "eigvals_only",
                     "equilibrate", "certificate", "correctly_rounded", "reproducible", "balance", "residual",
                     "compute_expm", "adjoint", "conjugate", "keepdims", "allow_growth", "full_output", "endpoint"), flag),
    **dict.fromkeys(("start", "stop"), real),
    "tolerance": tolerance,
    "time": number(complex),
    "axis": axes,
    "progress": watcher,
    "callback": function_of_user,
    "settings": mapping,
    "output": path,
}


# The names by which errors of the C++ library begin, where they are no names of this package.
_LIBRARY = re.compile(r"(?:(?:exact|eigen)(?:::\w+)?|expm_action|expm_batched|phi_action|cholesky_solve|determinant|inverse|gemm|"
                      r"(?:solve|inverse|determinant)_batched): ")
# An unknown name of a method or the like: its kind and the name, or the name and its kind, and the known ones.
_UNKNOWN = (re.compile(r"(?P<kind>[\w ]+) (?P<quote>['\"])(?P<value>.*)(?P=quote)[;:] expected (?P<known>.*)"),
            re.compile(r"(?P<quote>['\"])(?P<value>.*)(?P=quote) is no (?P<kind>[\w ]+); expected (?P<known>.*)"))
# Messages about elements of lists.
_ELEMENTS = ((re.compile(r"offset (\d+) is (-?\d+);"), r"offsets[\1] = \2;"),
             (re.compile(r"key (-?\d+) of element (\d+), counted from 0; \d+ sums take keys from (.*)"), r"keys[\2] = \1; expected \3"))
_labels = set()


def _in_words_of(label, parameters, text):
    """Return the text of an error of the C++ library in words of the caller of a function."""
    if text.startswith((f"{label}: ", "heddle ")):  # the latter is about the whole package
        return text
    for form in _UNKNOWN:
        unknown = form.fullmatch(text)
        options = [] if unknown is None else [word for word in unknown["kind"].split() if word in parameters]
        if options:
            return f"{label}: {options[-1]} = {unknown['value']!r}; expected {unknown['known']}"
    found = _LIBRARY.match(text)
    head, _, rest = text.partition(": ")
    if found is not None:
        text = text[found.end():]
    elif head in _labels:
        text = rest
    for form, words in _ELEMENTS:
        text = form.sub(words, text)
    for letter in "AB":
        if letter.lower() in parameters and letter not in parameters:
            text = re.sub(rf"\b{letter}\b", letter.lower(), text)
    return f"{label}: {text}"


def checked(**own):
    """Return a decorator that converts options before a call, and puts errors of the C++ library into the caller's words.
    Options are found by their names in `own` and in KINDS."""

    def decorate(function):
        label = ("exact." if function.__module__.endswith(".exact") else "") + function.__name__
        kinds, positions = {}, []
        parameters = frozenset(inspect.signature(function).parameters)
        _labels.add(label)
        for place, (name, parameter) in enumerate(inspect.signature(function).parameters.items()):
            kind = own.get(name, KINDS.get(name))
            if kind is None:
                continue
            kinds[name] = kind, parameter.default
            if parameter.kind is not parameter.KEYWORD_ONLY:
                positions.append((place, name))

        def taken(name, value):
            kind, default = kinds[name]
            return None if value is None and default is None else kind(label, name, value)

        @functools.wraps(function)
        def call(*arguments, **given):
            for name in given:
                if name in kinds:
                    given[name] = taken(name, given[name])
            if positions and len(arguments) > positions[0][0]:
                arguments = list(arguments)
                for place, name in positions:
                    if place < len(arguments):
                        arguments[place] = taken(name, arguments[place])
            try:
                return function(*arguments, **given)
            except (ValueError, RuntimeError, OSError, MemoryError) as error:
                if not hasattr(error, "of_heddle"):
                    raise
                text = _in_words_of(label, parameters, str(error))
                if text == str(error):
                    raise
                renamed = type(error)(text)
                renamed.of_heddle = True
                raise renamed from None

        return call

    return decorate
