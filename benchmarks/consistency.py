"""Physical consistency: what it costs on the training data, what it gains on unseen motion, and how fast it is.

    python benchmarks/consistency.py [--seeds N] [--real]

Simulated Panda (example-robot-data), white torque noise as a share of each joint's rms torque, model file wrong by a
fifth in every mass, inertia and centre (a prior whose own error is about .14). ratio = weighted residual over that of
the unconstrained optimum; val = error on an independent motion without noise, each joint over its own deviation,
relative to the unconstrained one; kkt = error of the optimality conditions, whatever the solver claims.
CPU time of the solver on one thread, warm, best of five, after the reduction.
--real adds the Panda log of Gaz et al. in the folder named by STEELYARD_REAL_DATA, scored by score.py.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import sysconfig
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from steelyard.basis import base_parameters
from steelyard.data.trajectory import Trajectory
from steelyard.estimate.cone_problem import interior_start
from steelyard.estimate.consistent import SOLVERS, consistent
from steelyard.estimate.consistent_result import Consistent
from steelyard.estimate.interior_point import entropic
from steelyard.estimate.least_squares import weighted
from steelyard.estimate.log_cholesky import log_cholesky
from steelyard.estimate.result import Estimate
from steelyard.model import Model
from steelyard.robot.inertia import parameters_of, pseudo_inertia
from steelyard.robot.robot import Link, Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous

ROBOTS = Path(sysconfig.get_paths()["purelib"], "cmeel.prefix/share/example-robot-data/robots")
FINGERS = ("panda_finger_joint1", "panda_finger_joint2")
VELOCITY = np.array([2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61])  # [rad/s]
ACCELERATION = np.array([15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0])  # [rad/s2]
VISCOUS, COULOMB = 0.5, 0.8  # [N m s/rad], [N m]
CASES = ((0.05, 5000), (0.1, 5000), (0.3, 5000), (0.3, 500))


def panda() -> Robot:
    """The arm with its fingers held."""
    robot = Robot.from_urdf(ROBOTS / "panda_description/urdf/panda.urdf")
    return robot.locked([name for name in FINGERS if name in robot.joint_names])


def motion(robot: Robot, samples: int, *, seed: int, duration: float = 20.0) -> Trajectory:
    """Five harmonics of 0.1 Hz a joint, random, scaled to 95 % of whichever limit they meet first."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, duration, samples)
    rate = 2.0 * np.pi * 0.1 * np.arange(1, 6)
    sine, cosine = np.sin(np.outer(t, rate)), np.cos(np.outer(t, rate))
    channels = [np.zeros((samples, 7)) for _ in range(3)]
    for j in range(7):
        a, b = rng.normal(size=(2, 5))
        own = [
            sine @ a + cosine @ b,
            cosine @ (a * rate) - sine @ (b * rate),
            -sine @ (a * rate**2) - cosine @ (b * rate**2),
        ]
        half = 0.5 * (robot.upper[j] - robot.lower[j])
        scale = 0.95 * min(
            limit / np.abs(x).max() for limit, x in zip((half, VELOCITY[j], ACCELERATION[j]), own, strict=True)
        )
        for channel, x in zip(channels, own, strict=True):
            channel[:, j] = scale * x
    channels[0] += 0.5 * (robot.upper + robot.lower)
    return Trajectory(time=t, joint_names=robot.joint_names, q=channels[0], dq=channels[1], ddq=channels[2])


def mistaken(link: Link, rng: np.random.Generator, share: float) -> Link:
    """A link whose mass, shape and centre are off by a share (of 4 cm, the centre)."""
    if link.parameters is None or not link.parameters[0] > 0.0:
        return link
    J = pseudo_inertia(link.parameters)
    centre = J[:3, 3] / J[3, 3]
    spread = J[:3, :3] / J[3, 3] - np.outer(centre, centre)
    mass = J[3, 3] * np.exp(share * rng.normal())
    values, axes = np.linalg.eigh(spread * np.exp(share * rng.normal()))
    spread = (axes * np.maximum(values, 1e-4)) @ axes.T
    centre = centre + 0.04 * share / 0.6 * rng.normal(size=3)
    J[:3, :3] = mass * (spread + np.outer(centre, centre))
    J[:3, 3] = J[3, :3] = mass * centre
    J[3, 3] = mass
    return replace(link, parameters=parameters_of(J))


@dataclass(frozen=True)
class Case:
    """A simulated identification: model with the mistaken robot, estimate, and unseen motion with its true torque."""

    truth: Model
    theta: np.ndarray
    model: Model
    estimate: Estimate
    unseen: Trajectory
    torque: np.ndarray

    def error(self, theta: np.ndarray) -> float:
        """On the unseen motion, each joint over the deviation of its torque."""
        missed = self.truth.torque(theta, self.unseen) - self.torque
        return float(np.sqrt(np.mean((missed / self.torque.std(axis=0)) ** 2)))


def case(noise: float, samples: int, *, seed: int, share: float = 0.2) -> Case:
    """Noise as a share of each joint's rms torque; share: how wrong the model file is."""
    rng = np.random.default_rng(seed)
    robot = panda()
    truth = Model(robot, (RigidBody(), Viscous(), Coulomb()))
    theta = truth.nominal
    for k, name in enumerate(truth.names):
        if name.endswith("_friction"):
            theta[k] = VISCOUS if "viscous" in name else COULOMB
    train, unseen = motion(robot, samples, seed=seed + 1000), motion(robot, 2000, seed=seed + 5000)
    tau = truth.torque(theta, train)
    tau = tau + noise * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    basis = base_parameters(truth)
    info = truth.absorb([replace(train, tau=tau, source="")], names=basis.names)
    model = Model(replace(robot, links=tuple(mistaken(link, rng, share) for link in robot.links)), truth.terms)
    return Case(truth, theta, model, weighted(info, basis=basis), unseen, truth.torque(theta, unseen))


