"""Imports point down only, foreign packages stay in their rooms, and the layers of values do no input or output."""

from __future__ import annotations

import ast
import sys

import pytest

from source import PACKAGE, Module, calls, imports, modules

LAYERS = {
    0: ("errors", "finding", "units", "suggest", "information", "blas", "version"),
    1: ("robot", "data", "terms", "model", "basis"),
    2: ("preparation", "excite", "estimate", "online", "blackbox", "control", "assess"),
    3: ("formats", "session", "report", "simulate", "cluster"),
    4: ("cli", "testing", "__main__", ""),  # "" is steelyard/__init__.py: the public names, gathered from below
}
LAYER = {room: layer for layer, rooms in LAYERS.items() for room in rooms}

# Where a foreign package may be imported: rooms by name. A new dependency gets a line here, and a reason in its commit.
ANYWHERE = frozenset(LAYER)
FILES = frozenset((*LAYERS[3], *LAYERS[4]))
HOMES = {
    "numpy": ANYWHERE,
    "scipy": ANYWHERE,
    "numba": ANYWHERE,
    "llvmlite": frozenset({"blas"}),  # comes with numba
    "pinocchio": frozenset({"robot"}),
    "coal": frozenset({"robot"}),
    "hppfcl": frozenset({"robot"}),
    "eigenpy": frozenset({"robot"}),
    "lxml": FILES | {"robot"},
    "mujoco": frozenset({"simulate"}),
    "polars": FILES,
    "pydantic": FILES,
    "pydantic_core": FILES,  # comes with pydantic
    "rosbags": FILES,
    "ruamel": FILES,
    "jinja2": FILES,
    "plotly": FILES,
    "dask": frozenset({"cluster"}),
    "distributed": frozenset({"cluster"}),
    "cyclopts": frozenset(LAYERS[4]),
    "rich": frozenset(LAYERS[4]),
    "cma": frozenset({"excite"}),
    "casadi": frozenset({"excite"}),
    "clarabel": frozenset({"estimate"}),
}

# Layers 0 to 2 compute values from values; only robot/ opens model files.
SPEECHLESS = frozenset((*LAYERS[0], *LAYERS[1], *LAYERS[2])) - {"robot"}
IO_MODULES = frozenset(
    {"pathlib", "os", "sys", "io", "shutil", "glob", "tempfile", "fcntl", "subprocess", "socket", "urllib", "http"}
    | {"csv", "sqlite3", "pickle", "logging"}
)
IO_CALLS = frozenset({"open", "print", "input", "breakpoint"})
IO_METHODS = frozenset(
    {"read_text", "write_text", "read_bytes", "write_bytes", "tofile", "fromfile", "loadtxt", "savetxt", "genfromtxt"}
    | {"savez", "savez_compressed"}
)
IO_NUMPY = frozenset({"np.load", "np.save", "numpy.load", "numpy.save", "np.memmap", "numpy.memmap"})


def wrong_imports(module: Module) -> list[str]:
    """What `module` imports and may not, one line each."""
    own = LAYER.get(module.room)
    if own is None:
        return [f"{module.place}: '{module.room}' is in no layer; give it one in LAYERS and in docs/design.md"]
    wrong = []
    for line, name in imports(module):
        parts = name.split(".")
        at = f"{module.place}:{line}: imports {name}"
        if parts[0] == "steelyard":
            # `from steelyard import model` names a room, `from steelyard import Model` the package itself
            room = parts[1] if len(parts) > 1 and parts[1] in LAYER else ""
            if LAYER[room] > own:
                wrong.append(f"{at}: from layer {own} up to layer {LAYER[room]}")
        elif parts[0] in HOMES:
            if module.room not in HOMES[parts[0]]:
                wrong.append(f"{at}: allowed in {', '.join(sorted(HOMES[parts[0]]))} only")
        elif parts[0] not in sys.stdlib_module_names:
            wrong.append(f"{at}: not among the dependencies of this project")
    return wrong


