"""Study files: what they mean for a recording, to the number; and what is refused, with the cure."""

from __future__ import annotations

import math
import os
import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.formats.csv import iterate_csv, read_csv
from steelyard.formats.study import Study, parse_study, read_study

TX40 = Path(__file__).parent.parent / "examples" / "studies" / "tx40.toml"


def study_file(folder: Path, text: str | bytes) -> Path:
    path = folder / "study.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def recorded(folder: Path, header: str, *rows: str) -> Path:
    path = folder / "run.csv"
    path.write_text("\n".join((header, *rows)) + "\n")
    return path


def converted(folder: Path, toml: str, header: str, *rows: str) -> Trajectory:
    return read_csv(recorded(folder, header, *rows), study=read_study(study_file(folder, toml)))


# --- reading ---------------------------------------------------------------------------------------------------------


def test_an_empty_study_changes_nothing(tmp_path: Path) -> None:
    assert read_study(study_file(tmp_path, "")) == Study() == parse_study({})
    run = converted(tmp_path, "", "time_s,q/a,tau/a", "0,0.1,-0.2", "1,0.3,1e-7")
    plain = read_csv(tmp_path / "run.csv")
    np.testing.assert_array_equal(run.q, plain.q)
    np.testing.assert_array_equal(run.tau, plain.tau)
    assert run.steps == ()


def test_all_tables(tmp_path: Path) -> None:
    study = read_study(
        study_file(
            tmp_path,
            """
            [robot]
            gravity = [0, 0, 9.81]
            locked = { finger = 0.02 }
            [prepare]
            cutoff_hz = { elbow = 12, wrist = 20.5 }
            decimate = 4
            dead_band = 0.01
            use_recorded_dq = false
            [terms]
            names = ["rigid_body", "coulomb", "mine.terms:Backlash"]
            [estimate]
            name = "weighted"
            prior = false
            consistent = false
            """,
        )
    )
    assert study.robot.gravity == (0.0, 0.0, 9.81)
    assert study.robot.locked == {"finger": 0.02}
    assert study.prepare.cutoff_hz == {"elbow": 12.0, "wrist": 20.5}
    assert (study.prepare.decimate, study.prepare.dead_band, study.prepare.use_recorded_dq) == (4, 0.01, False)
    assert study.terms.names == ("rigid_body", "coulomb", "mine.terms:Backlash")
    assert (study.estimate.name, study.estimate.prior, study.estimate.consistent) == ("weighted", False, False)


def test_byte_order_mark_and_crlf(tmp_path: Path) -> None:
    text = b"\xef\xbb\xbf[prepare]\r\ncutoff_hz = 8.0\r\n"
    assert read_study(study_file(tmp_path, text)).prepare.cutoff_hz == 8.0


def test_a_study_is_frozen() -> None:
    with pytest.raises(Exception, match="frozen"):
        Study().prepare.cutoff_hz = 3.0  # type: ignore[misc]


def test_gravity_of_a_mount() -> None:
    def gravity(*mount: float) -> tuple[float, float, float] | None:
        return parse_study({"robot": {"mount": list(mount)}}).robot.gravity_in_base()

    def by_matrices(r: float, p: float, y: float) -> np.ndarray:
        cr, sr, cp, sp, cy, sy = math.cos(r), math.sin(r), math.cos(p), math.sin(p), math.cos(y), math.sin(y)
        x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
        y_ = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
        z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
        return (z @ y_ @ x).T @ np.array([0, 0, -9.81])

    assert gravity(0, 0, 0) == (0.0, 0.0, -9.81)
    np.testing.assert_allclose(gravity(math.pi, 0, 0), [0, 0, 9.81], atol=2e-15)  # hangs from the ceiling
    np.testing.assert_allclose(gravity(0, math.pi / 2, 0), [9.81, 0, 0], atol=2e-15)  # wall, its x axis down
    np.testing.assert_allclose(gravity(0.3, -0.7, 1.1), by_matrices(0.3, -0.7, 1.1), rtol=1e-14)
    assert Study().robot.gravity_in_base() is None


