"""The information matrix of a motion, and what its change says about the motion.

`G = sum_j w_j Y_j' Y_j + G_0` over the rows Y_j of each joint, with w_j = 1 / sigma_j^2 and G_0 what is known already.
For a criterion with `d phi = <H, dG>`, H symmetric, the derivative by the motion is one call of the adjoint with the
weights `2 w_j H Y_j'`. The panels of the regressor stay in place between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.excite.features import Feature, States, feature_of
from steelyard.model import Layout, Model
from steelyard.robot.adjoint import Gradient, record, reverse, tape
from steelyard.robot.kernel import BLOCK, SPARE
from steelyard.robot.regressor import NO_MASK
from steelyard.terms.rigid_body import RigidBody

Array = NDArray[np.float64]


@numba.njit(cache=True, nogil=True)
def _gather(grams: Any, at: Any, support: Any, start: Any, weights: Any, G: Any) -> None:
    """G += sum_j w_j gram_j, each in the places of its columns."""
    for j in range(weights.shape[0]):
        first, count = start[j], start[j + 1] - start[j]
        for r in range(count):
            row = support[first + r]
            for c in range(count):
                G[row, support[first + c]] += weights[j] * grams[at[j] + r * count + c]


@numba.njit(cache=True, nogil=True)
def _spread(H: Any, at: Any, support: Any, start: Any, weights: Any, parts: Any) -> None:
    """parts_j = 2 w_j H restricted to the columns of joint j."""
    for j in range(weights.shape[0]):
        first, count = start[j], start[j + 1] - start[j]
        for r in range(count):
            row = support[first + r]
            for c in range(count):
                parts[at[j] + r * count + c] = 2.0 * weights[j] * H[row, support[first + c]]


class MotionInformation:
    """Evaluates G for motions of a fixed number of samples; `pull` differentiates at the last one evaluated."""

    def __init__(
        self,
        model: Model,
        names: Sequence[str],
        samples: int,
        *,
        deviations: Array | None = None,
        prior: Array | None = None,
    ) -> None:
        """Prepare the buffers.

        Args:
            model: robot and terms.
            names: the b columns of G, e.g. those of a ParameterBasis.
            samples: K.
            deviations: (n,) torque noise of each joint [N m or N]; one for all where not given.
            prior: (b, b) information G_0 that is there before the motion.

        Raises:
            StudyError: an unknown column, deviations that are not positive, a prior of another size.
            ModelError: the robot has a floating base.
        """
        robot = model.robot
        n, b = len(robot.joint_names), len(names)
        sigma = np.ones(n) if deviations is None else np.asarray(deviations, dtype=np.float64)
        if sigma.shape != (n,) or not np.all((sigma > 0.0) & np.isfinite(sigma)):
            raise StudyError("one positive torque deviation a joint is needed [N m]", value=sigma.tolist())
        self._prior = np.zeros((b, b)) if prior is None else np.asarray(prior, dtype=np.float64)
        if self._prior.shape != (b, b):
            raise StudyError("the prior must be one row and column a parameter", value=self._prior.shape)
        layout = Layout.of(model, names)
        self.names, self.support, self._weights = layout.names, layout.support, sigma**-2
        self._tree, self._plan, self._K = robot.tree, layout.plan._replace(extra_slot=NONE, extra_row=NONE), samples
        self._tape = tape(robot.tree, samples)
        self._no_rows = np.zeros((0, samples))
        self._ld = -(-samples // BLOCK) * BLOCK + 8  # off a power of two: such lines would share cache sets
        lines = int(layout.plan.start[-1]) + SPARE
        self._panel, self._pull = np.zeros((lines, self._ld)), np.zeros((lines, self._ld))
        self._flat, self._flat_pull = self._panel.reshape(-1), self._pull.reshape(-1)
        self._features = _features(model, layout)
        sizes = np.array([len(s) for s in layout.support], dtype=np.int64)
        self._columns = np.array([c for s in layout.support for c in s], dtype=np.int64)
        self._start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._at = np.concatenate([[0], np.cumsum(sizes**2)]).astype(np.int64)
        self._grams, self._parts = np.zeros(int(self._at[-1])), np.zeros(int(self._at[-1]))
        self._G = np.zeros((b, b))
        cut = [slice(int(first), int(first) + int(c)) for first, c in zip(layout.plan.start, sizes, strict=False)]
        self._rows = [self._panel[c, :samples] for c in cut]
        self._pulls = [self._pull[c, :samples] for c in cut]
        self._gram_of = [self._square(self._grams, j) for j in range(n)]
        self._part_of = [self._square(self._parts, j) for j in range(n)]
        self._states = States(*(np.zeros((samples, n)) for _ in range(3)))
        self._gradient = Gradient(*(np.zeros((samples, n)) for _ in range(3)))

    def _square(self, flat: Array, joint: int) -> Array:
        count = int(self._start[joint + 1] - self._start[joint])
        return flat[self._at[joint] : self._at[joint + 1]].reshape(count, count)

    def evaluate(self, states: States) -> Array:
        """(b, b) G of the motion; the array is written over by the next call."""
        self._states = states
        record(
            self._tree, self._plan, states.q, states.v, states.a, NO_MASK, self._no_rows,
            self._tape, self._flat, np.uint64(self._ld),
        )  # fmt: skip
        for feature in self._features:
            feature.write(self._panel, states)
        for rows, gram in zip(self._rows, self._gram_of, strict=True):
            np.matmul(rows, rows.T, out=gram)
        self._G[:] = self._prior
        _gather(self._grams, self._at, self._columns, self._start, self._weights, self._G)
        return self._G

    def torque(self, theta: Array) -> Array:
        """(K, n) torque of parameters theta (b,) along the last motion [N m or N]."""
        return np.column_stack([theta[list(s)] @ rows for s, rows in zip(self.support, self._rows, strict=True)])

    def pull(self, H: Array, *, theta: Array | None = None, torque_weight: Array | None = None) -> Gradient:
        """Derivatives by q, dq, ddq of `<H, G>`, H held still, at the last motion; the arrays are reused.

        Args:
            H: (b, b) symmetric.
            theta: (b,) parameters of `torque`.
            torque_weight: (K, n), to add the derivative of `sum torque_weight * torque(theta)`.
        """
        _spread(H, self._at, self._columns, self._start, self._weights, self._parts)
        for rows, part, pull in zip(self._rows, self._part_of, self._pulls, strict=True):
            np.matmul(part, rows, out=pull)
        if theta is not None and torque_weight is not None:
            for j, (columns, pull) in enumerate(zip(self.support, self._pulls, strict=True)):
                pull += np.outer(theta[list(columns)], torque_weight[:, j])
        reverse(
            self._tree, self._plan, self._states.q, self._states.v,
            self._tape, self._flat_pull, np.uint64(self._ld), *self._gradient,
        )  # fmt: skip
        for feature in self._features:
            feature.pull(self._pull, self._states, self._gradient)
        return self._gradient


NONE = np.zeros(0, dtype=np.int64)


def _features(model: Model, layout: Layout) -> tuple[Feature, ...]:
    """What to write into the lines of the other terms."""
    line: dict[tuple[str, int], int] = {}
    for joint, columns in enumerate(layout.support):
        for k, column in enumerate(columns):
            line[layout.names[column], joint] = int(layout.plan.start[joint]) + k
    return tuple(
        feature_of(model.robot, term, own, line) for term, own in layout.features if not isinstance(term, RigidBody)
    )
