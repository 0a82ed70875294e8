"""Design of a motion: which criterion, over which columns, inside which limits, by which optimiser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis, base_parameters
from steelyard.errors import StudyError
from steelyard.excite.clearance import ClearanceBound, keeps_clear, resting_place, shrunk
from steelyard.excite.criteria import SQUARINGS, Criterion, criterion_named, exact
from steelyard.excite.envelope import DENSITY, Envelope, envelope_of
from steelyard.excite.evolution import evolve
from steelyard.excite.feasible_map import descend_mapped
from steelyard.excite.fourier import FourierFamily, FourierMotion, Rest, shared_harmonics
from steelyard.excite.information import MotionInformation
from steelyard.excite.interior import Schedule, descend
from steelyard.excite.ipopt import descend_ipopt
from steelyard.excite.limits import MotionLimits
from steelyard.excite.objective import Bound, Objective, TorqueLimit
from steelyard.excite.payload import payload_criterion
from steelyard.excite.search import CHANGE, POLISH, START, Clock, Outcome, Progress, Watch, search
from steelyard.excite.sequential import descend_sequential
from steelyard.model import Model
from steelyard.robot.collision import CollisionModel
from steelyard.robot.motion import BLOCK
from steelyard.robot.separation import Separation
from steelyard.terms.rigid_body import RigidBody

Array = NDArray[np.float64]
Columns = Literal["rigid", "all"]
SHARE = 0.95
SIGN_SHARE = 0.01  # of the velocity limit: over so much the sign of dry friction is smoothed while optimising
SCHEDULES = {
    START: Schedule(1e-3, 1e-5, 0.1, 100),
    CHANGE: Schedule(1e-4, 1e-5, 0.1, 30),
    POLISH: Schedule(1e-5, 1e-6, 0.3, 200),
}
DENSE = 40
COARSE = 10  # instants a period of the highest harmonic for quadratic programs, which grow with them
NEAR = 0.03  # [m] beyond the distance to keep, from where on pairs push each other away
CLEAR_STEP = 4e-3  # [s] of the cells in which distances are looked at; certificates look closer
SHARPER = 2  # squarings more for the last polish, when the shape is there and the extremes matter


@dataclass(frozen=True)
class Design:
    """A designed motion and how it came about.

    Attributes:
        motion: the series.
        criterion, columns: what was optimised.
        names: the base parameters it was optimised for.
        value: of the exact criterion over the design's samples, smaller is better.
        information: (b, b) of one period at the design's samples, noise-weighted, prior included.
        outcome: searches, seconds, and why it stopped.
        seed: of the random draws.
        limits: of the joints.
        share: of the limits that was used.
    """

    motion: FourierMotion
    criterion: str
    columns: Columns
    names: tuple[str, ...]
    value: float
    information: Array
    outcome: Outcome
    seed: int
    limits: MotionLimits
    share: float

    @property
    def deviations(self) -> Array:
        """(b,) standard deviations that the design's samples alone would give, `sqrt(diag(G^-1))`."""
        result: Array = np.sqrt(np.diag(np.linalg.inv(self.information)))
        return result


