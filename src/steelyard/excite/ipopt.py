"""Local optimiser: IPOPT (Waechter & Biegler 2006) as it comes with CasADi; needs the extra `nlp`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.excite.criteria import Criterion
from steelyard.excite.envelope import Envelope
from steelyard.excite.interior import Schedule
from steelyard.excite.objective import Objective

Array = NDArray[np.float64]
STEPS_AT_ONCE = 4  # times the steps of a schedule: there is one run only, with barrier weights of its own


def descend_ipopt(
    objective: Objective,
    envelope: Envelope,
    x: Array,
    criterion: Criterion,
    *,
    schedule: Schedule,
    watch: Callable[[Array], bool],
) -> Array:
    """A better motion inside its limits; arguments as for `interior.descend`, with its last weight.

    Raises:
        StudyError: the package casadi is not installed.
    """
    try:
        import casadi
    except ImportError:
        raise StudyError(
            "the optimiser ipopt needs a package that is not installed", value="casadi",
            cure="pip install 'steelyard[nlp]', or use another optimiser",
        ) from None  # fmt: skip

    n, m = x.shape

    def inside(at: Array) -> Array:
        return at / np.maximum(1.0, envelope.gauge(at))[:, None]

    def value(flat: Any) -> float:
        at = np.asarray(flat, dtype=np.float64).reshape(n, m)
        return np.nan if watch(inside(at)) else objective.value(at, criterion, barrier=schedule.last)

    def slope(flat: Any) -> Array:
        at = np.asarray(flat, dtype=np.float64).reshape(n, m)
        return objective.evaluate(at, criterion, barrier=schedule.last).gradient.reshape(1, -1)

    variables = casadi.MX.sym("x", n * m)
    function = _callback(casadi, n * m, value, slope)
    rows = casadi.diagcat(*(casadi.DM(block) for block in envelope.rows))
    options = {
        "print_time": False, "error_on_fail": False, "show_eval_warnings": False,
        "ipopt.print_level": 0, "ipopt.sb": "yes",
        "ipopt.hessian_approximation": "limited-memory", "ipopt.limited_memory_max_history": 30,
        "ipopt.max_iter": STEPS_AT_ONCE * schedule.steps, "ipopt.tol": 1e-5,
    }  # fmt: skip
    solver = casadi.nlpsol(
        "design", "ipopt", {"x": variables, "f": function(variables), "g": casadi.mtimes(rows, variables)}, options
    )
    solution = solver(x0=x.ravel(), lbg=-1.0, ubg=1.0)
    found = np.asarray(solution["x"]).reshape(n, m)
    if not np.isfinite(found).all():
        return x
    return inside(found)


def _callback(casadi: Any, size: int, value: Callable[[Any], float], slope: Callable[[Any], Array]) -> Any:
    """The objective as CasADi wants it: its only way to call Python is a class derived from its own."""

    class Slope(casadi.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            casadi.Callback.__init__(self)
            self.construct("slope", {})

        def get_n_in(self) -> int:
            return 2

        def get_n_out(self) -> int:
            return 1

        def get_sparsity_in(self, which: int) -> Any:
            return casadi.Sparsity.dense(size if which == 0 else 1, 1)

        def get_sparsity_out(self, which: int) -> Any:
            return casadi.Sparsity.dense(1, size)

        def eval(self, arguments: Sequence[Any]) -> list[Any]:
            return [slope(arguments[0])]

    class Value(casadi.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            casadi.Callback.__init__(self)
            self.slope = Slope()
            self.construct("value", {})

        def get_sparsity_in(self, which: int) -> Any:
            return casadi.Sparsity.dense(size, 1)

        def get_sparsity_out(self, which: int) -> Any:
            return casadi.Sparsity.dense(1, 1)

        def eval(self, arguments: Sequence[Any]) -> list[Any]:
            return [value(arguments[0])]

        def has_jacobian(self) -> bool:
            return True

        def get_jacobian(self, name: str, inputs: Any, outputs: Any, options: Any) -> Any:
            return self.slope

    return Value()
