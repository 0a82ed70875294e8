"""Our own arms: the URDF in Pinocchio and the MJCF in MuJoCo are the same robot, and a physically possible one."""

from __future__ import annotations

from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin
import pytest

# Sums of the primitives' masses that the inertias were computed from [kg].
MASSES = {"arm6": 24.62, "arm7": 18.87, "prismatic_continuous": 8.25, "planar2r": 3.7}
# Both programs carry double precision through a dozen bodies; MuJoCo also diagonalises each tensor on loading.
AGREEMENT = 1e-9


@pytest.fixture(scope="module")
def robots(repository):
    return repository / "examples" / "robots"


def pinocchio_torque(model, q, v, a):
    """(n,) rigid body torque; q holds one scalar per joint, in Pinocchio's joint order."""
    return pin.rnea(model, model.createData(), pin.integrate(model, pin.neutral(model), q), v, a)


def mujoco_torque(model, data, q, v, a):
    data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
    mujoco.mj_inverse(model, data)
    return data.qfrc_inverse.copy()


def mujoco_model(path):
    """The model without what is no smooth dynamics: contacts, stops and the soft friction band."""
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    model.dof_frictionloss[:] = 0
    return model, mujoco.MjData(model)


def states(joints, count=50, seed=3):
    """Random q, dq, ddq well beyond what the arms do."""
    rng = np.random.default_rng(seed)
    return zip(*(scale * rng.uniform(-1, 1, (count, joints)) for scale in (2.5, 3.0, 10.0)), strict=True)


@pytest.mark.parametrize("arm", ["arm6", "arm7"])
def test_urdf_and_mjcf_are_one_robot(robots, arm):
    urdf = pin.buildModelFromUrdf(str(robots / f"{arm}.urdf"))
    mjcf, data = mujoco_model(robots / f"{arm}.xml")
    names = list(urdf.names)[1:]
    assert names == [mjcf.joint(j).name for j in range(mjcf.njnt)]
    worst = 0.0
    for q, v, a in states(urdf.nv):
        ours = pinocchio_torque(urdf, q, v, a) + mjcf.dof_armature * a + mjcf.dof_damping * v
        theirs = mujoco_torque(mjcf, data, q, v, a)
        worst = max(worst, np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))
    assert worst < AGREEMENT


@pytest.mark.parametrize("arm", ["arm6", "arm7"])
def test_urdf_and_mjcf_share_limits_and_friction(robots, arm):
    urdf = pin.buildModelFromUrdf(str(robots / f"{arm}.urdf"))
    mjcf = mujoco.MjModel.from_xml_path(str(robots / f"{arm}.xml"))
    effort = np.array([-1, 1]) * urdf.effortLimit[:, None]
    np.testing.assert_array_equal(mjcf.jnt_range, np.column_stack([urdf.lowerPositionLimit, urdf.upperPositionLimit]))
    np.testing.assert_array_equal(mjcf.jnt_actfrcrange, effort)
    np.testing.assert_array_equal(mjcf.actuator_ctrlrange, effort)
    np.testing.assert_array_equal(mjcf.numeric("velocity_limit").data, urdf.velocityLimit)
    np.testing.assert_array_equal(mjcf.dof_damping, urdf.damping)
    np.testing.assert_array_equal(mjcf.dof_frictionloss, urdf.friction)
    assert (mjcf.dof_damping > 0).all()
    assert (mjcf.dof_frictionloss > 0).all()
    assert (mjcf.dof_armature > 0).all()


@pytest.mark.parametrize("robot", ["prismatic_continuous", "planar2r"])
def test_pinocchio_and_mujoco_read_one_urdf_alike(robots, robot):
    path = robots / f"{robot}.urdf"
    ours = pin.buildModelFromUrdf(str(path))
    theirs, data = mujoco_model(path)
    assert list(ours.names)[1:] == [theirs.joint(j).name for j in range(theirs.njnt)]
    worst = 0.0
    for q, v, a in states(ours.nv):
        reference = mujoco_torque(theirs, data, q, v, a)
        torque = pinocchio_torque(ours, q, v, a) + ours.damping * v
        worst = max(worst, np.linalg.norm(torque - reference) / np.linalg.norm(reference))
    assert worst < AGREEMENT


def test_the_small_arm_has_every_kind_of_joint(robots):
    model = pin.buildModelFromUrdf(str(robots / "prismatic_continuous.urdf"))
    kinds = [joint.shortname() for joint in list(model.joints)[1:]]
    assert kinds == ["JointModelRUBZ", "JointModelPrismaticUnaligned", "JointModelRUBX", "JointModelRevoluteUnaligned"]
    base = model.frames[model.getFrameId("base")].placement.rotation
    assert (np.abs(base.T @ model.gravity.linear)[:2] > 1).all()  # the mount leans to both sides


def numbers(element, attribute):
    return np.array([float(word) for word in element.get(attribute).split()])


def rotation(rpy):
    return pin.rpy.rpyToMatrix(*rpy)


def inertials(path):
    """(link, mass, centre of mass, inertial rotation, tensor about the centre of mass in link axes) from the file."""
    for link in ElementTree.parse(path).getroot().iter("link"):
        inertial = link.find("inertial")
        if inertial is None:
            continue
        origin, tensor = inertial.find("origin"), inertial.find("inertia")
        xx, xy, xz, yy, yz, zz = (float(tensor.get(f"i{pair}")) for pair in ("xx", "xy", "xz", "yy", "yz", "zz"))
        turn = rotation(numbers(origin, "rpy"))
        about_com = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
        yield link.get("name"), numbers(inertial.find("mass"), "value")[0], numbers(origin, "xyz"), turn, about_com


@pytest.mark.parametrize("robot", MASSES)
def test_every_link_is_physically_possible(robots, robot):
    """The pseudo-inertia [[tr(I)/2 - I, h], [h', m]] about the link's origin is positive definite."""
    for link, mass, com, _, about_com in inertials(robots / f"{robot}.urdf"):
        inertia = about_com + mass * (com @ com * np.eye(3) - np.outer(com, com))
        moments = np.trace(inertia) / 2 * np.eye(3) - inertia
        pseudo = np.block([[moments, mass * com[:, None]], [mass * com[None], np.array([[mass]])]])
        assert np.linalg.eigvalsh(pseudo)[0] > 0, link
        # and no link is a sheet thinner than 2 mm radius of gyration
        assert np.linalg.eigvalsh(np.trace(about_com) / 2 * np.eye(3) - about_com)[0] > mass * 0.002**2, link


@pytest.mark.parametrize("robot", MASSES)
def test_masses_are_as_built(robots, robot):
    assert sum(mass for _, mass, *_ in inertials(robots / f"{robot}.urdf")) == pytest.approx(MASSES[robot], abs=1e-9)
    if robot.startswith("arm"):
        mjcf = mujoco.MjModel.from_xml_path(str(robots / f"{robot}.xml"))
        assert mjcf.body_mass.sum() == pytest.approx(MASSES[robot], abs=1e-9)


@pytest.mark.parametrize("arm", ["arm6", "arm7"])
def test_inertial_frames_are_not_all_aligned(robots, arm):
    """A reader that drops the inertial's offset or rotation gets these arms wrong."""
    found = list(inertials(robots / f"{arm}.urdf"))
    assert sum(not np.allclose(turn, np.eye(3), atol=0.05) for _, _, _, turn, _ in found) >= 2
    assert sum(np.count_nonzero(com) >= 2 for _, _, com, _, _ in found) >= 4
