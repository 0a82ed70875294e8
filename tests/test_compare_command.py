"""`steelyard compare` of a result that uses a term of the user's own: run when it is named, and only then."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import arm
import steelyard as sy
from steelyard.cli.main import main
from steelyard.simulate.robots import robot_file

TERMS = ("rigid_body", "viscous", "coulomb", "drift:Offset")
SOURCE = """from steelyard.terms.offset import Offset as Own
class Offset:
    def columns(self, robot):
        print("columns")
        return Own().columns(robot)
    def block(self, robot, trajectory):
        return Own().block(robot, trajectory)
"""


def status(*arguments):
    with pytest.raises(SystemExit) as left:
        main(list(map(str, arguments)))
    return left.value.code


def test_a_term_of_ones_own_is_run_when_it_is_named(tmp_path, capsys, monkeypatch):
    (tmp_path / "drift.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    model, result = robot_file("arm7.urdf"), tmp_path / "result"
    path = arm.motion(duration=6.0, rate=100.0)
    noise = 0.05 * np.random.default_rng(1).normal(size=path.q.shape)
    sy.write_csv(tmp_path / "train.csv", replace(arm.recorded(path, noise), dq=None, ddq=None))
    train = ("--train", tmp_path / "train.csv")
    assert status("identify", "--robot", model, *train, "--output", result, "--term", *TERMS) == 0
    capsys.readouterr()
    assert status("compare", result, model) == 3
    assert "--term rigid_body viscous coulomb drift:Offset" in capsys.readouterr().err
    assert status("compare", result, model, "--term", "drift:Other") == 3
    capsys.readouterr()
    assert status("compare", result, model, "--grid", "--json", "--term", *TERMS) == 0
    found = json.loads(capsys.readouterr().out)
    assert "actuator/joint_1/bias" in [row["name"] for row in found["parameters"]]
    assert status("compare", result, result, "--grid", "--json", "--term", "drift:Offset") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["grid"]["mass_matrix"] == 0.0
    assert {row["deviations"] for row in found["parameters"]} == {0.0}
