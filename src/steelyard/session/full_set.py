"""The full parameters of a session's result: those of its consistent fit, or the nearest that give its torque."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis, random_states
from steelyard.errors import ModelError, SessionError
from steelyard.estimate.base_to_full import TORQUE_CHANGE, FullSet, base_to_full
from steelyard.estimate.full_columns import full_columns
from steelyard.finding import Finding
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.session.opening import Session
from steelyard.session.result_file import StoredEstimate, estimate_from_result
from steelyard.session.schema import ParameterEntry
from steelyard.session.workflow import own_terms
from steelyard.terms.names import terms_named
from steelyard.terms.rigid_body import QUANTITIES

Array = NDArray[np.float64]
Origin = Literal["consistent", "base_to_full"]
STATES = 64
ROUNDING = 1e-8
"""Relative change of a link's parameters that is the solver's alone, where it changes no torque."""


@dataclass(frozen=True)
class FullParameters:
    """A full set with the torque of a result.

    Attributes:
        model: robot and terms of the result.
        links: (10,) parameters about each link's own origin, by link name.
        scalars: values of the other columns, by name.
        origin: ``consistent``: fitted as a whole; ``base_to_full``: nearest to the model file among those with the
            torque of the base parameters.
        entries: what the result says of each of them, by name; empty when it holds base parameters alone.
        torque_change: largest difference of torque from the base parameters over random states, relative.
        findings: what was done to the model file's values to make a prior of them.
    """

    model: Model
    links: Mapping[str, Array]
    scalars: Mapping[str, float]
    origin: Origin
    entries: Mapping[str, ParameterEntry]
    torque_change: float
    findings: tuple[Finding, ...] = ()

    @property
    def theta(self) -> Array:
        """(p,) values of the model's columns."""
        return full_columns(self.model, self.links, self.scalars)


def full_parameters(session: Session, *, terms: Sequence[str] = ()) -> FullParameters:
    """The full set of a session's result, checked to give the torque of its base parameters to TORQUE_CHANGE.

    Args:
        session: with a result.
        terms: names of the result's terms, to be given when one of them is code of one's own.

    Raises:
        SessionError: no result, or one whose full and base parameters contradict each other.
        ModelError: the result has base parameters alone, and no robot that can exist has them.
    """
    result = session.result
    if result is None:
        raise SessionError("the session has no result yet", where=str(session.directory),
                           cure=f"steelyard identify {session.directory} --consistent")  # fmt: skip
    manifest = session.manifest
    robot = Robot.from_file(session.model, gravity=manifest.gravity, mimic=manifest.mimic)
    robot = robot.locked(manifest.locked)
    model = Model(robot, terms_named(own_terms(result.terms, given=terms)))
    stored = estimate_from_result(result)
    entries = {entry.name: entry for entry in result.full_parameters}
    findings: tuple[Finding, ...] = ()
    if result.consistent is None:
        completed = _completed(session, model, stored)
        links, scalars, findings = completed.link_parameters, completed.scalars, completed.findings
    else:
        links, scalars = _fitted(session, model, entries)
    wanted = stored.full(model.names)
    found, links = links, {name: _kept(own, robot, name) for name, own in links.items()}
    change = _torque_change(model, full_columns(model, links, scalars), wanted)
    if change > TORQUE_CHANGE:
        links, change = found, _torque_change(model, full_columns(model, found, scalars), wanted)
    if change > TORQUE_CHANGE:
        raise SessionError(
            "the full parameters do not give the torque of the base parameters",
            where=str(session.directory),
            value=change,
            cure="identify again",
        )
    origin: Origin = "base_to_full" if result.consistent is None else "consistent"
    return FullParameters(model, links, scalars, origin, entries, change, findings)


def _fitted(
    session: Session, model: Model, entries: Mapping[str, ParameterEntry]
) -> tuple[dict[str, Array], dict[str, float]]:
    """Ten parameters of each link, and the others, of a result that has them."""
    own = {link.name: f"link/{link.name}/" for link in model.robot.links if f"link/{link.name}/mass" in entries}
    links = {name: _ten(start, entries, session) for name, start in own.items()}
    ten = {start + quantity for start in own.values() for quantity, _ in QUANTITIES}
    scalars = {name: entry.value for name, entry in entries.items() if name not in ten}
    strange = [name for name in scalars if name not in model.names]
    if strange:
        raise SessionError("not a parameter of the session's model", where=str(session.directory), value=strange[0],
                           choices=model.names[:20], cure="identify again")  # fmt: skip
    return links, scalars


def _ten(start: str, entries: Mapping[str, ParameterEntry], session: Session) -> Array:
    lost = [start + quantity for quantity, _ in QUANTITIES if start + quantity not in entries]
    if lost:
        raise SessionError(
            "a link lacks one of its ten parameters", where=str(session.directory), value=lost[0], cure="identify again"
        )
    return np.array([entries[start + quantity].value for quantity, _ in QUANTITIES])


def _kept(parameters: Array, robot: Robot, name: str) -> Array:
    """The model file's values of a link that nothing has moved but the solver's rounding."""
    old = next(link.parameters for link in robot.links if link.name == name)
    parts = (slice(0, 1), slice(1, 4), slice(4, 10))
    if old is None or any(
        np.abs(parameters[p] - old[p]).max() > ROUNDING * max(float(np.abs(old[p]).max()), 1e-300) for p in parts
    ):
        return parameters
    return old


def _completed(session: Session, model: Model, stored: StoredEstimate) -> FullSet:
    values = dict(zip(stored.names, stored.theta.tolist(), strict=True))
    basis = ParameterBasis(stored.base_names, stored.columns, stored.matrix, 0.0, (0.0, 0.0))
    try:
        return base_to_full(model, basis, np.array([values.get(name, 0.0) for name in stored.base_names]))
    except ModelError as error:
        raise ModelError(
            error.what,
            where=str(session.directory),
            value=error.value,
            cure=f"steelyard identify {session.directory} --consistent --force fits parameters that a robot can have",
        ) from None


def _torque_change(model: Model, full: Array, base: Array) -> float:
    states = random_states(model, STATES, seed=0)
    wanted = model.torque(base, states)
    return float(np.abs(model.torque(full, states) - wanted).max() / max(float(np.abs(wanted).max()), 1e-300))
