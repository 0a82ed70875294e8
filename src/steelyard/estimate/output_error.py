"""Closed-loop output error: parameters from torque alone, without a single position (DIDIM).

A model behind the robot's controller follows the same reference; where its torque differs from the measured one, its
parameters are wrong. A change of the parameters changes the simulated motion little, since the controller holds it, so
that the sensitivity of the torque is the regressor along the simulated motion, and each step is linear least squares:

    theta_{k+1} = argmin |tau - Y(q_s, dq_s, ddq_s) theta|^2,      (q_s, dq_s, ddq_s) simulated with theta_k.

Source: Gautier, Janot & Vandanjon, A new closed-loop output error method for parameter identification of robot
dynamics, IEEE Transactions on Control Systems Technology 21(2), 2013.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.estimate.closed_loop import Controller, simulate
from steelyard.estimate.least_squares import weighted
from steelyard.estimate.result import Estimate
from steelyard.finding import Finding
from steelyard.model import Model

Array = NDArray[np.float64]
SETTLED = 0.02  # relative change of the torque misfit under which nothing more is gained
MOST = 8


@dataclass(frozen=True)
class OutputError:
    """The result and the way to it.

    Attributes:
        estimate: weighted least squares on the last simulated motion.
        misfit: for each simulation the relative error of its torque, |tau - tau_s| / |tau|, a fraction.
        motions: what was simulated last.
    """

    estimate: Estimate
    misfit: tuple[float, ...]
    motions: tuple[Trajectory, ...]


def output_error(
    model: Model,
    recordings: Sequence[Trajectory],
    references: Sequence[Trajectory],
    controller: Controller,
    *,
    basis: ParameterBasis | None = None,
    start: Array | None = None,
    lowpass: LowPass | None = None,
) -> OutputError:
    """Identify from torque alone.

    Args:
        model: robot and terms.
        recordings: torque; positions are not looked at.
        references: for each what the controller was asked to follow, at the recording's stamps (uniform).
        controller: of the robot, in the order of the model's joints.
        basis: base parameters of the model; None to estimate the columns as they are.
        start: (p,) parameters to simulate first; None for the model file's.
        lowpass: filter of torque and columns alike.

    Raises:
        DataError: recordings and references that do not fit, no torque, parameters that cannot be simulated.
    """
    own = [r.ordered(model.robot.joint_names) for r in recordings]
    if not own or len(own) != len(references) or any(len(a) != len(b) for a, b in zip(own, references, strict=True)):
        raise DataError(
            "every recording needs its reference, at the same stamps",
            value=f"{[len(r) for r in own]} and {[len(r) for r in references]} samples",
        )
    theta = model.nominal if start is None else np.asarray(start, dtype=np.float64)
    names = None if basis is None else basis.names
    misfit: list[float] = []
    for _ in range(MOST):
        motions = [simulate(model, theta, reference, controller) for reference in references]
        misfit.append(_misfit(own, motions, lowpass))
        if len(misfit) > 1 and misfit[-1] > (1.0 - SETTLED) * misfit[-2]:
            break
        rows = [
            replace(m, tau=r.channel("tau"), valid=r.valid, source=r.source) for m, r in zip(motions, own, strict=True)
        ]
        estimate = weighted(model.absorb(rows, names=names, lowpass=lowpass), basis=basis)
        theta = estimate.full(model.names)
    estimate = replace(estimate, estimator="output error")
    if misfit[-1] > (1.0 + SETTLED) * misfit[-2]:
        estimate = estimate.noting(_diverged(misfit))
    return OutputError(estimate, tuple(misfit), tuple(motions))


def _misfit(recordings: Sequence[Trajectory], motions: Sequence[Trajectory], lowpass: LowPass | None) -> float:
    left = size = 0.0
    for recording, motion in zip(recordings, motions, strict=True):
        measured, simulated = recording.channel("tau"), motion.channel("tau")
        for segment in motion.segments:
            a, b = measured[segment], simulated[segment]
            if lowpass is not None:
                a, b = (lowpass.apply(x.T, motion.step).T for x in (a, b))
            left += float(np.sum((a - b) ** 2))
            size += float(np.sum(a**2))
    return float(np.sqrt(left / size)) if size > 0.0 else 0.0


def _diverged(misfit: Sequence[float]) -> Finding:
    return Finding(
        "fit.output_error_grew",
        "warning",
        f"the last step made the simulated torque worse: {100 * misfit[-1]:.2f} % after {100 * misfit[-2]:.2f} %",
        value=misfit[-1],
        cure="check the controller's gains and the reference; start from better parameters",
    )