def design_motion(
    model: Model,
    limits: MotionLimits,
    *,
    criterion: str = "d",
    columns: Columns = "all",
    period: float = 10.0,
    harmonics: int | Sequence[Sequence[int]] = 5,
    rest: Rest = "acceleration",
    samples: int | None = None,
    share: float = SHARE,
    deviations: Sequence[float] | None = None,
    prior: Array | None = None,
    nominal: Array | None = None,
    payload: str | None = None,
    bounds: Sequence[Bound] = (),
    clearance: CollisionModel | None = None,
    optimiser: str = "interior",
    starts: int = 4,
    changes: int = 120,
    budget: float = 60.0,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
) -> Design:
    """Design a periodic motion that tells as much as possible about the parameters of a model.

    The same arguments give the same motion, unless the budget ends the search first. An interrupt from the keyboard
    ends it with the best motion so far.

    Args:
        model: robot and terms.
        limits: of its joints; torque limits use the nominal parameters.
        criterion: d, a, e, condition or condition_scaled; see `criteria`. Or payload: D for what a body carries alone.
        columns: base parameters of the rigid bodies alone, or of all terms.
        period: [s].
        harmonics: how many, the same 1, 2, .. for every joint; or the numbers for each joint.
        rest: what is zero at both ends: "free" for nothing, velocity and "acceleration", or the "jerk" as well.
        samples: instants a period at which information is counted; when not given, 40 a period of the highest harmonic
            or a little more, to fill the kernel's blocks.
        share: of every limit that may be used.
        deviations: torque noise of each joint [N m or N], one for all when not given.
        prior: (b, b) information on the base parameters that is there already; for a payload, without it.
        nominal: (p,) parameters for the torque limits; those of the model file when not given.
        payload: the body that carries it.
        bounds: to be kept besides, at the samples.
        clearance: distances of the robot to itself and to obstacles, kept at every instant.
        optimiser: interior, feasible_map, slsqp; with their extras cma and ipopt.
        starts: independent starts.
        changes: further searches from a good motion with one joint changed.
        budget: CPU seconds.
        seed: of the random draws.
        progress: told after each local search.

    Raises:
        StudyError: an option that does not exist, or limits that leave no room.
    """
    local_of = _optimiser(optimiser)
    _check(starts, changes, budget, seed)
    model, values = _chosen(model, columns, nominal)
    problem = _problem(
        model,
        limits,
        family=_family(len(model.robot.joint_names), period, harmonics, rest),
        share=share,
        density=COARSE if optimiser == "slsqp" else DENSITY,
        samples=samples,
        noise=None if deviations is None else np.asarray(deviations, dtype=np.float64),
        prior=prior,
        nominal=values,
        criterion=criterion,
        payload=payload,
        bounds=bounds,
        clearance=clearance,
    )
    clock = Clock(budget)
    outcome = search(
        problem.family,
        problem.envelope,
        local=partial(_local, local_of, problem),
        score=partial(_score, problem),
        usable=lambda x: problem.smooth.load(x) < 1.0,
        starts=starts,
        changes=changes,
        seed=seed,
        clock=clock,
        progress=progress,
    )
    motion = _motion(limits, problem.family, outcome.x)
    information = problem.sharp.matrix(outcome.x)
    return Design(motion, criterion, columns, problem.names, outcome.value, information, outcome, seed, limits, share)


class _Problem(NamedTuple):
    """What is searched: motions, their limits, the objective with dry friction smoothed and sharp, the judges,
    and where no instant may come too near: a place to rest (n,), less the middle, and whether a motion is clear."""

    family: FourierFamily
    envelope: Envelope
    smooth: Objective
    sharp: Objective
    names: tuple[str, ...]
    judges: _Judges
    rest: Array
    clear: Callable[[Array], bool]


class _Judges(NamedTuple):
    """The criterion with smooth extremes, by the squarings that make them sharper, and the exact one."""

    smooth: Callable[[int], Criterion]
    exact: Callable[[Array], float]


