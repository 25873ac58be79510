"""Runs of decks: closed forms, the command's files, callbacks, wrong decks."""

import os
import subprocess

import heddle
import numpy as np
import pytest

COHERENT = {
    "grid": {"xmin": -8.0, "xmax": 8.0, "points": 97, "kinetic": "sinc"},
    "potential": {"kind": "harmonic", "omega": 1.0},
    "time": {"step": 0.05, "steps": 40},
    "initial": {"kind": "gaussian", "position": 2.0, "width": 0.5**0.5},
    "propagator": {"kind": "expm", "arithmetic": "emulated"},
    "output": {"every": 4, "states": 3, "state": True},
}


def test_a_coherent_state_swings():
    run = heddle.tdse(COHERENT)
    t = run["/time/t"]
    np.testing.assert_allclose(t, 0.05 * np.arange(41), atol=1e-14)
    np.testing.assert_allclose(run["position"], 2 * np.cos(t), atol=1e-9)
    np.testing.assert_allclose(run["norm"], 1.0, atol=1e-12)
    assert run["/density"].shape == (11, 97) and run["populations"].shape == (41, 3)
    np.testing.assert_allclose(run["/density"], np.abs(run["/psi"]) ** 2, rtol=1e-13)
    assert len(run) == len(list(run)) and run.steps == 40 and abs(run.time - 2.0) < 1e-12
    assert "[grid]" in run.deck and "exp" in run.propagator
    with pytest.raises(KeyError, match="several"):
        run["t"]
    with pytest.raises(KeyError, match="no such array"):
        run["colour"]


def test_settings_dotted_keys_and_files(tmp_path):
    flat = {f"{table}.{key}": value for table, keys in COHERENT.items() for key, value in keys.items()}
    one, other = heddle.tdse(flat, {"time.steps": 4}), heddle.tdse(COHERENT, {"time.steps": 4})
    assert all(one[name].tobytes() == other[name].tobytes() for name in one)
    (tmp_path / "run.toml").write_text(one.deck)
    again = heddle.tdse(tmp_path / "run.toml")
    assert all(one[name].tobytes() == again[name].tobytes() for name in one)


def test_callbacks_and_given_states():
    seen = []

    def callback(step):
        seen.append((step.step, step.time, step.state().shape))
        return step.step == 5

    run = heddle.tdse(COHERENT, callback=callback)
    assert [s[0] for s in seen] == [1, 2, 3, 4, 5] == list(range(1, run.steps + 1)) and seen[0][2] == (97,)
    resumed = heddle.tdse(COHERENT, {"time.steps": 3}, psi=run["/restart/psi"])
    longer = heddle.tdse(COHERENT, {"time.steps": 8})
    assert resumed["/restart/psi"].tobytes() == longer["/restart/psi"].tobytes()
    both = heddle.tdse(COHERENT, {"time.steps": 2}, psi=np.stack([run["/psi"][0], run["/psi"][1]])[:, ::1])
    assert both["norm"].shape == (3, 2)

    def fails(step):
        raise LookupError("in a callback")

    with pytest.raises(LookupError, match="in a callback"):
        heddle.tdse(COHERENT, callback=fails)


def test_pulses_and_progress():
    deck = {**COHERENT, "pulse": [{"envelope": "constant", "amplitude": 0.1, "omega": 1.0, "duration": 5.0},
                                  {"envelope": "constant", "amplitude": 0.2, "omega": 2.0, "duration": 5.0}]}
    seen = []
    run = heddle.tdse(deck, {"time.steps": 5}, progress=seen.append)
    assert seen == [0.2, 0.4, 0.6, 0.8, 1.0] and np.abs(run["field"]).max() > 0

    class Bar:
        total, n = None, 0

        def update(self, by):
            self.n += by

    bar = Bar()
    heddle.tdse(deck, {"time.steps": 5}, progress=bar)
    assert (bar.total, bar.n) == (5, 5)


def test_files_are_those_of_the_command(tmp_path):
    run = heddle.tdse(COHERENT, output=tmp_path / "python.h5")
    digest = heddle.verify(tmp_path / "python.h5")
    assert digest == heddle.verify(tmp_path / "python.h5", tmp_path / "python.h5", expect=digest.upper())
    heddle.tdse(COHERENT, {"initial.position": 1.0}, output=tmp_path / "other.h5")
    with pytest.raises(ValueError, match="differ, first in /density"):
        heddle.verify(tmp_path / "python.h5", tmp_path / "other.h5")
    with pytest.raises(ValueError, match="expected 00"):
        heddle.verify(tmp_path / "python.h5", expect="00")
    with pytest.raises(ValueError, match="none.h5"):
        heddle.verify(tmp_path / "none.h5")
    command = os.environ.get("HEDDLE_COMMAND")
    if not command or not os.path.exists(command):
        pytest.skip("HEDDLE_COMMAND names no command")
    (tmp_path / "run.toml").write_text(run.deck)
    subprocess.run([command, "tdse", tmp_path / "run.toml", "--quiet", "-o", tmp_path / "command.h5"], check=True)
    assert heddle.verify(tmp_path / "command.h5", tmp_path / "python.h5") == digest


def test_wrong_decks(tmp_path):
    with pytest.raises(ValueError, match="unknown key grid.xmim; the nearest known one is grid.xmin"):
        heddle.tdse({"grid": {"xmim": 1.0}})
    with pytest.raises(ValueError, match="grid.xmin is missing"):
        heddle.tdse({})
    with pytest.raises(ValueError, match="--set time.step=-1"):
        heddle.tdse(COHERENT, {"time.step": -1.0})
    with pytest.raises(TypeError, match="expected a table"):
        heddle.tdse({"grid": 3})
    with pytest.raises(TypeError, match="complex"):
        heddle.tdse({"grid": {"xmin": 1j}})
    with pytest.raises(FileNotFoundError):
        heddle.tdse(tmp_path / "none.toml")
    with pytest.raises(ValueError, match="expected a row of 97 points"):
        heddle.tdse(COHERENT, psi=np.ones(5))
    with pytest.raises(ValueError, match="allow_growth=True"):
        heddle.tdse(COHERENT, {"propagator.degree": 1, "time.step": 1.0})
