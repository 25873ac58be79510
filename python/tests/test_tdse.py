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


def test_shipped_decks_have_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    short = {"time.steps": 2}
    run, same = heddle.tdse("harmonic-coherent", short), heddle.tdse("harmonic-coherent.toml", short)
    assert run.steps == 2 and all(run[name].tobytes() == same[name].tobytes() for name in run)
    assert not os.listdir(tmp_path)  # a deck's output.file is the command's
    # A file of that name goes first.
    (tmp_path / "harmonic-coherent").write_text(heddle.tdse(COHERENT, short).deck)
    assert heddle.tdse("harmonic-coherent", short)["/density"].shape[1] == 97
    for unknown in ("nowhere", "nowhere.toml"):
        with pytest.raises(FileNotFoundError, match=rf"shipped decks drift, h2plus, h2plus-laser.*: '{unknown}'"):
            heddle.tdse(unknown)


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
    for wrong in ("one", -1, 1):
        with pytest.raises((TypeError, ValueError), match=r"state: k = |state 1 of 1"):
            heddle.tdse(COHERENT, callback=lambda step: step.state(wrong))


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
    with pytest.raises(ValueError, match="expect = 00"):
        heddle.verify(tmp_path / "python.h5", expect="00")
    with pytest.raises(ValueError, match="none.h5"):
        heddle.verify(tmp_path / "none.h5")
    command = os.environ.get("HEDDLE_COMMAND")
    if not command or not os.path.exists(command):
        pytest.skip("HEDDLE_COMMAND names no command")
    (tmp_path / "run.toml").write_text(run.deck)
    subprocess.run([command, "tdse", tmp_path / "run.toml", "--quiet", "-o", tmp_path / "command.h5"], check=True)
    assert heddle.verify(tmp_path / "command.h5", tmp_path / "python.h5") == digest


def test_files_are_replaced_on_request_alone(tmp_path):
    file = tmp_path / "run.h5"
    file.write_bytes(b"a result")
    seen = []
    for output in (file, str(file)):
        with pytest.raises(FileExistsError) as refusal:
            heddle.tdse(COHERENT, output=output, progress=seen.append)
        assert str(refusal.value) == f"tdse: {file} is there already; overwrite=True replaces it, output= names another file"
    assert not seen and file.read_bytes() == b"a result"
    heddle.tdse(COHERENT, {"time.steps": 2}, output=file, overwrite=True)
    assert len(heddle.verify(file)) == 64
    heddle.tdse(COHERENT, {"time.steps": 2}, output=tmp_path / "other.h5", overwrite=True)
    assert heddle.verify(file, tmp_path / "other.h5")


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


KICKED = {
    "grid": {"xmin": -8.0, "xmax": 8.0, "points": 97, "kinetic": "sinc"},
    "potential": {"kind": "harmonic", "omega": 1.0},
    "time": {"step": 0.1, "steps": 36},
    "output": {"states": 0},
}


def test_a_kick_is_seen_and_an_error_known():
    kick = {"envelope": "sine-squared", "amplitude": 5.0, "omega": 1e-3, "duration": 0.02, "centre": 2.0}
    run = heddle.tdse({**KICKED, "pulse": [kick]})
    exact = -0.05 * np.sin(1.6)
    assert abs(run["position"][-1] - exact) < 1e-5
    assert run["/errors/position"][-1] < 1e-5 and run.notes == ()
    with pytest.warns(RuntimeWarning, match="the envelope of the pulse lasts 0.2 steps"):
        blind = heddle.tdse({**KICKED, "pulse": [kick], "propagator": {"kind": "chebyshev"}})
    assert abs(blind["position"][-1]) < 1e-9 and blind["/errors/psi"][-1] > 0.01
    assert blind["/errors/position"][-1] > 0.03


def test_dotted_keys_of_pulses():
    kick = {"amplitude": 1.0, "omega": 1.0, "duration": 2.0}
    one = heddle.tdse({**KICKED, "pulse": [kick, {**kick, "centre": 3.0}]})
    both = heddle.tdse({**KICKED, "pulse": [kick], **{f"pulse.2.{k}": v for k, v in kick.items()}, "pulse.2.centre": 3.0})
    assert one["position"].tobytes() == both["position"].tobytes()
    with pytest.raises(ValueError, match="'pulse.1.amplitude' is in the deck twice"):
        heddle.tdse({**KICKED, "pulse": [kick], "pulse.1.amplitude": 2.0})
    with pytest.raises(ValueError, match="expected a number from 1 to 2"):
        heddle.tdse({**KICKED, "pulse": [kick], "pulse.3.amplitude": 2.0})
    with pytest.raises(TypeError, match="'pulse' in the deck is a dict"):
        heddle.tdse({**KICKED, "pulse": kick, "pulse.1.amplitude": 2.0})


def test_values_without_dimensions_and_keys_of_settings():
    one = heddle.tdse(KICKED, {"time.steps": np.array(2), "time.step": np.array(0.1)})
    assert one.steps == 2
    assert heddle.tdse({**KICKED, "time": {"step": np.array(0.1), "steps": np.array(3)}}).steps == 3
    for key in ("time.steps=3 #", "time.steps = 3\n[x]", "", "time steps"):
        with pytest.raises(ValueError, match="expected table.key"):
            heddle.tdse(KICKED, {key: 1})
    with pytest.raises(TypeError, match="a key of type int"):
        heddle.tdse(KICKED, {1: 1})


def test_psi_of_extreme_size():
    psi = np.exp(-0.5 * (np.linspace(-8, 8, 97) - 1.0) ** 2).astype(complex)
    plain, small = (heddle.tdse(KICKED, {"time.steps": 3}, psi=psi * factor) for factor in (1.0, 1e-200))
    np.testing.assert_allclose(small["norm"], plain["norm"] * 1e-200, rtol=1e-12)
    np.testing.assert_allclose(small["position"], plain["position"], atol=1e-12)
    for factor in (0.0, 1e-300, 1e200):
        with pytest.raises(ValueError, match="its largest value is"):
            heddle.tdse(KICKED, {"time.steps": 1}, psi=psi * factor)
    with pytest.raises(ValueError, match="masked"):
        heddle.tdse(KICKED, psi=np.ma.masked_array(psi, psi.real > 0.5))
