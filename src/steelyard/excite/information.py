"""The information matrix of a motion, and what its change says about the motion.

`G = sum_j w_j Y_j' Y_j + G_0` over the rows Y_j of each joint, with w_j = 1 / sigma_j^2 and G_0 what is known already.
For a criterion with `d phi = <H, dG>`, H symmetric, the derivative by the motion is one call of the adjoint with the
weights `2 w_j Y_j H`. The regressor is kept in one panel, whose lines are as long as the motion, since few large
products are faster than many small ones; weights are made for one block and used at once, so that they stay in cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from steelyard import blas
from steelyard.errors import StudyError
from steelyard.excite.features import States, features_of
from steelyard.model import Layout, Model
from steelyard.robot.adjoint import SHORT, line_length, record_block, reverse_block, tape
from steelyard.robot.aligned import aligned_zeros
from steelyard.robot.kernel import SPARE
from steelyard.robot.motion import BLOCK

Array = NDArray[np.float64]
Index = NDArray[np.int64]
NONE, NO_ROWS = np.zeros(0), np.zeros((0, 0))


class Columns(NamedTuple):
    """Which columns each joint has: those of joint j are column[start[j]:start[j + 1]], its squares begin at at[j]."""

    column: Index
    start: Index
    at: Index
    weight: Array


@numba.njit(cache=True, nogil=True)
def _absorb(
    routines: Any, tree: Any, plan: Any, Q: Any, V: Any, A: Any, X: Any, tape: Any, panel: Any, line: int,
    columns: Any, grams: Any, G: Any,
) -> None:  # fmt: skip
    """The panel of all samples, and G += sum_j w_j Y_j' Y_j."""
    K, sizes = V.shape[0], np.array([V.shape[0], 0, line], np.int32)
    for k0 in range(0, K, BLOCK):
        record_block(tree, plan, Q, V, A, X, k0, tape, panel, line)
    for j in range(columns.weight.shape[0]):
        first, count = columns.start[j], columns.start[j + 1] - columns.start[j]
        sizes[1] = count
        blas.gram(routines, panel, plan.start[j] * line, grams, columns.at[j], sizes)
        for c in range(count):
            column, at = columns.column[first + c], columns.at[j] + c * count
            for r in range(c + 1):
                G[columns.column[first + r], column] += columns.weight[j] * grams[at + r]
    for c in range(G.shape[0]):
        for r in range(c):
            G[c, r] = G[r, c]


@numba.njit(cache=True, nogil=True)
def _pull(
    routines: Any, tree: Any, plan: Any, Q: Any, V: Any, tape: Any, panel: Any, line: int, columns: Any,
    H: Any, theta: Any, torque: Any, parts: Any, W: Any, features: Any, rates: Any,
) -> None:  # fmt: skip
    """rates = derivatives of <H, G> + sum torque * Y theta; features = the weights of the feature rows."""
    K, sizes = V.shape[0], np.array([0, 0, line, SHORT], np.int32)
    for j in range(columns.weight.shape[0]):
        first, count = columns.start[j], columns.start[j + 1] - columns.start[j]
        for c in range(count):
            row, at = H[columns.column[first + c]], columns.at[j] + c * count
            for r in range(count):
                parts[at + r] = 2.0 * columns.weight[j] * row[columns.column[first + r]]
    for k0 in range(0, K, BLOCK):
        samples = min(BLOCK, K - k0)
        sizes[0] = samples
        for j in range(columns.weight.shape[0]):
            first, count, start = columns.start[j], columns.start[j + 1] - columns.start[j], plan.start[j]
            sizes[1] = count
            blas.multiply(routines, panel, start * line + k0, parts, columns.at[j], W, start * SHORT, sizes)
            for c in range(count if torque.shape[0] > 0 else 0):
                at, value = (start + c) * SHORT, theta[columns.column[first + c]]
                for s in range(samples):
                    W[at + s] += value * torque[k0 + s, j]
        for f in range(features.shape[0]):
            at = plan.extra_slot[f] * SHORT
            for s in range(samples):
                features[f, k0 + s] = W[at + s]
        reverse_block(tree, plan, Q, V, k0, tape, W, rates)


