"""Two sets of parameters beside one another: two results, or a result and a model file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.mass_matrix import mass_matrices
from steelyard.basis import random_states
from steelyard.data.trajectory import Trajectory
from steelyard.errors import SessionError, StudyError
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.session.opening import Session, open_session
from steelyard.session.result_file import StoredEstimate, estimate_from_result
from steelyard.session.schema import ParameterEntry
from steelyard.session.workflow import own_terms
from steelyard.terms.names import terms_named
from steelyard.terms.rigid_body import QUANTITIES
from steelyard.terms.term import Term

Array = NDArray[np.float64]
POSES = 500


@dataclass(frozen=True)
class Difference:
    """One parameter in both: values, and the difference in units of their joint deviation (None where unknown)."""

    name: str
    unit: str
    first: float
    second: float
    deviations: float | None


@dataclass(frozen=True)
class GridDifference:
    """Gravity torque and mass matrix of both over random poses inside the limits.

    Attributes:
        gravity_rms, gravity_peak: (n,) of the difference of gravity torques [N m or N].
        gravity_size: (n,) rms of the second one's.
        mass_matrix: largest relative difference of the mass matrices, in the Frobenius norm.
        worst_pose: (n,) positions of that largest difference [rad or m].
        least_eigenvalues: of the mass matrices of both, over the poses.
    """

    joint_names: tuple[str, ...]
    gravity_rms: Array
    gravity_peak: Array
    gravity_size: Array
    mass_matrix: float
    worst_pose: Array
    least_eigenvalues: tuple[float, float]


@dataclass(frozen=True)
class Comparison:
    """Base parameters of both, the largest disagreement first, and the grid where it was asked for.

    Full parameters are compared where the first has them, with those of the second result or of the model file.
    """

    first: str
    second: str
    rows: tuple[Difference, ...]
    full: tuple[Difference, ...]
    grid: GridDifference | None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        grid = None if self.grid is None else {name: getattr(self.grid, name) for name in vars(self.grid)}
        return {
            "first": self.first,
            "second": self.second,
            "parameters": [vars(row) for row in self.rows],
            "full_parameters": [vars(row) for row in self.full],
            "grid": grid,
        }


def compare(first: Path, second: Path, *, grid: bool = False, seed: int = 0, terms: Sequence[str] = ()) -> Comparison:
    """Compare the result of a session with another session's, or with a model file.

    Args:
        first: directory of a session with a result.
        second: another one, or a model file.
        grid: also compare gravity torques and mass matrices over poses.
        seed: of the poses.
        terms: names of the results' terms that are code of the user's own; others may stand among them.

    Raises:
        SteelyardError: something that is neither, parameters that have nothing in common.
    """
    if not first.is_dir() and second.is_dir():
        first, second = second, first
    one = _session(first)
    result = one.result
    if result is None:
        raise SessionError("the session has no result yet", where=str(first), cure=f"steelyard identify {first}")
    mine = estimate_from_result(result)
    if second.is_dir():
        other = _session(second).result
        if other is None:
            raise SessionError("the session has no result yet", where=str(second), cure=f"steelyard identify {second}")
        theirs = estimate_from_result(other)
        values = dict(zip(theirs.names, theirs.theta, strict=True))
        spread = dict(zip(theirs.names, theirs.deviation, strict=True))
        second_model = _model(_session(second), terms)
        full = theirs.full(second_model.names)
        whole = {entry.name: (entry.value, _spread(entry)) for entry in other.full_parameters}
    else:
        second_model = Model(_robot(one, second), _terms(result.terms, terms))
        values, spread = _regrouped(mine, second_model), {}
        full = second_model.nominal
        whole = {name: (value, 0.0) for name, value in _stated(second_model).items()}
    rows = _rows(result.parameters, {name: (value, spread.get(name, 0.0)) for name, value in values.items()})
    if not rows:
        raise StudyError("the two have no parameter in common", where=f"{first}, {second}", choices=mine.names[:10])
    shown = None
    if grid:
        model = _model(one, terms)
        shown = _grid(model, mine.full(model.names), second_model, full, seed=seed)
    return Comparison(str(first), str(second), rows, _rows(result.full_parameters, whole), shown)


def _rows(entries: Sequence[ParameterEntry], others: Mapping[str, tuple[float, float]]) -> tuple[Difference, ...]:
    """Entries beside values and deviations of the same names, the largest difference first."""
    rows = [
        Difference(
            entry.name,
            entry.unit,
            entry.value,
            float(others[entry.name][0]),
            _deviations(entry.value - others[entry.name][0], _spread(entry), others[entry.name][1]),
        )
        for entry in entries
        if entry.name in others
    ]
    return tuple(sorted(rows, key=lambda row: -(row.deviations or 0.0)))


def _spread(entry: ParameterEntry) -> float:
    return float("inf") if entry.deviation is None else entry.deviation


def _stated(model: Model) -> dict[str, float]:
    """Full parameters of a model file: those of its links, and of its joints."""
    known = {name: float(value) for name, value in zip(model.names, model.nominal, strict=True)}
    own = {name: value for name, value in known.items() if not name.startswith("link/")}
    for link in model.robot.links:
        if link.body >= 0 and link.parameters is not None:
            own |= {f"link/{link.name}/{q}": float(v) for (q, _), v in zip(QUANTITIES, link.parameters, strict=True)}
    return own


def _session(path: Path) -> Session:
    return open_session(path)


def _robot(session: Session, model: Path) -> Robot:
    """The robot of a model file as the session held it: same gravity, same joints locked."""
    manifest = session.manifest
    return Robot.from_file(model, gravity=manifest.gravity, mimic=manifest.mimic).locked(manifest.locked)


def _model(session: Session, trusted: Sequence[str]) -> Model:
    if session.result is None:
        raise SessionError("the session has no result yet", where=str(session.directory))
    return Model(_robot(session, session.model), _terms(session.result.terms, trusted))


def _terms(recorded: Sequence[str], trusted: Sequence[str]) -> tuple[Term, ...]:
    """The terms of a result; each of two results has its own, so that names tell what to trust, not what to use."""
    known = all(":" not in name or name in trusted for name in recorded)
    return terms_named(own_terms(recorded, given=recorded if known else ()))


def _regrouped(estimate: StoredEstimate, model: Model) -> dict[str, float]:
    """The base parameters of a result, with the values of a model file."""
    known = dict(zip(model.names, model.nominal, strict=True))
    missing = [name for name in estimate.columns if name not in known]
    if missing:
        raise StudyError("the model file lacks a parameter of the result", value=missing[0], choices=model.names[:10])
    nominal = np.array([known[name] for name in estimate.columns])
    return dict(zip(estimate.base_names, (estimate.matrix @ nominal).tolist(), strict=True))


def _deviations(difference: float, one: float, other: float) -> float | None:
    spread = float(np.hypot(one, other))
    return float(abs(difference) / spread) if np.isfinite(spread) and spread > 0.0 else None


def _mechanical(model: Model, theta: Array) -> Array:
    """Bodies and rotors alone: no friction, no sensor offset."""
    kept = [name.startswith("link/") or name.endswith("/rotor_inertia") for name in model.names]
    return np.where(kept, theta, 0.0)


def _grid(one: Model, theta: Array, other: Model, phi: Array, *, seed: int) -> GridDifference:
    if one.robot.joint_names != other.robot.joint_names:
        raise StudyError("the two have other joints", value=other.robot.joint_names, choices=one.robot.joint_names)
    q = random_states(Model(one.robot, ()), POSES, seed=seed).channel("q")
    still = np.zeros_like(q)
    rest = Trajectory(np.arange(POSES, dtype=float), one.robot.joint_names, q=q, dq=still, ddq=still)
    theta, phi = _mechanical(one, theta), _mechanical(other, phi)
    gravity = [model.torque(values, rest) for model, values in ((one, theta), (other, phi))]
    M = [mass_matrices(model, values, q) for model, values in ((one, theta), (other, phi))]
    relative = np.linalg.norm(M[0] - M[1], axis=(1, 2)) / np.maximum(np.linalg.norm(M[1], axis=(1, 2)), 1e-12)
    worst = int(relative.argmax())
    least = [float(np.linalg.eigvalsh(0.5 * (m + np.swapaxes(m, 1, 2))).min()) for m in M]
    difference = gravity[0] - gravity[1]
    return GridDifference(
        joint_names=one.robot.joint_names,
        gravity_rms=np.sqrt(np.mean(difference**2, axis=0)),
        gravity_peak=np.abs(difference).max(axis=0),
        gravity_size=np.sqrt(np.mean(gravity[1] ** 2, axis=0)),
        mass_matrix=float(relative[worst]),
        worst_pose=q[worst],
        least_eigenvalues=(least[0], least[1]),
    )
