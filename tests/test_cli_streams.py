"""What goes to which stream: stdout is the result's alone, and no name from a file drives the terminal."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

import arm
import steelyard as sy
import steelyard.__main__ as command
from steelyard.cli.arguments import interval
from steelyard.cli.main import main
from steelyard.cli.output import print_findings, printable, say, show
from steelyard.errors import StudyError
from steelyard.finding import Finding
from steelyard.simulate.robots import robot_file


def status(*arguments):
    with pytest.raises(SystemExit) as left:
        main(list(map(str, arguments)))
    return left.value.code


def test_control_characters_are_spelled_out(capsys):
    """Escape, bell, a C1 control, a right-to-left override; letters of any script stay."""
    hostile = "a\x1b[2J\x07\x9b31m\u202eb"
    assert printable(hostile) == "a\\x1b[2J\\x07\\x9b31m\\u202eb"
    assert printable("Gelenk 1\tü 关节\n") == "Gelenk 1\tü 关节\n"
    show(hostile)
    say(hostile)
    print_findings([Finding("model.name", "info", hostile, where=hostile, cure=hostile)])
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert out.count("\\x1b[2J") == 4


def test_names_in_a_model_file_do_not_drive_the_terminal(tmp_path, capsys):
    text = robot_file("arm7.urdf").read_text().replace("joint_7", "joint_7\u202e\x9b")
    path = tmp_path / "hostile.urdf"
    path.write_text(text)
    for verb in ("info", "lint", "base"):
        status(verb, path)
    out, err = capsys.readouterr()
    assert "\u202e" not in out + err
    assert "\x9b" not in out + err


def test_what_a_term_of_ones_own_prints_is_not_in_the_json(tmp_path, capsys, monkeypatch):
    (tmp_path / "talkative.py").write_text(
        "from steelyard.terms.offset import Offset as Own\n"
        "print('imported')\n"
        "class Offset:\n"
        "    def columns(self, robot):\n"
        "        print('columns')\n"
        "        return Own().columns(robot)\n"
        "    def block(self, robot, trajectory):\n"
        "        print('block')\n"
        "        return Own().block(robot, trajectory)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    path = arm.motion(duration=6.0, rate=100.0)
    noise = 0.05 * np.random.default_rng(1).normal(size=path.q.shape)
    sy.write_csv(tmp_path / "train.csv", replace(arm.recorded(path, noise), dq=None, ddq=None))
    assert status(
        "identify", "--robot", robot_file("arm7.urdf"), "--train", tmp_path / "train.csv", "--json",
        "--term", "rigid_body", "viscous", "coulomb", "talkative:Offset",
    ) == 0  # fmt: skip
    out, err = capsys.readouterr()
    assert json.loads(out)["terms"][-1] == "talkative:Offset"
    assert "imported" in err
    assert "block" in err


def test_base_says_all_of_it_on_stdout(capsys):
    assert status("base", robot_file("arm7.urdf")) == 0
    out, err = capsys.readouterr()
    assert "without any effect on the torques: link/" in out
    assert err == ""


def test_interrupted_while_it_is_imported(monkeypatch, capsys):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["steelyard.cli.main"], "main", interrupted)
    with pytest.raises(SystemExit) as left:
        command.main()
    assert left.value.code == 130
    assert capsys.readouterr().err == "steelyard: interrupted\n"


@pytest.mark.parametrize(
    "text", ["5:2", "3:3", "nan:3", "0:nan", "0:inf", "1e400:2", "0:1:2", ":", "5:", "1_0:20", "\uff11:\uff15", "0,5:3"]
)
def test_an_interval_is_two_plain_numbers(text):
    with pytest.raises(StudyError, match="the earlier one first"):
        interval(text)
    assert interval("-1.5:9.3e0") == (-1.5, 9.3)