@numba.njit(cache=True, nogil=True)
def _torque(plan: Any, panel: Any, line: int, columns: Any, theta: Any, tau: Any) -> None:
    tau[:] = 0.0
    for j in range(columns.weight.shape[0]):
        for c in range(columns.start[j + 1] - columns.start[j]):
            at, value = (plan.start[j] + c) * line, theta[columns.column[columns.start[j] + c]]
            for k in range(tau.shape[0]):
                tau[k, j] += value * panel[at + k]


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
        sign_speeds: Array | None = None,
    ) -> None:
        """Prepare the buffers.

        Args:
            model: robot and terms.
            names: the b columns of G, e.g. those of a ParameterBasis.
            samples: K.
            deviations: (n,) torque noise of each joint [N m or N]; one for all where not given.
            prior: (b, b) information G_0 that is there before the motion.
            sign_speeds: (n,) speed [rad/s or m/s] over which the sign of dry friction is smoothed, so that it has a
                derivative; sharp where not given.

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
        extras = len(layout.extras)
        self.names = layout.names
        self._tree, self._routines = robot.tree, blas.routines()
        self._plan = layout.plan._replace(
            extra_slot=layout.plan.extra_slot[:extras].copy(), extra_row=layout.plan.extra_row[:extras].copy()
        )
        self._features = features_of(model, layout, np.zeros(n) if sign_speeds is None else sign_speeds)
        sizes = np.array([len(s) for s in layout.support], dtype=np.int64)
        at = np.concatenate([[0], np.cumsum(sizes**2)]).astype(np.int64)
        self._columns = Columns(
            column=np.array([c for s in layout.support for c in s], dtype=np.int64),
            start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            at=at,
            weight=sigma**-2,
        )
        self._line = line_length(samples)
        lines = int(layout.plan.start[-1]) + SPARE
        self._tape = tape(robot.tree, samples)
        self._panel, self._W = aligned_zeros(lines * self._line), aligned_zeros(lines * SHORT)
        self._X, self._pulled = np.zeros((extras, samples)), np.zeros((extras, samples))
        self._grams, self._parts = np.zeros(int(at[-1])), np.zeros(int(at[-1]))
        self._G, self._rates, self._tau = np.zeros((b, b)), np.zeros((n, 3, samples)), np.zeros((samples, n))
        self._states = States(*(np.zeros((samples, n)) for _ in range(3)))

    def evaluate(self, states: States) -> Array:
        """(b, b) G of the motion; the array is written over by the next call."""
        self._states = states
        for feature in self._features:
            feature.write(self._X, states)
        self._G[:] = self._prior
        _absorb(
            self._routines, self._tree, self._plan, states.q, states.v, states.a, self._X, self._tape, self._panel,
            self._line, self._columns, self._grams, self._G,
        )  # fmt: skip
        return self._G

    def torque(self, theta: Array) -> Array:
        """(K, n) torque of parameters theta (b,) along the last motion [N m or N]; written over by the next call."""
        _torque(self._plan, self._panel, self._line, self._columns, theta, self._tau)
        return self._tau

    def pull(self, H: Array, *, theta: Array = NONE, torque_weight: Array = NO_ROWS) -> Array:
        """(n, 3, K) derivatives by q, dq, ddq of `<H, G>`, H held still, at the last motion; the array is reused.

        Args:
            H: (b, b) symmetric.
            theta: (b,) parameters of `torque`.
            torque_weight: (K, n), to add the derivative of `sum torque_weight * torque(theta)`.
        """
        _pull(
            self._routines, self._tree, self._plan, self._states.q, self._states.v, self._tape, self._panel,
            self._line, self._columns, H, theta, torque_weight, self._parts, self._W, self._pulled, self._rates,
        )  # fmt: skip
        for feature in self._features:
            feature.pull(self._pulled, self._states, self._rates)
        return self._rates
