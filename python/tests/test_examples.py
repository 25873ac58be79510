"""The scripts of python/examples, with small numbers."""

import pathlib
import runpy

import numpy as np
import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


def run(name, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / f"{name}.png"
    result = runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](str(picture), small=True)
    assert picture.read_bytes().startswith(b"\x89PNG")
    return result


def test_gradient(tmp_path):
    pytest.importorskip("torch")
    course, truth, found = run("gradient", tmp_path)
    assert course[-1] < course[0]
    off = ~np.eye(len(truth), dtype=bool)
    assert np.abs(found - truth)[off].max() < np.abs(np.exp(-1.0) - truth)[off].max()


def test_integrator(tmp_path):
    errors = run("integrator", tmp_path)
    assert errors[-1] < 0.5 * errors[0] < 0.1


def test_reproducible(tmp_path):
    errors, alike = run("reproducible", tmp_path)
    assert alike and np.abs(errors).max() >= 1


def test_molecule(tmp_path):
    pytest.importorskip("pyscf")
    distances, ours, theirs = run("molecule", tmp_path)
    assert np.abs(ours - theirs).max() < 1e-9
    assert len(distances) == 4 and ours.argmin() in (0, 1)


def test_surface(tmp_path):
    faces, _ = run("surface", tmp_path)
    assert faces > 100


def test_each_script_is_tested():
    named = {name.removeprefix("test_") for name in globals()}
    assert {path.stem for path in EXAMPLES.glob("*.py")} <= named
