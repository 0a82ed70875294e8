"""Our own terms, estimators and readers pass the public suites, and the suites catch what is broken."""

import shutil
import sys
import types
from dataclasses import dataclass

import numpy as np
import pytest

import steelyard as sy
from steelyard import testing
from steelyard.estimate.prior import Prior
from steelyard.simulate.robots import robot_file
from steelyard.terms.names import TERMS


@pytest.fixture(scope="module")
def robot():
    return sy.Robot.from_urdf(robot_file("arm6.urdf"))


@pytest.mark.parametrize("name", TERMS)
def test_terms_conform(name, robot):
    testing.check_term(TERMS[name](), robot)


@pytest.mark.parametrize("name", TERMS)
def test_terms_conform_where_the_base_floats(name):
    testing.check_term(TERMS[name](), sy.Robot.from_urdf(robot_file("arm6.urdf"), floating=True))


def test_a_term_for_some_joints_conforms(robot):
    testing.check_term(sy.Viscous(joints=("elbow", "waist")), robot)
    testing.check_term(sy.Coulomb(smoothing=0.05), robot)


@pytest.mark.parametrize("fit", [sy.ordinary, sy.weighted])
def test_least_squares_conform(fit):
    if fit is sy.ordinary:
        # two joints of unequal noise: the sandwich covariance must know it
        testing.check_estimator(lambda info: sy.ordinary(info))
    else:
        testing.check_estimator(lambda info: sy.weighted(info))


def test_a_prior_at_the_truth_is_exact():
    names = tuple(f"c{i}" for i in range(6))
    prior = Prior(names, testing.TRUTH.copy(), np.full(6, 0.1))
    testing.check_estimator(lambda info: sy.with_prior(info, prior), truth_is_prior=True)


def test_the_csv_reader_conforms(tmp_path, robot):
    states = sy.Trajectory(
        time=np.arange(50) * 0.01, joint_names=("a", "b"), q=np.random.default_rng(0).random((50, 2))
    )
    sy.write_csv(tmp_path / "run.csv", states)
    testing.check_reader(sy.read_csv, tmp_path / "run.csv")
    testing.check_reader(sy.read_csv, str(tmp_path / "run.csv"))


@pytest.mark.parametrize("floating", [False, True])
def test_the_term_of_the_page_conforms(repository, monkeypatch, floating):
    page = (repository / "docs" / "extending.md").read_text(encoding="utf-8")
    text = page.split("```python\n")[1].split("```")[0]
    module = types.ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)  # where dataclass looks
    exec(compile(text, "extending.md", "exec"), vars(module))
    testing.check_term(module.fan, sy.Robot.from_urdf(robot_file("arm7.urdf"), floating=floating))


@dataclass(frozen=True)
class Smeared:
    """A term that looks at its neighbours in time."""

    def columns(self, robot):
        return sy.Viscous().columns(robot)

    def block(self, robot, trajectory):
        return np.cumsum(trajectory.channel("dq"), axis=0)


@dataclass(frozen=True)
class Elsewhere:
    """A term that acts on joints it does not name."""

    def columns(self, robot):
        return (sy.Column("odd/one", "N m", (0,)),)

    def block(self, robot, trajectory):
        return np.ones((len(trajectory), len(robot.joint_names), 1))


@dataclass(frozen=True)
class Listed:
    """A term whose block is a list, and whose column is a tuple where `bare`."""

    bare: bool

    def columns(self, robot):
        return (("odd/one", "N m", (0,)) if self.bare else sy.Column("odd/one", "N m", (0,)),)

    def block(self, robot, trajectory):
        return [[1.0]] * len(trajectory)


@pytest.mark.parametrize(
    ("term", "law"),
    [
        (Smeared(), "one another"),
        (Elsewhere(), "joints it names"),
        (Listed(False), "block is an array"),
        (Listed(True), "gives Columns"),
    ],
)
def test_a_broken_term_is_caught(term, law, robot):
    with pytest.raises(testing.NotConforming, match=law):
        testing.check_term(term, robot)


def test_a_biased_estimator_is_caught():
    def shrunk(info):
        estimate = sy.weighted(info)
        return type(estimate)(**{**vars(estimate), "theta": 0.99 * estimate.theta})

    with pytest.raises(testing.NotConforming, match="noise-free"):
        testing.check_estimator(shrunk)


def test_overconfident_intervals_are_caught():
    def sure(info):
        estimate = sy.weighted(info)
        fields = {name: getattr(estimate, name) for name in estimate.__dataclass_fields__}
        return type(estimate)(**{**fields, "noise": 0.5 * estimate.noise})

    with pytest.raises(testing.NotConforming, match="cover"):
        testing.check_estimator(sure)


def test_a_lenient_reader_is_caught(tmp_path):
    states = sy.Trajectory(time=np.arange(9) * 0.01, joint_names=("a",), q=np.zeros((9, 1)))
    sy.write_csv(tmp_path / "run.csv", states)

    def lenient(path):
        if path.is_file() and path.stat().st_size > 40:
            copy = tmp_path / "copy" / path.name
            copy.parent.mkdir(exist_ok=True)
            shutil.copy(tmp_path / "run.csv", copy)
            return sy.read_csv(copy)
        return sy.read_csv(path)

    with pytest.raises(testing.NotConforming, match="refused"):
        testing.check_reader(lenient, tmp_path / "run.csv")
