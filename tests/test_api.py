"""The public API reads as promised: explained, with every argument named, no silent keywords, and quick to start."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest

import steelyard

NAMES = sorted(steelyard.__all__)
HEAVY = ("numba", "scipy.optimize", "mujoco", "polars", "pinocchio")


def public(name: str) -> object:
    return getattr(steelyard, name)


def test_the_public_names_are_listed_once():
    assert len(NAMES) == len(set(NAMES)) > 0
    assert set(NAMES) <= set(dir(steelyard))


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_a_docstring_of_its_own(name):
    value = public(name)
    if not callable(value):
        pytest.skip("a constant")
    text = inspect.getdoc(value) or ""
    generated = inspect.isclass(value) and text.startswith(f"{value.__name__}(")  # what dataclass writes by itself
    assert text.strip(), name
    assert not generated, name


@pytest.mark.parametrize("name", NAMES)
def test_no_public_name_takes_any_keyword(name):
    value = public(name)
    if not callable(value) or (inspect.isclass(value) and issubclass(value, BaseException)):
        pytest.skip("not a function or a value")
    if getattr(value, "_is_protocol", False):
        pytest.skip("a protocol is never called")
    kinds = {p.kind for p in inspect.signature(value).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds, name


@pytest.mark.parametrize("name", NAMES)
def test_every_argument_of_a_public_function_is_explained(name):
    value = public(name)
    if not inspect.isfunction(value):
        pytest.skip("not a function")
    text = inspect.getdoc(value) or ""
    unexplained = [a for a in inspect.signature(value).parameters if not re.search(rf"\b{re.escape(a)}\b", text)]
    assert unexplained == [], name


def test_the_command_line_starts_without_heavy_packages():
    code = f"import sys, steelyard.cli.main; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
