"""Real recordings all the way to model files: identified, made consistent, exported, computed again by Pinocchio."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from steelyard.basis import random_states
from steelyard.session import workflow
from steelyard.session.export import export, values_of, write_export
from steelyard.session.run import Request, run

AGREEMENT = 1e-9
RUNS = {  # folder, recording, fit [s], hold out [s], terms
    "panda": ("panda_gaz", "raw.csv", (0.0, 9.3), (9.3, 13.3), ()),
    "ur10": ("ur10_unisa", "raw.csv", (0.0, 19.264), (19.264, 27.52), ()),
    "tx40": ("tx40", "raw_motor_side.csv", (0.0, 5.0), (5.0, 7.3), ("rigid_body", "rotor_inertia", "viscous", "coulomb",
                                                                  "offset")),
}  # fmt: skip


@pytest.fixture(scope="module", params=RUNS)
def made(request, real_data, repository, tmp_path_factory):
    folder, file, fit, hold, terms = RUNS[request.param]
    recording = real_data / folder / file
    study = repository / "examples" / "studies" / "tx40.toml" if request.param == "tx40" else None
    done = run(
        Request(
            real_data / folder / f"{request.param}.urdf", (recording,), (recording,), fit, hold, study=study,
            terms=terms, consistent=True,
        )
    )  # fmt: skip
    target = tmp_path_factory.mktemp(request.param)
    manifest = workflow.manifest_of(done, None)
    workflow.save(done, workflow.result_of(done, manifest), manifest, target / "session", added=False, force=False)
    exported = export(target / "session", ["urdf", "mjcf"])
    return done, exported, write_export(exported, target / "out", force=False)


def test_both_errors_are_stated_and_every_link_could_exist(made):
    """The consistent model may miss more on these recordings: no rigid robot made them."""
    done, exported, _ = made
    (validation,) = done.validations
    assert 0.01 < validation.score.relative_error < 0.25
    assert validation.score.relative_error < validation.unconstrained + 0.01
    assert done.identification.consistent.least_eigenvalue > 0.0
    assert exported.record.torque_change < AGREEMENT


def test_pinocchio_computes_the_identified_torque(made):
    done, exported, out = made
    (path,) = out.glob("*.candidate.urdf")
    model = pin.buildModelFromUrdf(str(path))
    robot, states = done.robot, random_states(done.identification.model, 20, seed=1)
    at = [model.joints[model.getJointId(name)].idx_v for name in robot.joint_names]
    theta = np.where([name.startswith("link/") for name in exported.full.model.names], exported.full.theta, 0.0)
    ours = exported.full.model.torque(theta, states)
    found = []
    for row in zip(states.q, states.dq, states.ddq, strict=True):
        spread = np.zeros((3, model.nv))
        spread[:, at] = row
        found.append(pin.rnea(model, model.createData(), *spread)[at])
    assert np.all(np.abs(np.array(found) - ours).max(axis=0) <= AGREEMENT * np.abs(ours).max(axis=0))
    joints = values_of(exported.full).joints
    if not exported.record.friction_missed:
        assert model.damping[at].tolist() == [joints[name].damping for name in robot.joint_names]


def test_mujoco_computes_the_identified_torque(made):
    """With the armature, which is the identified rotor inertia; friction apart."""
    done, exported, out = made
    (path,) = out.glob("*.candidate.xml")
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT | mujoco.mjtDisableBit.mjDSBL_EQUALITY
    model.dof_frictionloss[:], model.dof_damping[:] = 0.0, 0.0
    names = exported.full.model.names
    at = [int(model.joint(name).dofadr[0]) for name in done.robot.joint_names]
    kept = [name.startswith("link/") or name.endswith("/rotor_inertia") for name in names]
    states = random_states(done.identification.model, 20, seed=1)
    ours = exported.full.model.torque(np.where(kept, exported.full.theta, 0.0), states)
    data, found = mujoco.MjData(model), []
    for row in zip(states.q, states.dq, states.ddq, strict=True):
        data.qpos[at], data.qvel[at], data.qacc[at] = row
        mujoco.mj_inverse(model, data)
        found.append(data.qfrc_inverse[at].copy())
    assert np.all(np.abs(np.array(found) - ours).max(axis=0) <= AGREEMENT * np.abs(ours).max(axis=0))
