"""The judge of accuracy, against figures known by hand and, where it is present, the definition it was written from."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

RATE, CUTOFF = 200.0, 20.0  # [Hz]


def load(path: Path):
    spec = importlib.util.spec_from_file_location("judge", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["judge"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def judge(repository):
    return load(repository / "benchmarks" / "score.py")


def write(path: Path, time, prefix: str, **columns) -> Path:
    header = ",".join(["time_s", *(f"{prefix}/{name}" for name in columns)])
    np.savetxt(path, np.column_stack([time, *columns.values()]), delimiter=",", header=header, comments="", fmt="%.17g")
    return path


@pytest.fixture
def files(tmp_path):
    """10 s of two joints at 200 Hz with an irregular clock and noise; a prediction at 73 Hz, wrong by 10 and 20 %."""
    draw = np.random.default_rng(3)
    time = np.arange(0, 10, 1 / RATE) + draw.uniform(-1e-3, 1e-3, int(10 * RATE))
    other = np.arange(-0.1, 10.1, 1 / 73)

    def torque(t):
        return {"shoulder": 8 * np.sin(2 * np.pi * 0.5 * t) + 3, "elbow": 5 * np.cos(2 * np.pi * 0.8 * t)}

    noisy = {name: values + draw.normal(0, 0.2, time.size) for name, values in torque(time).items()}
    wrong = {name: values * factor for (name, values), factor in zip(torque(other).items(), (0.9, 1.2), strict=True)}
    return write(tmp_path / "run.csv", time, "tau", **noisy), write(tmp_path / "hat.csv", other, "tau_hat", **wrong)


def test_a_tenth_too_little_is_an_error_of_a_tenth(judge):
    time = np.arange(0, 20, 1 / RATE)
    torque = np.column_stack([8 * np.sin(2 * np.pi * 0.5 * time), 5 * np.sin(2 * np.pi * 0.25 * time)])
    measured = judge.Signals(time, ("a", "b"), torque)
    predicted = judge.Signals(time, ("b", "a"), 0.9 * torque[:, ::-1])
    result = judge.score(measured, predicted, cutoff=CUTOFF, interval=(4, 16))
    # both ways through the filter pass 0.5 Hz with 1 / (1 + (0.5 / 20)^8): 1e-13 short of 1; the ends ring below 1e-9
    assert result["relative_error"] == pytest.approx(0.1, abs=1e-8)
    assert result["relative_error_unfiltered"] == pytest.approx(0.1, abs=1e-12)
    # full periods in 12 s less 0.6 s: the RMS of a sine of amplitude 0.8 N m is 0.8 / sqrt(2) up to the cut periods
    assert result["rmse_per_joint"]["a"] == pytest.approx(0.8 / np.sqrt(2), rel=0.02)
    assert result["relative_error_per_joint"] == {"a": 0.1, "b": 0.1}
    assert result["samples"] == pytest.approx(11.4 * RATE, abs=1)


def test_samples_left_out_count_and_many_are_refused(judge):
    time = np.arange(0, 10, 1 / RATE)
    torque = np.sin(2 * np.pi * 0.5 * time)[:, None] + 2
    measured = judge.Signals(time, ("a",), torque)

    def without(first, last):
        kept = (time < first) | (time > last)
        return judge.Signals(time[kept], ("a",), torque[kept])

    assert judge.score(measured, without(5.0, 5.02), cutoff=CUTOFF)["relative_error"] > 0
    with pytest.raises(judge.Unusable, match=r"missing for \d"):
        judge.score(measured, without(5.0, 6.0), cutoff=CUTOFF)


def test_only_predicted_joints_are_scored(judge):
    time = np.arange(0, 10, 1 / RATE)
    arm = np.sin(2 * np.pi * 0.5 * time) + 2
    measured = judge.Signals(time, ("arm", "finger"), np.column_stack([arm, 0 * arm + 7]))
    result = judge.score(measured, judge.Signals(time, ("arm",), 0.5 * arm[:, None]), cutoff=CUTOFF)
    assert result["relative_error_per_joint"] == {"arm": 0.5}


def test_the_command_prints_one_object(judge, files, capsys):
    assert judge.main([*map(str, files), "--cutoff", "20", "--interval", "1:9", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert list(result) == [
        *("relative_error", "relative_error_unfiltered", "samples", "rmse_per_joint", "relative_error_per_joint")
    ]
    # 0.2 N m of noise at 200 Hz leaves about 0.1 N m below 20 Hz, on 6 N m: the two errors stand at 10 and 20 %
    assert result["relative_error_per_joint"]["shoulder"] == pytest.approx(0.10, abs=0.01)
    assert result["relative_error_per_joint"]["elbow"] == pytest.approx(0.20, abs=0.01)
    assert judge.main([*map(str, files), "--cutoff", "20"]) == 0
    assert capsys.readouterr().out.endswith("% unfiltered\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "needs the columns"),
        ("time_s,tau/a\n0,1\n1,2\n", "needs the columns"),
        ("time_s,tau_hat/other\n0,1\n1,2\n", "joints differ"),
        ("time_s,tau_hat/shoulder,tau_hat/elbow\n0,1,1\n1,nan,2\n", "finite"),
        ("time_s,tau_hat/shoulder,tau_hat/elbow\n1,1,1\n0,1,2\n", "go back"),
        ("time_s,tau_hat/shoulder\n0,1\n", "two rows"),
        ("time_s,tau_hat/shoulder\n0,1\n10,1\n", "missing for"),
        ("time_s,tau_hat/shoulder,tau_hat/elbow\n0,1,1\n1,1,x\n", "'x'"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(judge, files, tmp_path, capsys, text, message):
    broken = tmp_path / "broken.csv"
    broken.write_text(text)
    assert judge.main([str(files[0]), str(broken), "--cutoff", "20"]) == 3
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said


def test_it_agrees_with_its_definition(judge, files, real_data):
    definition = real_data.parent / "score.py"
    if not definition.is_file():
        pytest.skip("the definition is not beside the recordings")
    for options in ([], ["--interval", "2:7.5"]):
        command = [sys.executable, str(definition), *map(str, files), "--cutoff", "20", "--json", *options]
        theirs = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        interval = judge.seconds(options[1]) if options else None
        ours = judge.score(
            judge.read(str(files[0]), "tau"), judge.read(str(files[1]), "tau_hat"), cutoff=CUTOFF, interval=interval
        )
        for figure in ("relative_error", "relative_error_unfiltered"):
            assert ours.pop(figure) == pytest.approx(theirs.pop(figure), rel=1e-12)  # sums may be ordered otherwise
        assert ours == theirs