def _problem(
    model: Model,
    limits: MotionLimits,
    *,
    family: FourierFamily,
    share: float,
    density: int,
    samples: int | None,
    noise: Array | None,
    prior: Array | None,
    nominal: Array,
    criterion: str,
    payload: str | None,
    bounds: Sequence[Bound],
    clearance: CollisionModel | None,
) -> _Problem:
    """Raises StudyError where limits and robot do not fit."""
    if limits.joint_names != model.robot.joint_names:
        raise StudyError("the limits are for other joints", value=limits.joint_names, choices=model.robot.joint_names)
    count = BLOCK * -(-DENSE * family.highest // BLOCK) if samples is None else samples
    if count <= 2 * family.highest:
        raise StudyError(
            "too few samples a period for its harmonics", value=count, cure=f"at least {2 * family.highest + 1}"
        )
    basis, narrow = base_parameters(model), limits.share(share)
    if not basis.names:
        raise StudyError("the model has no parameters that a motion could tell", value=model.names)
    judges = _judges(criterion, basis, payload, prior)
    torque = TorqueLimit(basis.regroup(nominal), narrow.effort) if np.isfinite(narrow.effort).any() else None
    known = prior if payload is None else None
    rest = np.zeros((family.joints, family.variables))
    if clearance is not None:
        rest[:, 0] = resting_place(clearance, narrow) - limits.center
        bounds = (*bounds, ClearanceBound(Separation(clearance, count, within=clearance.required + NEAR)))
    smooth, sharp = (
        Objective(
            family,
            limits.center,
            MotionInformation(model, basis.names, count, deviations=noise, prior=known, sign_speeds=speeds),
            samples=count,
            torque=torque,
            bounds=bounds,
        )
        for speeds in (SIGN_SHARE * limits.velocity, None)
    )
    if not smooth.load(rest) < 1.0:
        raise StudyError(
            "the torque limits do not even hold the robot in the middle of its range, or it cannot stand there",
            value=[float(e) for e in limits.effort],
            cure="check the effort limits, the masses and gravity; narrow the positions to where it is free",
        )
    clear = partial(_clear, clearance, limits, family)
    envelope = envelope_of(family, narrow, density=density)
    return _Problem(family, envelope, smooth, sharp, basis.names, judges, rest[:, 0], clear)


def _motion(limits: MotionLimits, family: FourierFamily, x: Array) -> FourierMotion:
    coefficients = family.coefficients(x)
    coefficients[:, 0] += limits.center
    return FourierMotion(limits.joint_names, family, coefficients)


def _clear(clearance: CollisionModel | None, limits: MotionLimits, family: FourierFamily, x: Array) -> bool:
    return clearance is None or keeps_clear(clearance, _motion(limits, family, x).cells(CLEAR_STEP))


def _judges(criterion: str, basis: ParameterBasis, payload: str | None, prior: Array | None) -> _Judges:
    """Raises StudyError: not a criterion, or a payload without it and the other way round."""
    if (criterion == "payload") != (payload is not None):
        raise StudyError(
            "the criterion payload and the body that carries one belong together", value=(criterion, payload),
            cure="give both or neither",
        )  # fmt: skip
    if payload is None:
        criterion_named(criterion)
        return _Judges(lambda squarings: criterion_named(criterion, squarings=squarings), partial(exact, criterion))
    judge = payload_criterion(basis, payload, prior)
    return _Judges(lambda _: judge, lambda G: judge(G, False).value)


def _chosen(model: Model, columns: str, nominal: Array | None) -> tuple[Model, Array]:
    """The model of the columns wanted, with their nominal values."""
    if columns not in ("rigid", "all"):
        raise StudyError("not a choice of columns", value=columns, choices=("rigid", "all"))
    values = model.nominal if nominal is None else np.asarray(nominal, dtype=np.float64)
    if values.shape != (len(model.names),) or not np.isfinite(values).all():
        raise StudyError("the nominal parameters must be one finite number a column", value=values.shape)
    if columns == "all":
        return model, values
    bodies = Model(model.robot, (RigidBody(),))
    place = {name: k for k, name in enumerate(model.names)}
    if not set(bodies.names) <= set(place):
        raise StudyError("the model has no rigid bodies", value=[type(term).__name__ for term in model.terms])
    return bodies, values[[place[name] for name in bodies.names]]


def _check(starts: int, changes: int, budget: float, seed: int) -> None:
    if starts < 1 or changes < 0 or not budget > 0.0:
        raise StudyError("a design needs at least one start and some time", value=(starts, changes, budget))
    if seed < 0:
        raise StudyError("a seed is a whole number from 0 on", value=seed)


def _family(joints: int, period: float, harmonics: int | Sequence[Sequence[int]], rest: Rest) -> FourierFamily:
    rows = shared_harmonics(joints, harmonics) if isinstance(harmonics, int) else tuple(tuple(r) for r in harmonics)
    if len(rows) != joints:
        raise StudyError(
            "harmonics are needed for each joint", value=len(rows), cure=f"give {joints} lists, or a number"
        )
    return FourierFamily(period, rows, rest)


Descend = Callable[..., Array]


def _optimiser(name: str) -> Descend:
    known: dict[str, Descend] = {
        "interior": descend,
        "feasible_map": descend_mapped,
        "slsqp": descend_sequential,
        "cma": evolve,
        "ipopt": descend_ipopt,
    }
    if name not in known:
        raise StudyError("not an optimiser of excitation", value=name, choices=tuple(known))
    return known[name]


def _local(local_of: Descend, problem: _Problem, x: Array, kind: int, watch: Watch) -> Array:
    """One local search, from a motion that is first made small enough for what is not linear."""
    x = shrunk(x, problem.rest, lambda x: problem.smooth.load(x) < 1.0, factor=0.7)
    watch(x)
    smooth = problem.judges.smooth(SQUARINGS + (SHARPER if kind == POLISH else 0))
    found = local_of(problem.smooth, problem.envelope, x, smooth, schedule=SCHEDULES[kind], watch=watch)
    return shrunk(found, problem.rest, problem.clear, factor=0.99)


def _score(problem: _Problem, x: Array) -> float:
    usable = problem.sharp.load(x) < 1.0 and problem.clear(x)
    return problem.judges.exact(problem.sharp.matrix(x)) if usable else float("inf")
