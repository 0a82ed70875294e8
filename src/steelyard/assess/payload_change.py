"""Whether the robot took up or lost a load while it was recorded.

With the information of the run cut into windows, every moment between two windows is tried as the moment of change:
the last body has other first four parameters (mass and first moments) after it, everything else stays,

    before:  tau = Y_b theta,        after:  tau = Y_b (theta + B_last change),

and the share of the misfit that the change removes is the cumulative-sum statistic of the run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.reduced_motion import ReducedMotion
from steelyard.basis import ParameterBasis
from steelyard.data.trajectory import Trajectory
from steelyard.estimate.least_squares import solve
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation, triangle
from steelyard.model import Model

Array = NDArray[np.float64]
WINDOWS = 24
MARGIN = 3  # windows at either end that a side must have to itself
EXPLAINS = 0.2  # share of the misfit; on recordings with one load it stays below 0.05
CERTAIN = 5.0  # deviations of the change of mass
CHANGING = ("mass", "first_moment_x", "first_moment_y", "first_moment_z")


@dataclass(frozen=True)
class PayloadChange:
    """The best moment of change.

    Attributes:
        time: of the change [s], to a window.
        explains: share of the misfit that it removes.
        mass: by how much the last body became heavier [kg], with its deviation.
        deviation: of the mass [kg], rows within half a period of the cut-off counted as one.
    """

    time: float
    explains: float
    mass: float
    deviation: float


def payload_change(model: Model, basis: ParameterBasis, reduced: ReducedMotion) -> PayloadChange | None:
    """The moment at which another load explains most; None where the run is too short for it.

    Args:
        model: rigid bodies, rotor inertia and friction, all free.
        basis: its base parameters.
        reduced: the recording.
    """
    if not model.robot.body_names:
        return None
    thin = reduced.thin
    edges = np.linspace(0, len(thin), WINDOWS + 1).astype(int)
    parts = [_window(thin.samples(*pair), model, basis, reduced) for pair in pairwise(edges)]
    total = parts[0]
    for part in parts[1:]:
        total = replace(part.merge(replace(total, sources=frozenset())), sources=frozenset())
    rows = np.array(total.rows, dtype=np.float64)
    if rows.min() < 2 * len(basis.names) / rows.size:
        return None
    weights = np.ones(rows.size)
    for _ in range(3):
        left = total.misfit(solve(total, weights))
        weights = rows / np.maximum(left, 1e-12 * np.maximum(total.energy, 1e-300))
    whole = [np.vstack([np.sqrt(w) * part.spread(j) for j, w in enumerate(weights)]) for part in parts]
    change = _change_map(model, basis)
    before, after = _running(whole), _running(whole[::-1])[::-1]
    misfit = float(np.sum(weights * left))
    tried = [
        _at(thin.time[edges[k]], before[k - 1], after[k], change, misfit) for k in range(MARGIN, WINDOWS - MARGIN + 1)
    ]
    at = int(np.argmax([found.explains for found in tried]))
    best, k = tried[at], MARGIN + at
    # the change lies somewhere in the windows beside the best edge: the load is weighed without them
    clear = _at(best.time, before[k - 2], after[k + 1], change, misfit)
    repeated = max(1.0, 1.0 / (2.0 * reduced.cutoff * thin.step))
    deviation = float(clear.deviation * np.sqrt(repeated * (1.0 - best.explains)))
    return replace(best, mass=clear.mass, deviation=deviation)


def _running(windows: list[Array]) -> list[Array]:
    """Triangle of the first window, of the first two, of the first three ..."""
    running = [triangle(windows[0])]
    for window in windows[1:]:
        running.append(triangle(np.vstack([running[-1], window])))
    return running


def payload_findings(found: PayloadChange | None, body: str, trajectory: Trajectory) -> list[Finding]:
    """A change that explains much and is certain."""
    if found is None or found.explains < EXPLAINS or abs(found.mass) < CERTAIN * found.deviation:
        return []
    verb = "heavier" if found.mass > 0 else "lighter"
    return [
        Finding(
            "data.payload_change",
            "warning",
            f"from about {found.time:.1f} s on {body} is {abs(found.mass):.3g} +- {found.deviation:.2g} kg {verb}: "
            f"a change of load there explains {100 * found.explains:.0f} % of the misfit",
            trajectory.name,
            found.mass,
            "cut the recording there and fit each part with its own load",
        )
    ]


def _window(samples: Trajectory, model: Model, basis: ParameterBasis, reduced: ReducedMotion) -> SquareRootInformation:
    """Information of some samples, the ends of which the filter has not settled on left out."""
    settle = min(int(1.0 / (reduced.cutoff * samples.step)) + 1, len(samples) // 2)
    inside = np.zeros((len(samples), 1), dtype=bool)
    inside[settle : len(samples) - settle] = True
    valid = inside if samples.valid is None else samples.valid & inside
    valid = np.broadcast_to(valid, samples.channel("q").shape)
    info = model.absorb([replace(samples, valid=valid)], names=basis.names, lowpass=reduced.lowpass)
    return replace(info, sources=frozenset())


def _change_map(model: Model, basis: ParameterBasis) -> Array:
    """(b, 4): what mass and first moments of the last body are in base parameters."""
    last = model.robot.body_names[-1]
    return basis.matrix[:, [basis.columns.index(f"link/{last}/{part}") for part in CHANGING]]


def _at(time: float, before: Array, after: Array, change: Array, left: float) -> PayloadChange:
    """Least squares with a change at `time`; `left` is the weighted misfit without one."""
    size = change.shape[1]
    design = np.vstack(
        [
            np.hstack([before[:, :-1], np.zeros((len(before), size))]),
            np.hstack([after[:, :-1], after[:, :-1] @ change]),
        ]
    )
    torque = np.concatenate([before[:, -1], after[:, -1]])
    scale = np.linalg.norm(design, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    U, values, Vt = np.linalg.svd(design / scale, full_matrices=False)
    held = values > 1e-9 * values[0]
    half = Vt[held].T / values[held]
    theta = half @ (U[:, held].T @ torque) / scale
    rest = float(np.sum((torque - design @ theta) ** 2))
    deviation = float(np.linalg.norm(half[-size]) / scale[-size])
    return PayloadChange(float(time), 1.0 - rest / left, float(theta[-size]), deviation)
