"""The preview of a motion works without a network; the plan, and the commands of the page, do what they say."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from ruamel.yaml import YAML

from steelyard.cli.main import main
from steelyard.report.preview import preview_page, signal_figure
from steelyard.report.replay import FRAMES, replay_data
from steelyard.session.excitation import Excitation, Wish, excite
from steelyard.session.excite_subject import read_subject

ROOT = Path(__file__).parent.parent
ARM, LIMITS = (ROOT / "examples" / "robots" / name for name in ("arm6.urdf", "arm6_joint_limits.yaml"))
PLANAR = ROOT / "examples" / "robots" / "planar2r.urdf"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return ended.value.code


@pytest.fixture(scope="module")
def made() -> Excitation:
    found = excite(read_subject(ARM, LIMITS), Wish(period=4.0, harmonics=4, budget=0.5))
    assert found is not None
    return found


@pytest.fixture(scope="module")
def page(made) -> str:
    return preview_page(made).decode()


def test_the_page_loads_nothing(page):
    own = page.replace(page[page.index("<script>") : page.index("</script>")], "")  # the text of plotly holds addresses
    assert re.findall(r"""(?:src|href)\s*=\s*["'](?!#)""", own) == []
    assert "default-src 'none'" in page
    assert "@import" not in own


def test_every_limit_is_drawn(made):
    figure = signal_figure(made)
    limits = made.subject.limits
    drawn = [float(trace.y[0]) for trace in figure.data if trace.name == "limit"]
    wanted = [
        bound
        for j in range(6)
        for low, high in (
            (limits.lower[j], limits.upper[j]), (-limits.velocity[j], limits.velocity[j]),
            (-limits.acceleration[j], limits.acceleration[j]), (-limits.effort[j], limits.effort[j]),
        )
        for bound in (low, high)
    ]  # fmt: skip
    np.testing.assert_allclose(drawn, wanted, rtol=1e-6)  # drawn in single precision


def test_the_replay_shows_the_robot_where_it_is(made):
    """Each joint of the skeleton against Pinocchio, to the tenth of a millimetre that the page carries."""
    data = replay_data(made.subject.model.robot, made.design.motion)
    model = pin.buildModelFromUrdf(str(ARM))
    state = model.createData()
    for k in (0, 117, FRAMES):
        q = made.design.motion.at(np.array([k * made.design.motion.period / FRAMES])).q[0]
        pin.forwardKinematics(model, state, q)
        ends = np.array(data["frames"][k]).reshape(-1, 2, 3)[:, 1]
        np.testing.assert_allclose(ends, [state.oMi[i].translation for i in range(1, 7)], atol=6e-5)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_the_page_draws_itself_without_a_network(page, tmp_path):
    """The script of the replay writes the clock, and plotly its curves, with every name lookup refused."""
    file = tmp_path / "preview.html"
    file.write_text(page, encoding="utf-8")
    done = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
            "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=5000", "--dump-dom", file.as_uri(),
        ],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert re.search(r'id="replay-clock"[^>]*>0\.00 s<', done.stdout)
    assert done.stdout.count('class="scatterlayer mlayer"') == 6 * 4


def test_a_plan_is_written_with_what_every_stage_tells(tmp_path, capsys):
    limits = PLANAR.with_name("planar2r_joint_limits.yaml")
    target = tmp_path / "plan"
    arguments = (
        "excite", "--robot", PLANAR, "--limits", limits, "--plan", "--budget", 0.3, "--rate", 100, "--noise", 0.1,
        "--term", "rigid_body", "viscous", "coulomb", "offset", "--quiet", "--output", target,
    )  # fmt: skip
    assert run(*arguments) == 0
    shown = capsys.readouterr().out
    table = YAML(typ="safe", pure=True).load((target / "plan.yaml").read_text())
    assert list(table["stages"]) == list("ABCDEF")
    for letter, stage in table["stages"].items():
        assert stage["certificate"]["passed"]
        assert (target / f"stage_{letter}").is_dir()
        assert f"{letter}  {stage['title']}" in shown
    known = [table["stages"][letter]["together"] for letter in "ABCD"]
    for before, after in itertools.pairwise(known):  # more data never know less
        assert all(after[name] <= (before[name] or np.inf) * (1.0 + 1e-9) for name in after if after[name] is not None)
    assert all(value is not None for value in known[-1].values())
    assert table["validation_distance"]["median"] > 0.1
    motion = target / "stage_B" / "motion.csv"
    assert run("excite", "--robot", PLANAR, "--limits", limits, "--check", motion) == 0
    assert run(*arguments) == 3  # not without --force
    assert sorted(os.listdir(tmp_path)) == ["plan"]


COMMANDS = [
    line
    for block in re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "excitation.md").read_text(), flags=re.DOTALL)
    for line in block.splitlines()
    if line.startswith("steelyard ")
]


def test_the_commands_of_the_page_run(tmp_path, monkeypatch):
    """In their order, in an empty directory beside the examples, with a shorter search."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    assert len(COMMANDS) == 3
    for line in COMMANDS:
        words = re.sub(r"--budget \d+", "--budget 1", line).split()
        assert run(*words[1:], "--quiet") == 0, line
    assert (tmp_path / "arm6-motion" / "preview.html").is_file()
