"""The time-dependent Schrödinger equation of one electron in one dimension, from decks."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from . import _core


@dataclass(frozen=True)
class TdseResult(Mapping):
    """What a run of a deck recorded: a mapping of arrays, by the names that they have in a file of `heddle tdse`, or by
    the last part of one: "norm" for "/observables/norm". Observables come before others of the same last part."""

    arrays: dict[str, np.ndarray] = field(repr=False)
    deck: str = field(repr=False)
    """The deck with every key, as TOML."""
    steps: int
    """Steps that were taken."""
    time: float
    """The time that was reached, atomic units."""
    propagator: str
    """How steps were taken, in words."""

    def __getitem__(self, name):
        for full in (name, f"/observables/{name}"):
            if full in self.arrays:
                return self.arrays[full]
        found = [key for key in self.arrays if key.rpartition("/")[2] == name]
        if len(found) != 1:
            raise KeyError(f"{name}: {'several arrays end so: ' + ', '.join(found) if found else 'no such array'}")
        return self.arrays[found[0]]

    def __iter__(self):
        return iter(self.arrays)

    def __len__(self):
        return len(self.arrays)


class TdseStep:
    """A run after a step, as tdse() gives it to a callback."""

    def __init__(self, run):
        self._run = run

    @property
    def step(self):
        """Steps that were taken."""
        return self._run.steps_done

    @property
    def time(self):
        """The time that was reached, atomic units."""
        return self._run.time

    def state(self, k=0):
        """A copy of the wave function psi_k."""
        return np.asarray(self._run.state(k))


def _toml(value):
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        value = float(value)
        return repr(value) if math.isfinite(value) else {math.inf: "inf", -math.inf: "-inf"}.get(value, "nan")
    if isinstance(value, str):
        escaped = (c if c not in '"\\' and c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in value)
        return '"' + "".join(escaped) + '"'
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    raise TypeError(f"tdse: a value of type {type(value).__name__} in the deck; expected a number, a text, a truth value "
                    "or a list")


def _key(name):
    if not isinstance(name, str):
        raise TypeError(f"tdse: a key of type {type(name).__name__} in the deck; expected a text")
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else _toml(name)


def _deck_text(deck):
    """A dict of tables as TOML; [[pulse]] is a list of dicts, and "table.key" may stand for the key of a table."""
    tables = {}
    for name, value in deck.items():
        if isinstance(name, str) and "." in name and not isinstance(value, Mapping):
            table, _, key = name.partition(".")
            tables.setdefault(table, {})[key] = value
        elif isinstance(value, Mapping):
            tables.setdefault(name, {}).update(value)
        elif isinstance(value, (list, tuple)) and all(isinstance(item, Mapping) for item in value):
            tables[name] = list(value)
        else:
            raise TypeError(f"tdse: {name!r} in the deck is a {type(value).__name__}; expected a table: a dict")
    lines = []
    for name, entries in tables.items():
        several = isinstance(entries, list)
        for one in entries if several else [entries]:
            lines.append(f"[[{_key(name)}]]" if several else f"[{_key(name)}]")
            lines.extend(f"{_key(key)} = {_toml(value)}" for key, value in one.items())
    return "\n".join(lines) + "\n"


def tdse(deck, settings=None, *, psi=None, callback=None, progress=None, output=None, tile=0, allow_growth=False):
    """Propagates wave functions as a deck of `heddle tdse` says, on one rank.

    Parameters
    ----------
    deck : dict or path
        Tables of keys, as {"grid": {"xmin": -10.0, ...}, ...} or {"grid.xmin": -10.0, ...}; "pulse" is a list of
        dicts. Or a TOML file. All quantities are in atomic units; docs/site/deck-keys.md has every key.
    settings : dict, optional
        Values that replace some of the deck's, as {"time.steps": 10}.
    psi : (n,) or (m, n) array, optional
        Wave functions to begin with, in place of what the deck's [initial] says.
    callback : callable, optional
        Called with a TdseStep after each step; the run ends early where it returns True.
    progress : callable or bar of tqdm, optional
        Called with the share done, from 0 to 1; or a bar, whose total becomes the number of steps.
    output : path, optional
        A file to write as `heddle tdse` does; whatever the deck says, no other is written.
    tile : int
        Of the products; 0: from the number of points alone.
    allow_growth : bool
        Whether steps that a Taylor series does not bear are taken too.

    Returns
    -------
    TdseResult

    The first call initialises MPI, for this process alone, where nobody did it.

    Examples
    --------
    >>> import heddle
    >>> deck = {"grid": {"xmin": -8.0, "xmax": 8.0, "points": 65, "kinetic": "sinc"},
    ...         "potential": {"kind": "harmonic", "omega": 1.0}, "time": {"step": 0.05, "steps": 20},
    ...         "initial": {"kind": "gaussian", "position": 1.0, "width": 2**-0.5}}
    >>> run = heddle.tdse(deck)
    >>> run.steps, run["norm"].shape, run["/density"].shape
    (20, (21,), (3, 65))
    >>> print(round(run["position"][-1], 3))  # cos 1
    0.54
    """
    changes = [f"{key}={_toml(value)}" for key, value in (settings or {}).items()]
    if isinstance(deck, Mapping):
        text, name = _deck_text(deck), "deck"
    else:
        name = os.fspath(deck)
        with open(name, encoding="utf-8") as file:
            text = file.read()
    if psi is not None:
        psi = np.ascontiguousarray(np.atleast_2d(psi), dtype=np.complex128)
    run = _core.TdseRun(text, name, changes, psi, tile, allow_growth)
    shown = _shown(progress, run.steps)
    while run.steps_done < run.steps:
        run.step()
        shown(run.steps_done)
        if callback is not None and callback(TdseStep(run)):
            break
    if output is not None:
        run.write(os.fspath(output))
    arrays = {key: np.asarray(value) for key, value in run.arrays().items()}
    return TdseResult({key: a.view(a.dtype.str) for key, a in arrays.items()}, run.deck, run.steps_done, run.time,
                      run.propagator)


def _shown(progress, steps):
    if progress is None:
        return lambda done: None
    if hasattr(progress, "update"):
        progress.total = steps
        return lambda done: progress.update(1)
    return lambda done: progress(done / steps)


def verify(*files, expect=None):
    """The SHA-256 of the physics in a file of `heddle tdse` or tdse(): of all arrays but spectra. Of several files, and
    with `expect`, ValueError is raised where they do not have the same, naming the first array that differs.

    Examples
    --------
    >>> import heddle, pathlib, tempfile
    >>> deck = {"grid": {"xmin": -5.0, "xmax": 5.0, "points": 33}, "potential": {"kind": "harmonic"},
    ...         "time": {"steps": 2}, "propagator": {"arithmetic": "emulated"}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "run.h5")
    ...     run = heddle.tdse(deck, output=file)
    ...     len(heddle.verify(file, file))
    64
    """
    if not files:
        raise TypeError("verify: expected a file at least")
    found = [_core.verify(os.fspath(file)) for file in files]
    first = found[0]
    for file, other in zip(files[1:], found[1:]):
        if other["sha256"] != first["sha256"]:
            names = [*first["arrays"], *(name for name in other["arrays"] if name not in first["arrays"])]
            name = next(name for name in names if first["arrays"].get(name) != other["arrays"].get(name))
            raise ValueError(f"{os.fspath(files[0])} and {os.fspath(file)} differ, first in {name}")
    if expect is not None and first["sha256"] != expect.lower():
        raise ValueError(f"{os.fspath(files[0])} has the hash {first['sha256']}; expected {expect}")
    return first["sha256"]