# --- what is refused -------------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[str | bytes, tuple[str, ...]]] = {
    "unknown table": ("[recordings]\n", ("[recordings]", "unknown table", "drive", 'did you mean "recording"?')),
    "unknown key": (
        "[drive]\nefficency = {a = 0.9}\n",
        ("[drive] efficency", "unknown key", "torque_constant", 'did you mean "efficiency"?'),
    ),
    "unknown key, nothing near": ("[prepare]\nxyz = 1\n", ("[prepare] xyz", "cutoff_hz, decimate", "docs/formats.md")),
    "key outside tables": ("cutoff_hz = 8\n", ("cutoff_hz", "unknown table")),
    "syntax": ("[prepare]\n\ncutoff_hz = = 8\n", ("line 3", "cutoff_hz = = 8")),
    "joint without quotes": ("[recording.unit]\nq/elbow = 'deg'\n", ("line 2", "q/elbow", "quotes")),
    "key twice": ("[prepare]\ndecimate = 1\ndecimate = 2\n", ("the TOML cannot be read",)),
    "table twice": ("[prepare]\n[prepare]\n", ("line 2",)),
    "not UTF-8": (b"[prepare]\n# \xff\n", ("line 2", "UTF-8")),
    "NUL": ("[prepare]\0\n", ("line 1",)),
    "lists without end": ("a = " + "[" * 4000, ("too deep",)),
    "tables in tables": ("a." * 2000 + "b = 1", ()),
    "tables without end": ("a." * 20_000 + "b = 1", ("line 1", "more than 4096 bytes")),
    "large integer": ("[prepare]\ncutoff_hz = " + "9" * 4000, ("[prepare] cutoff_hz",)),
    "a binary file": (bytes(range(256)) * 8, ("study.toml",)),
    "too large": ("# " + "x" * 2**20, ("more than 262144 bytes",)),
    "infinite": ("[robot]\nlocked = {a = inf}\n", ("[robot.locked] a", "finite", "inf")),
    "nan": ("[prepare]\ndead_band = nan\n", ("[prepare] dead_band", "nan")),
    "text for number": ("[prepare]\ncutoff_hz = '8'\n", ("[prepare] cutoff_hz", "valid number", "'8'")),
    "true for number": ("[prepare]\ndead_band = true\n", ("[prepare] dead_band", "True")),
    "negative cutoff": ("[prepare]\ncutoff_hz = -1\n", ("[prepare] cutoff_hz", "greater than 0")),
    "negative cutoff of a joint": ("[prepare]\ncutoff_hz = {a = 0}\n", ("[prepare.cutoff_hz] a", "greater than 0")),
    "decimate 0": ("[prepare]\ndecimate = 0\n", ("[prepare] decimate",)),
    "two numbers of gravity": ("[robot]\ngravity = [0, 9.81]\n", ("[robot", "gravity")),
    "gravity and mount": ("[robot]\ngravity = [0,0,-9.81]\nmount = [0,0,0]\n", ("[robot]", "exclude each other")),
    "terms as text": ("[terms]\nnames = 'coulomb'\n", ("[terms] names", "'coulomb'")),
    "unknown unit": ("[recording.unit]\nq = 'degrees'\n", ("unknown unit", "'degrees'", "rad, mrad, deg")),
    "unit of another kind": ("[recording.unit]\nq = 'N m'\n", ("[recording.unit] q", "torque", "rad, mrad, deg")),
    "unit of time for q": ("[recording.unit]\n'q/a' = 's'\n", ("[recording.unit] q/a", "time")),
    "unit of a joint": ("[recording.unit]\nelbow = 'deg'\n", ("elbow", "q/<joint>", '"q/elbow"')),
    "unit of a mistyped group": ("[recording.unit]\nddqq = 'deg/s2'\n", ("ddqq", 'did you mean "ddq"?')),
    "sign 0": ("[recording.sign]\na = 0\n", ("[recording.sign] a", "1, -1")),
    "sign of time": ("[recording.sign]\ntime_s = -1\n", ("time has no sign",)),
    "sign true": ("[recording.sign]\na = true\n", ("[recording.sign] a",)),
    "target outside the contract": ("[recording.columns]\nx = 'position/a'\n", ('"x"', "q/<joint>", "position/a")),
    "star on one side": ("[recording.columns]\n'p_*' = 'q/a'\n", ("one * on both sides", "p_* = q/a")),
    "two stars": ("[recording.columns]\n'*_*' = 'q/**'\n", ("one * on both sides",)),
    "two stars to ignore": ("[recording]\nignore = ['*_*']\n", ("one *", "*_*")),
    "motor side without ratio": ("[drive]\ntorque_side = 'motor'\n", ("[drive]", "need ratio")),
    "ratio without motor side": ("[drive]\nratio = {a = 100}\n", ("[drive]", 'torque_side = "motor"')),
    "ratio 0": ("[drive]\ntorque_side = 'motor'\nratio = {a = 0}\n", ("[drive] a", "cannot be 0")),
    "ratio and matrix": (
        "[drive]\ntorque_side='motor'\nratio={a=2}\njoints=['a']\nposition_matrix=[[2]]\n",
        ("exclude each other",),
    ),
    "matrix without joints": ("[drive]\ntorque_side='motor'\nposition_matrix=[[2]]\n", ("joints names the rows",)),
    "joints without matrix": ("[drive]\ntorque_side='motor'\nratio={a=2}\njoints=['a']\n", ("belong together",)),
    "ragged matrix": (
        "[drive]\ntorque_side='motor'\njoints=['a','b']\nposition_matrix=[[1,0],[0]]\n",
        ("[drive] position_matrix", "2 rows of 2", "rows of [2, 1]"),
    ),
    "singular matrix": (
        "[drive]\ntorque_side='motor'\njoints=['a','b']\nposition_matrix=[[1,2],[2,4]]\n",
        ("singular", "[[1.0, 2.0], [2.0, 4.0]]"),
    ),
    "joint twice": ("[drive]\ntorque_side='motor'\njoints=['a','a']\nposition_matrix=[[1,0],[0,1]]\n", ("twice",)),
    "efficiency above 1": (
        "[drive]\ntorque_side='motor'\nratio={a=9}\nefficiency={a=90}\n",
        ("[drive.efficiency] a", "less than or equal to 1", "90"),
    ),
    "efficiency of the joint side": ("[drive]\nefficiency={a=0.9}\n", ("motor side only",)),
    "offset without constant": ("[drive]\ncurrent_offset={a=0.1}\n", ("needs a torque constant",)),
    "two estimators": ("[estimate]\nname = 'prior'\nprior = false\n", ("[estimate]", "contradict", "keep name")),
    "unknown side": ("[drive]\ntorque_side = 'link'\n", ("[drive] torque_side", "'joint' or 'motor'")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_studies(case: str, tmp_path: Path) -> None:
    text, parts = REFUSED[case]
    path = study_file(tmp_path, text)
    with pytest.raises(StudyError) as caught:
        read_study(path)
    message = str(caught.value)
    for part in ("study.toml", *parts):
        assert part in message
    assert caught.value.cure
    assert len(message) < 1500


def test_places_that_are_no_study(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no such file"):
        read_study(tmp_path / "missing.toml")
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe", "/dev/zero", "bad\0name", "x" * 5000):
        with pytest.raises(StudyError):
            read_study(place)


@given(st.text(alphabet="[]{}.=,'\"\n #ab1-\\e_", max_size=40))
def test_no_text_gives_anything_but_a_study_or_our_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    try:
        study = read_study(study_file(tmp_path_factory.mktemp("s"), text))
    except StudyError as error:
        assert "study.toml" in str(error)  # noqa: PT017  (either outcome is right)
    else:
        assert isinstance(study, Study)


# --- meaning ---------------------------------------------------------------------------------------------------------


def test_units_by_group_and_by_column(tmp_path: Path) -> None:
    run = converted(
        tmp_path,
        """
        [recording.unit]
        time_s = "ms"
        q = "deg"
        "q/slide" = "mm"
        dq = "rpm"
        "dq/slide" = "mm/s"
        tau = "N cm"
        "tau/slide" = "kN"
        """,
        "time_s,q/elbow,q/slide,dq/elbow,dq/slide,tau/elbow,tau/slide",
        "1500,90,250,60,500,250,0.5",
    )
    got = {c: getattr(run, c).tolist()[0] for c in ("q", "dq", "tau")}
    assert run.time.tolist() == [1.5]
    assert got["q"] == pytest.approx([math.pi / 2, 0.25], rel=1e-15)
    assert got["dq"] == pytest.approx([2 * math.pi, 0.5], rel=1e-15)
    assert got["tau"] == pytest.approx([2.5, 500.0], rel=1e-15)


def test_signs_the_nearest_wins(tmp_path: Path) -> None:
    run = converted(
        tmp_path,
        '[recording.sign]\na = -1\ntau = -1\n"tau/b" = 1\n"q/a" = 1\n',
        "time_s,q/a,q/b,q/c,dq/a,dq/b,dq/c,tau/a,tau/b,tau/c",
        "0,1,1,1,1,1,1,1,1,1",
    )
    assert run.channel("q").tolist() == [[1, 1, 1]]
    assert run.channel("dq").tolist() == [[-1, 1, 1]]
    assert run.channel("tau").tolist() == [[-1, 1, -1]]


def test_currents_offsets_and_position_offset(tmp_path: Path) -> None:
    run = converted(
        tmp_path,
        """
        [recording]
        position_offset = { b = -0.5 }
        [recording.unit]
        "tau/a" = "mA"
        [recording.sign]
        a = -1
        [drive]
        torque_constant = { a = 10.5 }
        current_offset = { a = 0.2 }
        """,
        "time_s,q/a,q/b,tau/a,tau/b",
        "0,1,1,1500,7",
    )
    # sign before constant: 10.5 (-1.5 - 0.2) = -17.85; b is a torque already
    assert run.channel("tau")[0] == pytest.approx([-17.85, 7.0], rel=1e-15)
    assert run.channel("q").tolist() == [[-1.0, 0.5]]
    assert len(run.steps) == 4


def test_joint_encoders_with_motor_torque(tmp_path: Path) -> None:
    run = converted(
        tmp_path,
        '[drive]\ntorque_side = "motor"\nratio = { a = 100, b = -50 }\n',
        "time_s,q/a,q/b,tau/a,tau/b",
        "0,1,2,0.3,0.2",
    )
    assert run.channel("q").tolist() == [[1, 2]]
    assert run.channel("tau").tolist() == [[30, -10]]


@pytest.mark.parametrize(("side", "speed"), [("motor", 1.0), ("joint", -0.01)])
def test_efficiency_follows_the_power_of_the_motor(side: str, speed: float, tmp_path: Path) -> None:
    """The gear turns the sign: with ratio -100 a joint speed of -0.01 rad/s is a motor speed of 1 rad/s."""
    run = converted(
        tmp_path,
        f'[drive]\nposition_side = "{side}"\ntorque_side = "motor"\nratio = {{a = -100}}\nefficiency = {{a = 0.8}}\n',
        "time_s,q/a,dq/a,tau/a",
        f"0,0,{speed},0.5",
        f"1,0,{-speed},0.5",
        "2,0,0,0.5",
    )
    assert run.channel("tau")[:, 0] == pytest.approx([-40.0, -62.5, -50.0], rel=1e-15)
    assert run.channel("dq")[:, 0] == pytest.approx([-0.01, 0.01, 0.0], rel=1e-15)


def test_coupled_drive_of_the_example_study(tmp_path: Path) -> None:
    study = read_study(TX40)
    joints = [f"joint_{k}" for k in range(1, 7)]
    header = ",".join(["time_s", *(f"q_motor/{j}" for j in joints), *(f"tau_motor/{j}" for j in joints)])
    q_motor, tau_motor = [32.0, 64, 90, -48, 45, 96], [1.0, 2, 3, 4, 5, 6]
    run = read_csv(recorded(tmp_path, header, ",".join(map(str, [0, *q_motor, *tau_motor]))), study=study)
    half = math.pi / 2
    # joint 6: 96/32 less the turn of joint 5; joint 5 carries 45*5 + 32*6
    assert run.channel("q")[0] == pytest.approx([1, 2 - half, 2 + half, 1, 1, 2], rel=1e-15)
    assert run.channel("tau")[0] == pytest.approx([32, 64, 135, -192, 417, 192], rel=1e-15)
    assert run.joint_names == tuple(joints)


def test_matrices_go_by_name_not_by_place(tmp_path: Path) -> None:
    header = "time_s,q/b,q/a,tau/b,tau/a"
    toml = '[drive]\nposition_side="motor"\ntorque_side="motor"\njoints=["a","b"]\nposition_matrix=[[45,0],[32,32]]\n'
    run = converted(tmp_path, toml, header, "0,96,90,0.2,0.1")
    assert run.joint_names == ("b", "a")
    assert run.channel("q")[0] == pytest.approx([1, 2], rel=1e-15)
    assert run.channel("tau")[0] == pytest.approx([6.4, 10.9], rel=1e-15)


def test_a_torque_matrix_alone_gives_the_positions_too(tmp_path: Path) -> None:
    both = '[drive]\nposition_side="motor"\ntorque_side="motor"\njoints=["a","b"]\n'
    header, row = "time_s,q/a,q/b,tau/a,tau/b", "0,90,96,0.1,0.2"
    one = converted(tmp_path, both + "position_matrix=[[45,0],[32,32]]", header, row)
    other = converted(tmp_path, both + "torque_matrix=[[45,32],[0,32]]", header, row)
    np.testing.assert_array_equal(one.q, other.q)
    np.testing.assert_array_equal(one.tau, other.tau)


def test_a_torque_matrix_that_makes_power_is_said(tmp_path: Path) -> None:
    toml = """
    [drive]
    position_side = "motor"
    torque_side = "motor"
    joints = ["a", "b"]
    position_matrix = [[45, 0], [32, 32]]
    torque_matrix = [[45, 0], [32, 32]]
    """
    run = converted(tmp_path, toml, "time_s,q/a,q/b,tau/a,tau/b", "0,90,96,0.1,0.2")
    assert "not the transpose" in run.steps[-1]


def test_chunks_convert_to_the_same_bits(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    names = [f"{c}_motor/joint_{k}" for c in ("q", "tau") for k in range(1, 7)]
    table = np.column_stack([np.arange(301) * 1e-3, rng.normal(size=(301, 12))])
    file = tmp_path / "run.csv"
    np.savetxt(file, table, fmt="%.17g", delimiter=",", header=",".join(["time_s", *names]), comments="")
    study = read_study(TX40)
    whole = read_csv(file, study=study)
    for channel in ("time", "q", "tau"):
        parts = [getattr(chunk, channel) for chunk in iterate_csv(file, rows=37, study=study)]
        np.testing.assert_array_equal(np.concatenate(parts), getattr(whole, channel))


MISFIT: dict[str, tuple[str, tuple[str, ...]]] = {
    "unit of an unknown joint": ("[recording.unit]\n'q/elbw' = 'deg'\n", ("elbw", "elbow, slide", '"elbow"')),
    "sign of an unknown joint": ("[recording.sign]\nelbw = -1\n", ("[recording.sign]", "elbw", '"elbow"')),
    "offset of an unknown joint": ("[recording.position_offset]\nElbow = 1\n", ("Elbow", '"elbow"')),
    "constant of an unknown joint": ("[drive.torque_constant]\nx = 1\n", ("[drive.torque_constant]", "'x'")),
    "ratio lacks a joint": ("[drive]\ntorque_side='motor'\nratio={elbow=9}\n", ("same joints", "'slide'", "elbow")),
    "matrix lacks a joint": (
        "[drive]\ntorque_side='motor'\njoints=['elbow']\nposition_matrix=[[9]]\n",
        ("same joints", "'slide'"),
    ),
    "current without constant": ("[recording.unit]\ntau = 'A'\n", ("tau/elbow [A]", "torque constant", "N m/A")),
    "constant without current": ("[drive.torque_constant]\nelbow = 2\n", ("not a current", 'tau = "A"')),
    "turning and sliding": (
        "[recording.unit]\n'q/slide' = 'mm'\n'tau/slide' = 'N m'\n",
        ("slide", "q [mm] and tau [N m]", "sliding"),
    ),
    "turning velocity of a slide": ("[recording.unit]\nq = 'mm'\ndq = 'rpm'\n", ("q [mm] and dq [rpm]",)),
}


@pytest.mark.parametrize("case", MISFIT)
def test_studies_that_do_not_fit_the_recording(case: str, tmp_path: Path) -> None:
    toml, parts = MISFIT[case]
    study = read_study(study_file(tmp_path, toml))
    file = recorded(tmp_path, "time_s,q/elbow,q/slide,dq/elbow,dq/slide,tau/elbow,tau/slide", "0,1,1,1,1,1,1")
    with pytest.raises(StudyError) as caught:
        read_csv(file, study=study)
    for part in ("run.csv", *parts):
        assert part in str(caught.value)


def test_efficiency_without_recorded_velocity(tmp_path: Path) -> None:
    toml = "[drive]\ntorque_side='motor'\nratio={a=9}\nefficiency={a=0.9}\n"
    with pytest.raises(StudyError, match="dq/<joint>"):
        converted(tmp_path, toml, "time_s,q/a,tau/a", "0,1,1")
    assert len(converted(tmp_path, toml, "time_s,q/a", "0,1")) == 1


def test_a_joint_of_the_robot_that_this_recording_lacks_may_be_spoken_of(tmp_path: Path) -> None:
    study: dict[str, Any] = {"recording": {"sign": {"wrist": -1}}}
    file = recorded(tmp_path, "time_s,q/elbow", "0,1")
    assert len(read_csv(file, study=parse_study(study), joint_names=("elbow", "wrist"))) == 1
    with pytest.raises(StudyError, match="wrist"):
        read_csv(file, study=parse_study(study), joint_names=("elbow", "shoulder"))


def test_nanosecond_stamps_with_their_unit(tmp_path: Path) -> None:
    run = converted(
        tmp_path,
        '[recording.unit]\ntime_s = "ns"\n',
        "time_s,q/a",
        "1756893600000000000,1",
        "1756893600001000000,1",
        "1756893600002000000,1",
    )
    # doubles near 1.8e9 s are 2.4e-7 s apart
    np.testing.assert_allclose(np.diff(run.time), 1e-3, atol=5e-7)


# --- the page --------------------------------------------------------------------------------------------------------

PAGE = TX40.parent.parent.parent / "docs" / "formats.md"


def test_every_key_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for table, field in Study.model_fields.items():
        assert f"[{table}]" in text
        kind = next(iter(get_args(field.annotation)[1:]), field.annotation)  # of a table of tables, the inner one
        for key in kind.model_fields:
            assert f"`{key}`" in text or f"`{table}.{key}`" in text, f"[{table}] {key}"


def test_every_study_on_the_page_can_be_read_and_means_what_the_page_says(tmp_path: Path) -> None:
    around, sheet, currents, wrist = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    excite = parse_study(tomllib.loads(around)).excite
    assert (excite.obstacles["table"].kind, excite.obstacles["table"].position[2]) == ("plane", -0.02)
    assert (excite.frames["tool"].speed, excite.frames["tool"].upper) == (1.5, (1.0, 1.0, 1.5))
    run = converted(tmp_path, sheet, "t,angle_elbow,torque_elbow,comment", "1500,90,250,start")
    assert run.time.tolist() == [1.5]
    assert run.channel("q")[0, 0] == pytest.approx(1.5708, abs=5e-5)
    assert run.channel("tau")[0, 0] == pytest.approx(2.5, rel=1e-15)
    run = converted(tmp_path, currents, "time_s,q/shoulder,q/elbow,current/shoulder,current/elbow", "0,1,1,1.2,0")
    assert run.channel("tau")[0] == pytest.approx([-12.0, 0.0], rel=1e-14)
    assert parse_study(tomllib.loads(wrist)).drive.matrices()[1].tolist() == [
        list(row) for row in read_study(TX40).drive.torque_matrix or ()
    ]
