"""How often a 95 % interval holds the truth: simulated runs of a seven-joint arm with fixed parameters.

    python benchmarks/interval_coverage.py [--runs 400]

The arm follows one Fourier motion of 20 s; each run has new noise on the torque, white or low-passed (5 of 50 Hz).
Coverage is pooled over the 64 base parameters; the band is where each of them must lie, by the binomial distribution,
so that all do in 999 of 1000 such studies. `naive` takes the noise for white, `honest` reads its correlation time from
ten stretches of the recording, `decimated` keeps one sample of twelve, `bootstrap` draws forty stretches anew. With the
prior on, the true parameters are drawn from it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import binom

from steelyard.basis import ParameterBasis, base_parameters
from steelyard.data.lowpass import zero_phase
from steelyard.data.trajectory import Trajectory
from steelyard.estimate.blocks import absorb_blocks
from steelyard.estimate.bootstrap import bootstrap
from steelyard.estimate.coloured import fit_blocks
from steelyard.estimate.least_squares import weighted
from steelyard.estimate.prior import Prior, physical_prior
from steelyard.model import Model
from steelyard.preparation.decimate import decimate
from steelyard.robot.robot import Robot
from steelyard.simulate.reference import MotionLimits, rest_to_rest
from steelyard.simulate.robots import robot_file
from steelyard.terms.names import terms_named

DURATION, RATE, CUTOFF = 20.0, 100.0, 5.0  # [s], [Hz], [Hz]
NOISE = np.array([1.0, 3.0, 0.5, 2.0, 0.2, 0.3, 0.1])  # deviation of each joint before the low-pass [N m]
FRICTION = {"viscous_friction": 1.0, "coulomb_friction": 2.0, "bias": 0.3}

Array = np.ndarray
Interval = Callable[[Trajectory], Array]


@dataclass(frozen=True)
class Study:
    """What stays the same in all runs."""

    model: Model
    basis: ParameterBasis
    path: Trajectory
    theta: Array
    prior: Prior

    def naive(self, recording: Trajectory) -> Array:
        info = self.model.absorb([recording], names=self.basis.names)
        return weighted(info, basis=self.basis).interval()

    def honest(self, recording: Trajectory) -> Array:
        return fit_blocks(self._blocks(recording), basis=self.basis).interval()

    def with_prior(self, recording: Trajectory) -> Array:
        return fit_blocks(self._blocks(recording), basis=self.basis, prior=self.prior).interval()

    def decimated(self, recording: Trajectory) -> Array:
        return self.naive(decimate(recording, 12))

    def bootstrap(self, recording: Trajectory) -> Array:
        blocks = self._blocks(recording, 40)
        return bootstrap(blocks, fit_blocks(blocks, basis=self.basis), draws=400).interval()

    def _blocks(self, recording: Trajectory, count: int = 10) -> tuple:
        return absorb_blocks(self.model, [recording], names=self.basis.names, count=count)


def prepare() -> Study:
    """The arm, its motion, the true parameters, and the prior about them."""
    model = Model(Robot.from_urdf(robot_file("arm7.urdf")), terms_named(("rigid_body", "viscous", "coulomb", "offset")))
    robot, basis = model.robot, base_parameters(model)
    middle = 0.5 * (robot.lower + robot.upper)
    limits = MotionLimits(middle, robot.lower, robot.upper, robot.velocity_limit, np.full(7, 15.0))
    reference = rest_to_rest(limits, period=10.0, harmonics=5, rng=np.random.default_rng(3), amplitude=0.6)
    t = np.arange(round(DURATION * RATE)) / RATE
    path = Trajectory(
        t, robot.joint_names, q=reference.position(t), dq=reference.velocity(t), ddq=reference.acceleration(t)
    )
    kinds = [name.rsplit("/", 1)[-1] for name in model.names]
    theta = np.array([FRICTION.get(kind, value) for kind, value in zip(kinds, model.nominal, strict=True)])
    recording = replace(path, tau=model.torque(theta, path), source="")
    prior = physical_prior(model, model.absorb([recording], names=basis.names))
    return Study(model, basis, path, theta, prior)


def noise(rng: np.random.Generator, samples: int, *, coloured: bool) -> Array:
    """(T, 7) [N m]."""
    settle = 200
    drawn = rng.normal(size=(samples + 2 * settle, NOISE.size)) * NOISE
    return (zero_phase(drawn, 1.0 / RATE, CUTOFF, axis=0) if coloured else drawn)[settle:-settle]


def coverage(study: Study, interval: Interval, *, runs: int, coloured: bool, drawn: bool) -> Array:
    """(b,) share of runs whose interval holds the truth of each base parameter."""
    rng = np.random.default_rng(0)
    theta = study.theta
    inside = np.zeros((runs, study.basis.count))
    clean = study.model.torque(theta, study.path)
    believed = np.isfinite(study.prior.deviation)
    spread = np.where(believed, study.prior.deviation, 0.0)
    for run in range(runs):
        if drawn:
            theta = np.where(believed, study.prior.mean, study.theta) + spread * rng.normal(size=theta.size)
            clean = study.model.torque(theta, study.path)
        tau = clean + noise(rng, len(clean), coloured=coloured)
        low, high = interval(replace(study.path, tau=tau, source="")).T
        truth = study.basis.regroup(theta)
        inside[run] = (low <= truth) & (truth <= high)
    return inside.mean(axis=0)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=400)
    runs = parser.parse_args().runs
    study = prepare()
    low, high = binom.ppf([0.0005 / study.basis.count, 1.0 - 0.0005 / study.basis.count], runs, 0.95) / runs
    print(f"{runs} runs, {study.basis.count} parameters; each must lie in {100 * low:.1f} .. {100 * high:.1f} %")
    print(f"{'noise':9} {'interval':11} {'pooled':>7} {'least':>7} {'most':>7} {'CPU s a run':>12}")
    cases: tuple[tuple[bool, Interval, bool], ...] = (
        (False, study.naive, False),
        (False, study.honest, False),
        (False, study.with_prior, True),
        (True, study.naive, False),
        (True, study.decimated, False),
        (True, study.honest, False),
        (True, study.with_prior, True),
        (True, study.bootstrap, False),
    )
    for coloured, interval, drawn in cases:
        started = time.process_time()
        share = 100.0 * coverage(study, interval, runs=runs, coloured=coloured, drawn=drawn)
        spent = (time.process_time() - started) / runs
        print(
            f"{'filtered' if coloured else 'white':9} {interval.__name__:11} {share.mean():6.2f}% {share.min():6.1f}% "
            f"{share.max():6.1f}% {spent:12.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
