"""The package's source as syntax trees, for the tests that read the code instead of running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "steelyard"
DYNAMIC = frozenset(("importlib.import_module", "import_module", "__import__"))
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One source file: dotted `name`, `path`, `text` and syntax `tree`."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def room(self) -> str:
        """The part of the package it lives in: 'estimate' for steelyard.estimate.robust, '' for the package itself."""
        return self.name.split(".")[1] if "." in self.name else ""

    @property
    def place(self) -> str:
        """The path from the repository's root, for messages."""
        return str(self.path.relative_to(ROOT))


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the package."""
    return tuple(read_module(path) for path in sorted(PACKAGE.rglob("*.py")))


def read_module(path: Path) -> Module:
    parts = list(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    text = path.read_text(encoding="utf-8")
    return Module(".".join(parts), path, text, ast.parse(text, filename=str(path)))


def imports(module: Module) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of every import, also inside functions and for type checkers; relative ones made absolute."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node)
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"
        elif isinstance(node, ast.Call) and _called(node) in DYNAMIC and node.args:
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield node.lineno, name.value


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = module.name if module.path.name == "__init__.py" else module.name.rpartition(".")[0]
    for _ in range(node.level - 1):
        package = package.rpartition(".")[0]
    return f"{package}.{node.module}" if node.module else package


def calls(module: Module) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of every call, e.g. 'open', 'np.loadtxt', 'path.read_text'; '.read_text' on an expression."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            yield node.lineno, _called(node)


def _called(node: ast.Call) -> str:
    parts: list[str] = []
    target: ast.expr = node.func
    while isinstance(target, ast.Attribute):
        parts.append(target.attr)
        target = target.value
    parts.append(target.id if isinstance(target, ast.Name) else "")
    return ".".join(reversed(parts))


def functions(tree: ast.AST) -> Iterator[Function]:
    """Every function and method, nested ones too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def is_kernel(function: Function) -> bool:
    """Whether numba compiles it: decorated by njit or jit. Kernels are unrolled by hand, so size limits do not hold."""
    targets = [d.func if isinstance(d, ast.Call) else d for d in function.decorator_list]
    names = {t.attr if isinstance(t, ast.Attribute) else getattr(t, "id", "") for t in targets}
    return bool(names & {"njit", "jit"})
