"""Ways to solve one least-squares problem: time and accuracy, by number of parameters and by condition.

    python benchmarks/solvers.py

7000 rows (1000 samples of seven joints), exact observations; the error is that of the solution, relative. CPU time of
one thread, warm, best of several. `triangle` is what this library keeps: the factor of [Y | tau], made while samples
arrive; `from the triangle` is the solution when the factor is there already.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import time
from collections.abc import Callable

import numpy as np
from scipy import linalg

from steelyard.information import triangle

Array = np.ndarray
ROWS = 7000


def problem(columns: int, condition: float) -> tuple[Array, Array, Array]:
    """A matrix of this condition number, the true parameters, and what they give."""
    rng = np.random.default_rng(columns)
    U = np.linalg.qr(rng.normal(size=(ROWS, columns)))[0]
    V = np.linalg.qr(rng.normal(size=(columns, columns)))[0]
    A = np.ascontiguousarray((U * np.logspace(0.0, -np.log10(condition), columns)) @ V.T)
    truth = rng.normal(size=columns)
    return A, truth, A @ truth


def householder(A: Array, b: Array) -> Array:
    """QR with column pivoting, as ill-conditioned problems want it."""
    Q, R, order = linalg.qr(A, mode="economic", pivoting=True)
    x = np.empty(A.shape[1], dtype=A.dtype)
    x[order] = linalg.solve_triangular(R, Q.T @ b)
    return x


def solved_triangle(R: Array) -> Array:
    """Back substitution in the factor of [Y | tau]."""
    return linalg.solve_triangular(R[:-1, :-1], R[:-1, -1])


SOLVERS: dict[str, Callable[[Array, Array], Array]] = {
    "QR, pivoted": householder,
    "QR, single precision": lambda A, b: householder(A.astype(np.float32), b.astype(np.float32)),
    "SVD": lambda A, b: linalg.lstsq(A, b, lapack_driver="gelsd")[0],
    "normal equations, LDL'": lambda A, b: linalg.solve(A.T @ A, A.T @ b, assume_a="sym"),
    "normal equations, inverse": lambda A, b: np.linalg.inv(A.T @ A) @ (A.T @ b),
    "triangle": lambda A, b: solved_triangle(triangle(np.column_stack([A, b]))),
}


def best(run: Callable[[], object], times: int = 7) -> float:
    """Least CPU time of this thread [s]."""
    run()
    spent = []
    for _ in range(times):
        started = time.thread_time()
        run()
        spent.append(time.thread_time() - started)
    return min(spent)


def main() -> None:
    """The table."""
    sizes, conditions = (10, 20, 50, 100), (1e2, 1e6)
    print(f"{ROWS} rows: ms for p = {', '.join(map(str, sizes))}; error for p = 50 at condition 1e2, 1e6")
    given = {p: problem(p, 1e2) for p in sizes}
    hard = {c: problem(50, c) for c in conditions}
    for name, solve in SOLVERS.items():
        spent = [1e3 * best(lambda p=p, solve=solve: solve(given[p][0], given[p][2])) for p in sizes]
        wrong = [np.linalg.norm(solve(A, b) - x) / np.linalg.norm(x) for A, x, b in hard.values()]
        print(f"  {name:26}" + "".join(f"{ms:8.2f}" for ms in spent) + "".join(f"{e:10.0e}" for e in wrong))
    factors = [triangle(np.column_stack(given[p][::2])) for p in sizes]
    spent = [1e3 * best(lambda R=R: solved_triangle(R)) for R in factors]
    print(f"  {'from the triangle':26}" + "".join(f"{ms:8.2f}" for ms in spent))


if __name__ == "__main__":
    main()
