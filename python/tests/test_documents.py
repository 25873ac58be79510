"""Docstrings exist, and their examples run; reports have the fields that the library returns."""

import ast
import dataclasses
import doctest
import inspect
import pathlib

import heddle
import pytest
from conftest import GUIDE


CLASSES = ("heddle.Communicator", "heddle.DistributedMatrix", "heddle.IllConditionedWarning", "heddle.TdseStep")


def public():
    for module in (heddle, heddle.exact):
        for name in sorted(set(module.__all__) - {"exact"}):
            yield f"{module.__name__}.{name}", getattr(module, name)


@pytest.mark.parametrize("name, thing", public())
def test_docstring(name, thing):
    assert thing.__doc__ and not thing.__doc__.startswith(thing.__name__ + "("), name
    if inspect.isclass(thing) and dataclasses.is_dataclass(thing):
        return
    examples = doctest.DocTestFinder(recurse=False).find(thing, name, globs={})
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for example in examples:
        runner.run(example)
    failed, tried = runner.summarize(verbose=False)
    assert failed == 0
    assert tried or name in ("heddle.start", "heddle.TdseStep"), f"{name} has no example"


@pytest.mark.parametrize("name, thing", public())
def test_reports_are_frozen_dataclasses(name, thing):
    if inspect.isclass(thing) and name not in CLASSES:
        assert dataclasses.is_dataclass(thing) and thing.__dataclass_params__.frozen


def stub_of(module):
    path = pathlib.Path(inspect.getsourcefile(module)).with_suffix(".pyi")
    return ast.parse(path.read_text())


@pytest.mark.parametrize("module", [heddle, heddle.exact], ids=["heddle", "exact"])
def test_stubs_are_what_is_there(module):
    stub = {node.name: node for node in stub_of(module).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert set(stub) == {name for name in module.__all__ if not inspect.ismodule(getattr(module, name))}
    for name, node in stub.items():
        thing = getattr(module, name)
        if isinstance(node, ast.ClassDef):
            if dataclasses.is_dataclass(thing):
                declared = [field.name for field in dataclasses.fields(thing)]
                own = [part.target.id for part in node.body if isinstance(part, ast.AnnAssign)]
                assert declared[-len(own):] == own, name
            continue
        arguments = node.args
        several = [] if arguments.vararg is None else [arguments.vararg]
        names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *several, *arguments.kwonlyargs)]
        defaults = [ast.literal_eval(d) for d in (*arguments.defaults, *arguments.kw_defaults) if d is not None]
        there = inspect.signature(thing).parameters.values()
        assert names == [p.name for p in there], name
        assert defaults == [p.default for p in there if p.default is not inspect.Parameter.empty], name
        assert len(arguments.posonlyargs) == sum(p.kind is p.POSITIONAL_ONLY for p in there), name


def test_the_guide():
    test = doctest.DocTestParser().get_doctest(GUIDE.read_text(), {}, "guide", str(GUIDE), 0)
    assert len(test.examples) > 20
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test)
    assert runner.summarize(verbose=False)[0] == 0
