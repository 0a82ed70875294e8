"""Stages from a study file: the recordings find their stage, the result is like any other, and one mode alone works."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import robots
from steelyard.errors import StudyError
from steelyard.formats.csv_write import write_csv
from steelyard.model import Model
from steelyard.session.run import Request, run
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous

TERMS = '[terms]\nnames = ["rigid_body", "viscous", "coulomb", "offset"]\n'
STAGES = """
[stages.poses]
settle = "gravity"
train = ["poses.csv"]
[stages.speeds]
settle = "friction"
train = ["slow.csv"]
"""
REST = '[stages.rest]\nsettle = "all"\ntrain = ["rich.csv"]\n'
FRICTION = {"viscous_friction": 0.4, "coulomb_friction": 0.7, "bias": -0.1}


def moved(model, theta, pace, *, seed):
    """Twenty seconds at 200 Hz of two harmonics a joint; `pace` scales time. None: twenty poses."""
    t = np.arange(0.0, 20.0, 0.005)
    rng = np.random.default_rng(seed)
    phase = rng.uniform(0.0, 6.0, (2, 2))
    if pace is None:
        poses, s = rng.uniform(-1.5, 1.5, (21, 2)), np.clip(2.5 * (t % 1.0), 0.0, 1.0)[:, None]  # 0.4 s to the next
        k = t.astype(int)
        step = poses[k + 1] - poses[k]
        q = poses[k] + step * (10 * s**3 - 15 * s**4 + 6 * s**5)
        dq = 2.5 * step * (30 * s**2 - 60 * s**3 + 30 * s**4)
        ddq = 6.25 * step * (60 * s - 180 * s**2 + 120 * s**3)
    else:
        w = pace * 2.0 * np.pi * np.array([0.15, 0.35])
        q, dq, ddq = (
            sum(
                a * w[k] ** order * np.sin(w[k] * t[:, None] + phase[k] + order * np.pi / 2)
                for k, a in ((0, 1.0), (1, 0.5))
            )
            for order in range(3)
        )
    motion = replace(robots.states(model.robot.joint_names, len(t), seed=0), time=t, q=q, dq=dq, ddq=ddq)
    tau = model.torque(theta, motion) + 0.1 * rng.normal(size=q.shape)
    return replace(robots.with_torque(motion, tau), ddq=None)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """Folder with robot and recordings, model and truth: both links a fifth heavier than the file says."""
    folder = tmp_path_factory.mktemp("campaign")
    robot = robots.load(folder, "planar_offset")
    model = Model(robot, (RigidBody(), Viscous(), Coulomb(), Offset()))
    theta = model.nominal * 1.2
    for k, name in enumerate(model.names):
        theta[k] = FRICTION.get(name.rsplit("/", 1)[1], theta[k])
    for k, (name, pace) in enumerate((("poses", None), ("slow", 0.3), ("rich", 1.5), ("unseen", 1.2))):
        write_csv(folder / f"{name}.csv", moved(model, theta, pace, seed=k))
    return folder, model, theta


def outcome(folder: Path, study: str, *train: str, **more):
    (folder / "study.toml").write_text(study)
    urdf = next(folder.glob("*.urdf"))
    return run(
        Request(
            model=urdf, train=tuple(folder / name for name in train), validate=(folder / "unseen.csv",),
            study=folder / "study.toml", **more,
        )
    )  # fmt: skip


def test_a_campaign_of_three_stages(campaign):
    """2 % on unseen motion; bodies to 3 g m and 3 g m2, which is 1 % of the largest."""
    folder, _, theta = campaign
    done = outcome(folder, TERMS + STAGES + REST, "poses.csv", "slow.csv", "rich.csv")
    estimate = done.identification.estimate
    assert estimate.estimator == "staged"
    assert done.validations[0].score.relative_error < 0.02
    assert done.feed_forward
    wanted = done.identification.basis.regroup(theta)
    for name, value, right in zip(estimate.names, estimate.theta, wanted, strict=True):
        # Coulomb friction of the library is smooth near standstill, that of the simulation is sharp
        assert value == pytest.approx(right, abs=0.003 if name.startswith("link/") else 0.12)
    assert np.all(np.isfinite(estimate.deviation))
    assert not [f for f in done.findings if f.code == "fit.stage_spoiled"]


def test_gravity_alone(campaign):
    """First moments and offsets are found, the rest is the model file's."""
    folder, model, theta = campaign
    done = outcome(folder, TERMS + STAGES.split("[stages.speeds]")[0], "poses.csv")
    estimate, basis = done.identification.estimate, done.identification.basis
    wanted, nominal = basis.regroup(theta), basis.regroup(model.nominal)
    for name, value, right, file in zip(basis.names, estimate.theta, wanted, nominal, strict=True):
        if "first_moment" in name or name.endswith("/bias"):
            assert value == pytest.approx(right, abs=0.03)
        else:
            assert value == file


@pytest.mark.parametrize(
    ("study", "train", "what"),
    [
        (STAGES, ("poses.csv", "slow.csv"), "terms of the model"),
        (TERMS + STAGES, ("poses.csv",), "belongs to one stage"),
        (TERMS + STAGES, ("poses.csv", "slow.csv", "rich.csv"), "no stage names"),
        (TERMS + STAGES + REST.replace("rich", "slow"), ("poses.csv", "slow.csv"), "belongs to one stage"),
        (TERMS + STAGES.replace('"friction"', '"fricton"'), ("poses.csv", "slow.csv"), "not a part"),
        (TERMS + '[estimate]\nname = "weighted"\n' + STAGES, ("poses.csv", "slow.csv"), "estimator of their own"),
        (TERMS + STAGES.replace("settle", "setle", 1), ("poses.csv", "slow.csv"), "unknown key|required"),
    ],
)
def test_campaigns_that_make_no_sense_are_refused(campaign, study, train, what):
    with pytest.raises(StudyError, match=what):
        outcome(campaign[0], study, *train)
