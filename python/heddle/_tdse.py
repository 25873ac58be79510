"""The time-dependent Schrödinger equation of one electron in one dimension, described by decks."""

from __future__ import annotations

import errno
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from . import _core
from ._arrays import operands
from ._options import checked, path, refusal, warn, whole


@dataclass(frozen=True)
class TdseResult(Mapping):
    """Record of a run: a mapping from names to arrays. A name is that in a file of `heddle tdse` or its last part:
    "norm" for "/observables/norm". Observables take precedence over other arrays with the same last part."""

    arrays: dict[str, np.ndarray] = field(repr=False)
    deck: str = field(repr=False)
    """Deck with every key, as TOML."""
    steps: int
    """Number of steps taken."""
    time: float
    """Time reached, in atomic units."""
    propagator: str
    """Description of the propagator."""
    notes: tuple[str, ...] = ()
    """Possible causes of wrong results: steps that do not follow a pulse, a grid that does not resolve psi."""

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
    """State of a run after a step, which tdse() passes to the callback."""

    def __init__(self, run):
        self._run = run

    @property
    def step(self):
        """Number of steps taken."""
        return self._run.steps_done

    @property
    def time(self):
        """Time reached, in atomic units."""
        return self._run.time

    @checked(k=whole(0))
    def state(self, k=0):
        """Return a copy of the wave function psi_k."""
        return np.asarray(self._run.state(k))


def _toml(value):
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
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


def _set_of_pulse(pulses, name, value):
    """Set the key of one pulse by its full name, as "pulse.2.amplitude"; "pulse.amplitude" is a key of the first."""
    if not isinstance(pulses, list):
        raise TypeError(f"tdse: 'pulse' in the deck is a {type(pulses).__name__} beside {name!r}; expected a list of dicts")
    found = re.fullmatch(r"pulse\.(?:([0-9]+)\.)?([^.]+)", name)
    if found is None:
        raise ValueError(f"tdse: {name!r} in the deck; expected pulse.NUMBER.KEY, as 'pulse.1.amplitude'")
    number = int(found[1] or 1)
    if not 1 <= number <= len(pulses) + 1:
        raise ValueError(f"tdse: {name!r} in the deck, where there are {len(pulses)} pulses before it; expected a number "
                         f"from 1 to {len(pulses) + 1}")
    if number > len(pulses):
        pulses.append({})
    if found[2] in pulses[number - 1]:
        raise ValueError(f"tdse: {name!r} is in the deck twice, also as {found[2]!r} of pulse {number}")
    pulses[number - 1][found[2]] = value


def _deck_text(deck):
    """Return a dict of tables as TOML. [[pulse]] is a list of dicts; "table.key" is accepted for the key of a table,
    and "pulse.1.key" for that of a pulse."""
    tables = {}
    of_pulses = {}
    for name, value in deck.items():
        if isinstance(name, str) and name.startswith("pulse.") and not isinstance(value, Mapping):
            of_pulses[name] = value
        elif isinstance(name, str) and "." in name and not isinstance(value, Mapping):
            table, _, key = name.partition(".")
            tables.setdefault(table, {})[key] = value
        elif isinstance(value, Mapping):
            tables.setdefault(name, {}).update(value)
        elif isinstance(value, (list, tuple)) and all(isinstance(item, Mapping) for item in value):
            tables[name] = [dict(item) for item in value]
        else:
            raise TypeError(f"tdse: {name!r} in the deck is a {type(value).__name__}; expected a table: a dict")
    # In the order of their numbers, as each pulse is appended after its predecessor.
    for name in sorted(of_pulses, key=lambda name: [int(part) for part in name.split(".") if part.isdecimal()]):
        _set_of_pulse(tables.setdefault("pulse", []), name, of_pulses[name])
    lines = []
    for name, entries in tables.items():
        several = isinstance(entries, list)
        for one in entries if several else [entries]:
            lines.append(f"[[{_key(name)}]]" if several else f"[{_key(name)}]")
            lines.extend(f"{_key(key)} = {_toml(value)}" for key, value in one.items())
    return "\n".join(lines) + "\n"


def _deck_path(given):
    """Return the path of a deck given by path or by the name of a shipped deck, as `heddle tdse` takes them."""
    if os.path.exists(given) or os.path.dirname(given):
        return given
    folder = os.path.join(os.path.dirname(__file__), "_command", "share", "heddle", "decks")
    shipped = sorted(name.removesuffix(".toml") for name in os.listdir(folder)) if os.path.isdir(folder) else []
    if given.removesuffix(".toml") in shipped:
        return os.path.join(folder, given.removesuffix(".toml") + ".toml")
    raise FileNotFoundError(errno.ENOENT, f"tdse: deck is no file and none of the shipped decks {', '.join(shipped)}", given)


