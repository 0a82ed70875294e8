"""Modules and functions stay small enough to be read at one sitting."""

from __future__ import annotations

import ast
from statistics import median

import pytest

from source import Function, functions, is_kernel, modules

MODULE_LINES = 400
MEDIAN_LINES = 200
FUNCTION_LINES = 60  # the target is 40
POSITIONAL = 7


def body_lines(function: Function) -> int:
    """Lines of a function without its docstring and without the compiled kernels defined inside it."""
    lines = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        lines -= first.end_lineno - first.lineno + 1
    inner = [f for f in functions(function) if f is not function and is_kernel(f)]
    return lines - sum(f.end_lineno - f.lineno + 1 for f in inner)


def positional(function: Function) -> int:
    """Arguments that can be given by position, self and cls not counted."""
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    return len(names) - (bool(names) and names[0] in {"self", "cls"})


def own_functions():
    """(place, function) of every function of the package that is not a compiled kernel."""
    for module in modules():
        for function in functions(module.tree):
            if not is_kernel(function):
                yield f"{module.place}:{function.lineno} {function.name}", function


def test_no_module_is_long():
    lengths = {module.place: len(module.text.splitlines()) for module in modules()}
    assert {place: n for place, n in lengths.items() if n > MODULE_LINES} == {}


def test_the_median_module_is_short():
    lengths = [len(module.text.splitlines()) for module in modules() if module.path.name != "__init__.py"]
    assert median(lengths) <= MEDIAN_LINES


def test_no_function_is_long():
    assert {place: n for place, f in own_functions() if (n := body_lines(f)) > FUNCTION_LINES} == {}


def test_no_function_takes_many_arguments_by_position():
    assert {place: n for place, f in own_functions() if (n := positional(f)) > POSITIONAL} == {}


def test_no_file_is_named_helpers():
    assert [module.place for module in modules() if module.path.stem in {"utils", "helpers", "misc", "common"}] == []


@pytest.mark.parametrize(
    ("text", "lines", "arguments"),
    [
        ("def f(self, a, /, b, *, c):\n    return a", 2, 2),
        ('def f():\n    """One.\n\n    Two.\n    """\n    return 1', 2, 0),
        (
            "def f():\n    @njit(cache=True)\n    def kernel(a):\n        a += 1\n        return a\n    return kernel",
            3,
            0,
        ),
    ],
)
def test_what_is_counted(text, lines, arguments):
    """Docstrings do not count; of a kernel inside, only its decorator's line does."""
    function = ast.parse(text).body[0]
    assert (body_lines(function), positional(function)) == (lines, arguments)