def cpu(run, times: int = 5) -> float:
    """Least CPU time of this thread [ms]."""
    run()
    spent = []
    for _ in range(times):
        started = time.thread_time()
        run()
        spent.append(time.thread_time() - started)
    return 1e3 * min(spent)


def simulated(seeds: int) -> None:
    print(
        "noise  samples  solver         ratio-1 mean  worst      val mean  worst   steps      kkt  solver ms  whole ms"
    )
    for noise, samples in CASES:
        cases = [case(noise, samples, seed=seed) for seed in range(seeds)]
        for solver in SOLVERS:
            fits = [consistent(c.model, c.estimate, solver=solver) for c in cases]
            excess = np.array([f.ratio - 1.0 for f in fits])
            gain = np.array(
                [c.error(f.theta) / c.error(c.estimate.full(c.truth.names)) for c, f in zip(cases, fits, strict=True)]
            )
            whole = cpu(lambda solver=solver, c=cases[0]: consistent(c.model, c.estimate, solver=solver))
            alone = cpu(lambda f=fits[0]: entropic(f.problem, _start(f))) if solver == "entropic" else float("nan")
            print(
                f"{noise:5.2f}  {samples:7d}  {solver:13s}  {excess.mean():10.1e}  {excess.max():8.1e}"
                f"  {gain.mean():9.3f}  {gain.max():6.3f}  {max(f.steps for f in fits):5d}"
                f"  {max(f.kkt for f in fits):7.0e}  {alone:8.1f}  {whole:9.1f}"
            )
        agreement(cases)


def agreement(cases: list[Case]) -> None:
    """The certificate against the entropic limit, and Cholesky factors from the prior against the entropic optimum."""
    limits, same, steps = [], [], []
    for c in cases:
        certificate = consistent(c.model, c.estimate, solver="semidefinite", mass_cap=1000.0)
        limits.append(abs(certificate.ratio / consistent(c.model, c.estimate, strength=1e-6).ratio - 1.0))
        fit = consistent(c.model, c.estimate)
        other = log_cholesky(fit.problem, _start(fit))
        same.append(fit.problem.misfit(other.y) / fit.problem.misfit(fit.y) - 1.0)
        steps.append(other.steps)
    print(
        f"       certificate and entropic limit (prior at 1e-6): residuals {max(limits):.0e} apart; Cholesky factors "
        f"from the prior: misfit {max(map(abs, same)):.0e} apart after {max(steps)} steps at most"
    )


def _start(fit: Consistent) -> np.ndarray:
    return interior_start(fit.problem, fit.links.start)


def real(folder: Path) -> None:
    from steelyard.assess.validation import score
    from steelyard.estimate.identify import identify
    from steelyard.estimate.predict import predict
    from steelyard.estimate.training import Recording
    from steelyard.formats.csv import read_csv
    from steelyard.terms.offset import Offset

    log = read_csv(folder / "panda_gaz" / "raw.csv")
    robot = Robot.from_urdf(folder / "panda_gaz" / "panda.urdf").for_joints(log.joint_names)
    terms = (RigidBody(), Viscous(), Coulomb(), Offset())
    found = identify(robot, [Recording(log, (0.0, 9.3))], terms=terms, estimator="weighted", cutoff=10.0)

    def errors(theta: np.ndarray) -> list[float]:
        torque = predict(found.model, theta, log, cutoff=10.0)
        return [
            getattr(score(log.ordered(robot.joint_names), torque.time, torque.torque, cutoff=10.0, interval=part), kind)
            for part in ((0.0, 9.3), (9.3, 13.3))
            for kind in ("relative_error", "relative_error_unfiltered")
        ]

    free = errors(found.estimate.full(found.model.names))
    print("\nPanda log, 10 Hz: training and held-out error, filtered / unfiltered [%]")
    print(f"unconstrained        {100 * free[0]:.3f} / {100 * free[1]:.3f}   {100 * free[2]:.3f} / {100 * free[3]:.3f}")
    for scale in (1.0, 0.7, 1.3):
        links = tuple(
            link if link.parameters is None else replace(link, parameters=scale * link.parameters)
            for link in robot.links
        )
        fit = consistent(Model(replace(robot, links=links), terms), found.estimate)
        own = errors(fit.theta)
        print(
            f"prior x {scale:3.1f}          {100 * own[0]:.3f} / {100 * own[1]:.3f}   "
            f"{100 * own[2]:.3f} / {100 * own[3]:.3f}"
            f"   training ratio {own[0] / free[0]:.3f} / {own[1] / free[1]:.3f}, held out "
            f"{100 * (own[2] - free[2]):+.3f} / {100 * (own[3] - free[3]):+.3f}, mass {fit.total_mass:.2f} kg, "
            f"least eigenvalue {fit.least_eigenvalue:.1e}, {fit.steps} steps"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--real", action="store_true")
    given = parser.parse_args()
    simulated(given.seeds)
    if given.real:
        real(Path(os.environ["STEELYARD_REAL_DATA"]))


if __name__ == "__main__":
    main()