def _setting(key, value):
    if not isinstance(key, str):
        raise TypeError(f"tdse: a key of type {type(key).__name__} in settings; expected a text")
    if re.fullmatch(r"[A-Za-z0-9_.-]+", key) is None:
        raise ValueError(f"tdse: the key {key!r} in settings; expected table.key")
    return f"{key}={_toml(value)}"


@checked()
def tdse(deck, settings=None, *, psi=None, callback=None, progress=None, output=None, overwrite=False, tile=0,
         allow_growth=False):
    """Propagate wave functions by a deck of `heddle tdse`, on one rank.

    Parameters
    ----------
    deck : dict or path
        Tables of keys, as {"grid": {"xmin": -10.0, ...}, ...} or {"grid.xmin": -10.0, ...}; the path of a TOML
        file; or, if there is no such file, the name of a deck that comes with the package, as "h2plus". "pulse" is a
        list of dicts; "pulse.1.amplitude" sets a key of the first one, with or without the list. All
        quantities are in atomic units; docs/site/deck-keys.md has every key.
    settings : dict, optional
        Values that replace those of the deck, as {"time.steps": 10}.
    psi : (n,) or (m, n) array, optional
        Initial wave functions, which replace [initial] of the deck.
    callback : callable, optional
        Function called with a TdseStep after each step; the run ends early if it returns True.
    progress : callable or bar of tqdm, optional
        Function called with the share done, from 0 to 1; or a bar, whose total becomes the number of steps.
    output : path, optional
        File to write, as by `heddle tdse`; no other file is written, whatever the deck says.
    overwrite : bool
        Whether to replace `output` if it exists. Otherwise it is refused before the run.
    tile : int
        Tile size of the products; 0: chosen by the number of points alone.
    allow_growth : bool
        Whether to take steps in which the Taylor series makes psi grow, too.

    Returns
    -------
    TdseResult

    The first call initializes MPI for this process alone, unless it is initialized.

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
    changes = [_setting(key, value) for key, value in (settings or {}).items()]
    if output is not None and not overwrite and os.path.isfile(output):
        raise FileExistsError(f"tdse: {output} is there already; overwrite=True replaces it, output= names another file")
    if isinstance(deck, Mapping):
        text, name = _deck_text(deck), "deck"
    else:
        if not isinstance(deck, (str, os.PathLike)):
            raise refusal("tdse", "deck", deck, "a dict, the path of a file or the name of a shipped deck")
        name = _deck_path(path("tdse", "deck", deck))
        with open(name, encoding="utf-8") as file:
            text = file.read()
    if psi is not None:
        kind, _, (psi,) = operands("tdse", psi=psi)
        psi = np.ascontiguousarray(np.atleast_2d(kind.to_host(psi)), dtype=np.complex128)
    run = _core.TdseRun(text, name, changes, psi, tile, allow_growth)
    shown = _shown(progress, run.steps)
    while run.steps_done < run.steps:
        run.step()
        shown(run.steps_done)
        if callback is not None and callback(TdseStep(run)):
            break
    notes = tuple(run.notes())
    for note in notes:
        warn(RuntimeWarning, f"tdse: {note}")
    if output is not None:
        run.write(output)
    arrays = {key: np.asarray(value) for key, value in run.arrays().items()}
    return TdseResult({key: a.view(a.dtype.str) for key, a in arrays.items()}, run.deck, run.steps_done, run.time,
                      run.propagator, notes)


def _shown(progress, steps):
    if progress is None:
        return lambda done: None
    if hasattr(progress, "update"):
        progress.total = steps
        return lambda done: progress.update(1)
    return lambda done: progress(done / steps)


@checked()
def verify(*files, expect=None):
    """Return the SHA-256 of the physics in a file of `heddle tdse` or tdse(): of all arrays but spectra and errors.

    Raise ValueError if several files have different hashes, naming the first array that differs, or if the hash is not
    `expect`.

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
    files = [path("verify", "a file", file) for file in files]
    found = [_core.verify(file) for file in files]
    first = found[0]
    for file, other in zip(files[1:], found[1:]):
        if other["sha256"] != first["sha256"]:
            names = [*first["arrays"], *(name for name in other["arrays"] if name not in first["arrays"])]
            name = next(name for name in names if first["arrays"].get(name) != other["arrays"].get(name))
            raise ValueError(f"verify: {files[0]} and {file} differ, first in {name}")
    if expect is not None and first["sha256"] != expect.lower():
        raise ValueError(f"verify: {files[0]} has the hash {first['sha256']}; expect = {expect}")
    return first["sha256"]