def wrong_io(module: Module) -> list[str]:
    """Input and output in a module that may do none, one line each."""
    if module.room not in SPEECHLESS:
        return []
    found = [(line, f"imports {name}") for line, name in imports(module) if name.split(".")[0] in IO_MODULES]
    for line, name in calls(module):
        if name in IO_CALLS or name in IO_NUMPY or name.rpartition(".")[2] in IO_METHODS:
            found.append((line, f"calls {name}()"))
    return [f"{module.place}:{line}: {what}: files and terminals belong to layers 3 and 4" for line, what in found]


def test_imports_point_down():
    assert [line for module in modules() for line in wrong_imports(module)] == []


def test_layers_of_values_do_no_io():
    assert [line for module in modules() for line in wrong_io(module)] == []


def test_no_module_imports_itself_through_others():
    """Cycles of imports that run when a module is loaded; inside a function or for type checkers one may look back."""
    known = {module.name for module in modules()}
    graph = {module.name: _loaded(module, known) - {module.name} for module in modules()}
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, "import cycle: " + " -> ".join((*path[path.index(name) :], name))
        if name not in done:
            for target in sorted(graph[name]):
                visit(target, (*path, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


def _loaded(module: Module, known: set[str]) -> set[str]:
    """Modules of the package that are loaded with `module`."""
    tree = _OnLoad().visit(ast.parse(module.text))
    names = {name for _, name in imports(Module(module.name, module.path, module.text, tree))}
    return {name if name in known else name.rpartition(".")[0] for name in names} & known


class _OnLoad(ast.NodeTransformer):
    """Drops what does not run when a module is loaded."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return ast.copy_location(ast.Pass(), node)

    def visit_If(self, node: ast.If) -> ast.AST:
        if ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)


def _module(name: str, text: str) -> Module:
    path = PACKAGE.joinpath(*name.split(".")[1:]).with_suffix(".py")
    return Module(name, path, text, ast.parse(text))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("steelyard.terms.viscous", "from steelyard.estimate.result import Estimate"),
        ("steelyard.terms.viscous", "from steelyard import estimate"),
        ("steelyard.terms.viscous", "from ..estimate import result"),
        ("steelyard.estimate.robust", "def f():\n    from steelyard.formats.csv import read_csv"),
        ("steelyard.estimate.robust", "def f():\n    import pinocchio"),
        ("steelyard.estimate.robust", "from steelyard import Model"),
        ("steelyard.formats.csv", "import mujoco"),
        ("steelyard.formats.csv", "import importlib\nimportlib.import_module('pandas')"),
        ("steelyard.report.page", "from matplotlib import pyplot"),
        ("steelyard.novelty.page", "import numpy"),
    ],
)
def test_a_wrong_import_is_found(name, text):
    assert len(wrong_imports(_module(name, text))) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "steelyard.robot.load",
            "import pinocchio\nfrom steelyard.robot import inertia\nfrom ..errors import ModelError",
        ),
        ("steelyard.simulate.mujoco", "def f():\n    import mujoco"),
        ("steelyard.estimate.robust", "from steelyard.model import Model\nimport scipy.optimize, numba"),
        ("steelyard.cli.demo", "import steelyard\nfrom steelyard.simulate.mujoco import simulate\nimport rich.table"),
    ],
)
def test_a_right_import_passes(name, text):
    assert wrong_imports(_module(name, text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    print(x)",
        "def f(x):\n    return open(x)",
        "from pathlib import Path",
        "import numpy as np\ndef f(x):\n    return np.loadtxt(x)",
        "def f(x):\n    return (x / 'a').read_text()",
    ],
)
def test_io_is_found_in_layer_2_and_allowed_in_layer_3(text):
    assert len(wrong_io(_module("steelyard.assess.drift", text))) == 1
    assert wrong_io(_module("steelyard.session.store", text)) == []
