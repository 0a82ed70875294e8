"""`steelyard export`, from a session to files that others read: the same torque, only the numbers meant, refusals."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass, replace
from hashlib import sha256

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import nnls

from exported import CURVED, SIMPLE, session
from odd_urdf import ODD, masked
from steelyard.basis import base_parameters, random_states
from steelyard.cli.main import main
from steelyard.errors import ModelError, SessionError, StudyError
from steelyard.estimate.base_to_full import base_to_full
from steelyard.estimate.full_columns import full_columns
from steelyard.formats.export_file import export_file
from steelyard.formats.export_table import export_sheet
from steelyard.formats.model_text import description_of, findings_of
from steelyard.model import Model
from steelyard.report.page import report_bytes
from steelyard.robot.inertia import pseudo_inertia
from steelyard.robot.load import build_robot
from steelyard.robot.robot import STANDARD_GRAVITY, Robot
from steelyard.session.compare import compare
from steelyard.session.export import export, values_of
from steelyard.session.export_record import ExportRecord
from steelyard.session.full_set import FullParameters, full_parameters
from steelyard.session.opening import open_session
from steelyard.session.run import Request, run
from steelyard.session.strict_json import parse_json
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.term import Column
from steelyard.terms.viscous import Viscous

# Both sides carry double precision through two bodies; a factor of a thousand above its rounding.
EXACT = 1e-12
# The issue's figure for others' inverse dynamics.
AGREEMENT = 1e-9


def command(capsys, *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    said = capsys.readouterr()
    return int(left.value.code), said.out, said.err


# --- the full set


def test_the_result_holds_base_and_full_parameters_of_one_model():
    result = open_session(session()).result
    full = full_parameters(open_session(session()))
    assert (result.estimator, full.origin) == ("weighted, consistent", "consistent")
    assert full.torque_change < EXACT
    assert set(full.links) == {"arm", "slide"}
    for parameters in full.links.values():
        assert np.linalg.eigvalsh(pseudo_inertia(parameters))[0] > 0.0
    assert result.consistent.solver == "entropic"
    assert 1.0 <= result.consistent.residual_ratio < 1.05
    assert result.consistent.kkt_residual < 1e-8  # ten times what the solver stops at
    assert set(result.consistent.at_edge) <= {name.split("/")[1] for name in result.base.map.columns}
    for entry in result.full_parameters:  # of the prior's variance half is left where a value is the prior's
        share = entry.prior_share
        if entry.class_ != "prior" and share is not None:
            assert share < 0.5
    assert any(entry.prior_share is not None for entry in result.full_parameters)
    partner = {entry.name: entry.correlated_with for entry in result.full_parameters}
    assert set(partner.values()) - {None} <= set(partner)
    assert any(partner.values())  # mass and moments of one link
    assert result.consistent.total_mass_kg == pytest.approx(sum(p[0] for p in full.links.values()))
    assert result.prior.startswith("every link of the model file is right to a factor of 2")
    kinds = {entry.name: entry.class_ for entry in result.full_parameters}
    assert kinds["actuator/j1/viscous_friction"] == "identified"
    assert kinds["link/arm/mass"] == "prior"  # it turns about one fixed axis
    low = [entry.interval_95[0] for entry in result.full_parameters if entry.name.endswith(("/mass", "/inertia_xx"))]
    assert min(low) >= 0.0


@pytest.mark.parametrize("said", [True, False])
def test_the_key_of_the_study_file_is_heeded(said, tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(f"[estimate]\nconsistent = {str(said).lower()}\n", encoding="utf-8")
    files = session()
    request = Request(
        next((files / "model").glob("*.urdf")), (files / "raw.csv",), study=study, terms=SIMPLE, estimator="weighted"
    )
    assert (run(request).identification.consistent is not None) == said


def test_instrumental_variables_are_not_made_consistent():
    files = session()
    request = Request(
        next((files / "model").glob("*.urdf")), (files / "raw.csv",), terms=SIMPLE, estimator="instrumental",
        consistent=True,
    )  # fmt: skip
    with pytest.raises(StudyError, match="instrumental variables are not"):
        run(request)


def test_both_errors_are_stated():
    (entry,) = open_session(session()).result.validation
    assert 0.0 < entry.relative_error < 0.02
    assert entry.relative_error == pytest.approx(entry.relative_error_unconstrained, rel=0.05)
    (entry,) = open_session(session(consistent=False)).result.validation
    assert entry.relative_error_unconstrained is None


def test_base_parameters_alone_are_completed():
    done = export(session(consistent=False), ["urdf"])
    assert done.record.origin == "base_to_full"
    assert done.record.torque_change < AGREEMENT
    assert "single values of links rest on the model file" in done.sheet


def test_what_no_robot_can_have_is_refused_with_the_cure():
    """Data with negative friction: the unconstrained result cannot be exported, the consistent one holds it at zero."""
    with pytest.raises(ModelError, match="no bodies that can exist") as caught:
        export(session(consistent=False, friction=-1.0), ["urdf"])
    assert "actuator/j1/viscous_friction" in str(caught.value.value)
    assert "--consistent --force" in caught.value.cure
    made = session(friction=-1.0)
    done = export(made, ["urdf"])
    assert values_of(done.full).joints["j1"].damping == pytest.approx(0.0, abs=1e-3)
    codes = [finding.code for finding in open_session(made).result.findings]
    assert "fit.infeasible_unconstrained" in codes
    assert "actuator/j1/viscous_friction" in open_session(made).result.consistent.at_limit


def test_columns_come_from_links_and_joints_by_name():
    full = full_parameters(open_session(session()))
    model = full.model
    nominal = {link.name: link.parameters for link in model.robot.links if link.parameters is not None}
    scalars = dict(zip(model.names, model.nominal.tolist(), strict=True))
    assert np.array_equal(full_columns(model, nominal, scalars), model.nominal)
    with pytest.raises(StudyError, match="no moving link") as caught:
        full_columns(model, {"base": np.zeros(10)}, full.scalars)
    assert caught.value.choices == ("arm", "slide")
    with pytest.raises(StudyError, match="has no value") as caught:
        full_columns(model, full.links, {})
    assert caught.value.value == "actuator/j1/rotor_inertia"


def test_full_parameters_that_contradict_the_base_are_refused():
    made = open_session(session())
    entries = tuple(
        entry.model_copy(update={"value": 1.01 * entry.value}) if entry.name == "link/slide/mass" else entry
        for entry in made.result.full_parameters
    )
    with pytest.raises(SessionError, match="do not give the torque of the base"):
        full_parameters(replace(made, result=made.result.model_copy(update={"full_parameters": entries})))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"link/slide/mass": "link/sled/mass"}, "not a parameter of the session's model"),
        ({"link/slide/inertia_xx": "link/sled/inertia_xx"}, "lacks one of its ten parameters"),
        ({"actuator/j1/bias": "actuator/j9/bias"}, "not a parameter of the session's model"),
    ],
)
def test_full_parameters_of_another_robot_are_refused(change, message):
    made = open_session(session())
    entries = tuple(
        entry.model_copy(update={"name": change.get(entry.name, entry.name)}) for entry in made.result.full_parameters
    )
    with pytest.raises(SessionError, match=message):
        full_parameters(replace(made, result=made.result.model_copy(update={"full_parameters": entries})))


def test_validate_uses_the_consistent_model(tmp_path, capsys):
    """The same file again: the same error, a copy of the prediction."""
    copy = tmp_path / "session"
    shutil.copytree(session(), copy)
    status, out, _ = command(capsys, "validate", copy, "--validate", copy / "validation.csv", "--json")
    assert status == 0
    (entry,) = json.loads(out)["validation"]
    (known,) = open_session(session()).result.validation
    assert entry["relative_error"] == pytest.approx(known.relative_error, rel=1e-9)
    fitted = next(copy / entry.path for entry in open_session(copy).manifest.role("train"))
    status, out, _ = command(capsys, "validate", copy, "--validate", fitted, "--json")
    told = json.loads(out)
    assert (status, told["verdict"]["feed_forward"]) == (0, None)
    assert "validation.repeats_training" in {finding["code"] for finding in told["findings"]}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_report_shows_the_full_set(lang):
    page = report_bytes(open_session(session()), lang=lang).decode()
    section = page[page.index('<section id="full">') :].partition("</section>")[0]
    assert section.count("<tr") == 1 + len(open_session(session()).result.full_parameters)
    assert "entropic" in section
    assert '<section id="full">' not in report_bytes(open_session(session(consistent=False)), lang=lang).decode()


def test_full_parameters_stand_beside_those_of_a_file_or_another_result():
    file = next((session() / "model").glob("*.urdf"))
    found = compare(session(), file)
    rows = {row.name: row for row in found.full}
    assert set(rows) == {entry.name for entry in open_session(session()).result.full_parameters}
    assert rows["link/arm/mass"].second == 2.5
    assert rows["actuator/j2/viscous_friction"].second == 20.0
    assert rows["actuator/j2/viscous_friction"].deviations > 2.0
    assert [row.deviations for row in compare(session(), session()).full] == [0.0] * len(rows)
    assert compare(session(consistent=False), file).full == ()


def test_a_follower_that_was_held_is_held_again(example_robots):
    """A session says where joints stood, mimics among them, which the reader has locked already."""
    robot = Robot.from_urdf(example_robots / "panda_description" / "urdf" / "panda.urdf").locked(
        ["panda_finger_joint1"]
    )
    held = dict(robot.locked_at)
    assert len(held) == 2
    assert Robot.from_urdf(example_robots / "panda_description" / "urdf" / "panda.urdf").locked(held).axes == robot.axes
    with pytest.raises(ModelError, match="not a joint"):
        robot.locked({"panda_finger_joint1": 0.01})


# --- files in the hands of others


def motion(model: Model):
    return random_states(model, 20, seed=8)


def wanted(full: FullParameters, *, without: tuple[str, ...]) -> np.ndarray:
    """Torque of the identified model without the effects that a reader leaves out."""
    theta = np.where([name.endswith(without) for name in full.model.names], 0.0, full.theta)
    return full.model.torque(theta, motion(full.model))


def agrees(found: np.ndarray, ours: np.ndarray) -> bool:
    return bool(np.all(np.abs(found - ours).max(axis=0) <= AGREEMENT * np.abs(ours).max(axis=0)))


def test_pinocchio_computes_the_identified_torque(tmp_path, capsys):
    status, out, err = command(capsys, "export", session(), "--urdf", "--output", tmp_path / "out")
    assert status == 0
    assert "odd.candidate.urdf gives that torque" in out
    assert str(tmp_path / "out" / "odd.candidate.urdf") in err
    full = full_parameters(open_session(session()))
    model = pin.buildModelFromUrdf(str(tmp_path / "out" / "odd.candidate.urdf"))
    states = motion(full.model)
    found = [pin.rnea(model, model.createData(), *row) for row in zip(states.q, states.dq, states.ddq, strict=True)]
    assert agrees(np.array(found), wanted(full, without=("friction", "rotor_inertia", "bias")))
    values = values_of(full)
    assert model.damping.tolist() == [values.joints[name].damping for name in ("j1", "j2")]
    assert model.friction.tolist() == [values.joints[name].friction for name in ("j1", "j2")]


@pytest.mark.parametrize("kind", ["plain", "mjcf"])
def test_mujoco_computes_the_identified_torque(kind, tmp_path, capsys):
    """From a URDF the MJCF is made, an MJCF is patched; armature and damping are part of its torque."""
    status, _, _ = command(capsys, "export", session(kind), "--mjcf", "--output", tmp_path / "out", "--quiet")
    assert status == 0
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "out" / "odd.candidate.xml"))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    full = full_parameters(open_session(session(kind)))
    assert model.dof_frictionloss.tolist() == [full.scalars[f"actuator/{j}/coulomb_friction"] for j in ("j1", "j2")]
    model.dof_frictionloss[:] = 0.0
    data, states, found = mujoco.MjData(model), motion(full.model), []
    for q, v, a in zip(states.q, states.dq, states.ddq, strict=True):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
        mujoco.mj_inverse(model, data)
        found.append(data.qfrc_inverse.copy())
    assert agrees(np.array(found), wanted(full, without=("coulomb_friction", "bias")))


def completed(source: bytes, name: str) -> FullParameters:
    """The full set of base parameters of bodies a tenth heavier than the file's."""
    robot = build_robot(description_of(source, name), np.array(STANDARD_GRAVITY), mimic="lock", floating=False)
    model = Model(robot, (RigidBody(), Viscous(), Coulomb(), Offset()))
    basis = base_parameters(model)
    found = base_to_full(model, basis, basis.regroup(1.1 * model.nominal))
    assert found.torque_change < AGREEMENT
    return FullParameters(model, found.link_parameters, found.scalars, "base_to_full", {}, found.torque_change)


@pytest.mark.parametrize(
    "file",
    [
        "panda_description/urdf/panda.urdf",
        "ur_description/urdf/ur10_robot.urdf",
        "simple_humanoid_description/urdf/simple_humanoid.urdf",
    ],
)
def test_base_parameters_of_known_robots_are_written_back(example_robots, file):
    """The Panda's hand and fingers keep parameters of their own; the humanoid's wrists have placeholders."""
    source = (example_robots / file).read_bytes()
    values = values_of(completed(source, file))
    written = export_file("urdf", source, name="robot.urdf", exact=values, simple=values, provenance={})
    assert written.check.worst < EXACT
    assert len(written.check.torque_difference) >= 6
    assert [finding for finding in written.check.new_findings if finding.level == "error"] == []


@pytest.mark.parametrize("name", sorted(ODD.keys() - {"a long file"}))
def test_every_odd_urdf_comes_back_with_only_the_numbers_changed(name):
    """From base parameters of other bodies to a file: nothing but inertials and dynamics differs, lint clean."""
    source = ODD[name]
    values = values_of(completed(source, name))
    file = export_file("urdf", source, name="odd.urdf", exact=values, simple=values, provenance={})
    assert file.name == "odd.candidate.urdf"
    assert file.content != source
    assert masked(file.content) == masked(source)
    assert file.check.worst < EXACT
    assert file.check.new_findings == ()
    assert [f.level for f in findings_of(file.content, "x")].count("error") == 0
    assert {f.code for f in file.findings} <= {"export.not_held"}


# --- friction


def test_a_friction_curve_becomes_the_nearest_viscous_and_coulomb_friction():
    done = export(session(terms=CURVED), ["urdf", "isaac_lab"])
    (said,) = [finding for finding in done.findings if finding.code == "export.friction_simplified"]
    assert said.level == "warning"
    assert set(done.record.friction_missed) == {"j1", "j2"}
    full = done.full
    after = description_of(done.contents["odd.candidate.urdf"], "x")
    written = {joint.name: (joint.damping, joint.friction) for joint in after.joints}
    profile = done.contents["odd.candidate.profile.yaml"].decode()
    assert "friction_above_0.1_nm: " in profile
    assert "# friction_above_<v>: + f tanh(dq / v)" in profile
    assert "coulomb_friction" not in profile.partition("joint_dynamics:")[2]
    processed = np.genfromtxt(session(terms=CURVED) / "processed.csv", delimiter=",", names=True)
    for joint in ("j1", "j2"):
        v = processed[f"dq{joint}"]
        v = v[np.abs(v) > 0.01]
        levels = {s: full.scalars[f"actuator/{joint}/friction_above_{s:g}"] for s in (0.01, 0.03, 0.1, 0.3, 1.0)}
        curve = full.scalars[f"actuator/{joint}/viscous_friction"] * v
        curve += sum(f * np.tanh(v / s) for s, f in levels.items())
        nearest, missed = nnls(np.column_stack([v, np.sign(v)]), curve)
        np.testing.assert_allclose(written[joint], nearest, rtol=1e-9)
        assert done.record.friction_missed[joint] == pytest.approx(missed / np.linalg.norm(curve))
        # adding the levels up would miss more
        summed = full.scalars[f"actuator/{joint}/viscous_friction"] * v + sum(levels.values()) * np.sign(v)
        assert missed <= np.linalg.norm(curve - summed)


@dataclass(frozen=True)
class Coupling:
    """A spring between two joints, as somebody may write it."""

    def columns(self, robot):
        return (Column("coupling/j1+j2/stiffness", "N m/rad", (0, 1)),)

    def block(self, robot, trajectory):
        q = trajectory.channel("q")
        return (np.array([1.0, -1.0]) * (q[:, :1] - q[:, 1:2]))[:, :, None]


def test_what_belongs_to_no_joint_is_in_the_profile_and_missed_elsewhere():
    full = full_parameters(open_session(session()))
    model = Model(full.model.robot, (*full.model.terms, Coupling()))
    values = values_of(replace(full, model=model, scalars={**full.scalars, "coupling/j1+j2/stiffness": 0.25}))
    source = ODD["plain"]
    made = {
        target: export_file(target, source, name="odd.urdf", exact=values, simple=values, provenance={})
        for target in ("urdf", "profile", "drake")
    }
    assert '"coupling/j1+j2/stiffness_nm_per_rad": 0.25' in made["profile"].content.decode()
    for target in ("urdf", "drake"):
        said = [finding.message for finding in made[target].findings]
        assert f"coupling/j1+j2/stiffness belong to no single joint, and have no place in the target {target}" in said
    sheet = export_sheet(values, list(made.values()), {}, said=[])
    assert "| coupling/j1+j2 | stiffness | N m/rad |  | 0.25 |  |  |" in sheet


def test_a_name_ends_no_line_and_no_cell_of_the_sheet():
    full = full_parameters(open_session(session()))
    values = values_of(full)
    name = "a|b\n\n# Approved\x1b[31m"
    sheet = export_sheet(replace(values, robot=replace(values.robot, name=name)), [], {}, said=[name])
    assert sheet.count("a\\|b\\n\\n# Approved\\x1b[31m") == 2
    assert [line for line in sheet.splitlines() if line.startswith("#")] == [
        "# Export of a\\|b\\n\\n# Approved\\x1b[31m: a candidate", "## Numbers",
    ]  # fmt: skip


def test_simple_friction_is_exported_as_it_is():
    done = export(session(), ["urdf"])
    assert done.record.friction_missed == {}
    assert done.full.scalars["actuator/j2/coulomb_friction"] == pytest.approx(5.0, rel=0.02)
    text = done.contents["odd.candidate.urdf"].decode()
    assert f'friction="{done.full.scalars["actuator/j2/coulomb_friction"]!r}"' in text


# --- the directory


def test_the_directory_and_its_record(tmp_path, capsys):
    out = tmp_path / "out"
    words = ("--urdf", "--mjcf", "--drake", "--isaac")
    assert command(capsys, "export", session(), *words, "--output", out)[0] == 0
    record = parse_json((out / "export.json").read_bytes(), ExportRecord, where="export.json")
    assert (record.status, record.origin) == ("candidate", "consistent")
    opened = open_session(session())
    assert (record.model_digest, record.result_digest) == (opened.manifest.model.sha256, opened.digests["result.json"])
    listed = {entry.path: entry.sha256 for entry in record.files}
    assert {path.name for path in out.iterdir()} == {*listed, "export.json"}
    assert listed == {name: sha256((out / name).read_bytes()).hexdigest() for name in listed}
    assert set(listed) == {
        "odd.candidate.urdf", "odd.candidate.urdf.diff", "odd.candidate.xml", "odd.candidate.profile.yaml",
        "odd.candidate.drake.yaml", "odd.candidate.isaac_lab.yaml", "mapping.md",
    }  # fmt: skip
    assert {entry.path for entry in record.files if entry.torque_difference} == {
        "odd.candidate.urdf", "odd.candidate.xml",
    }  # fmt: skip
    sheet = (out / "mapping.md").read_text(encoding="utf-8")
    assert "| link arm | mass | kg | 2.5 |" in sheet
    assert "| joint j1 | rotor inertia | kg m2 | 0 |" in sheet
    assert "a URDF has no field for it: use the profile" in sheet


def test_the_same_session_gives_the_same_bytes():
    assert export(session(), ["urdf", "drake"]).contents == export(session(), ["urdf", "drake"]).contents


def test_without_an_output_the_difference_is_shown_and_nothing_written(capsys):
    before = sorted(session().rglob("*"))
    status, out, err = command(capsys, "export", session(), "--urdf")
    assert status == 0
    assert out.startswith("--- odd.urdf\n+++ odd.candidate.urdf\n@@ ")
    assert "export.not_held" in err
    assert sorted(session().rglob("*")) == before


def test_json_alone_on_stdout(capsys):
    status, out, _ = command(capsys, "export", session(), "--profile", "--json")
    assert status == 0
    assert json.loads(out)["kind"] == "robot_dynamics_export"


def test_a_directory_is_replaced_only_when_it_is_an_export(tmp_path, capsys):
    out = tmp_path / "out"
    words = ("export", session(), "--profile", "--output", out, "--quiet")
    assert command(capsys, *words)[0] == 0
    status, _, err = command(capsys, *words)
    assert status == 3
    assert "--force" in err
    assert command(capsys, *words, "--force")[0] == 0
    (out / "notes.txt").write_text("mine")
    status, _, err = command(capsys, *words, "--force")
    assert status == 3
    assert "notes.txt" in err
    (out / "notes.txt").unlink()
    (out / "mapping.md").unlink()
    (out / "mapping.md").mkdir()  # a folder is not ours, whatever it is called
    status, _, err = command(capsys, *words, "--force")
    assert status == 3
    assert "mapping.md" in err
    other = tmp_path / "other"
    other.mkdir()
    (other / "export.json").write_text('{"kind": "something"}')
    status, _, err = command(capsys, "export", session(), "--profile", "--output", other, "--force")
    assert status == 3
    assert "holds no export.json of ours" in err
    status, _, err = command(capsys, "export", session(), "--profile", "--output", session(), "--force")
    assert status == 3
    assert "inside the output directory" in err


def test_nothing_is_written_into_a_session(tmp_path, capsys):
    """A session with a file that its ledger does not know cannot be opened again."""
    copy = tmp_path / "session"
    shutil.copytree(session(), copy)
    status, _, err = command(capsys, "export", copy, "--profile", "--output", copy / "deep" / "out")
    assert status == 3
    assert "inside a session" in err
    open_session(copy)


def test_the_commands_on_the_page_run(repository, tmp_path, monkeypatch, capsys):
    """docs/export.md, as it stands; the export says that its files give the identified torque."""
    page = (repository / "docs" / "export.md").read_text(encoding="utf-8")
    block = re.search(r"```sh\n(.*?)```", page, flags=re.DOTALL).group(1)
    lines = [line.split()[1:] for line in block.splitlines()]
    assert [words[0] for words in lines] == ["demo", "identify", "export"]
    monkeypatch.chdir(tmp_path)
    for words in lines:
        status, out, _ = command(capsys, *words)
        assert status == 0
    assert "Read again, arm7.candidate.urdf and arm7.candidate.xml give that torque to" in out
    assert (tmp_path / "arm-export" / "arm7.candidate.profile.yaml").exists()


# --- refusals


def test_a_target_is_needed():
    with pytest.raises(StudyError, match="needs a target"):
        export(session(), [])


def test_a_model_file_that_was_changed_since_is_refused(tmp_path):
    copy = tmp_path / "session"
    shutil.copytree(session(), copy)
    model = next((copy / "model").glob("*.urdf"))
    model.chmod(0o644)
    model.write_bytes(model.read_bytes().replace(b"2.50", b"2.60"))
    with pytest.raises(SessionError, match="not what it was"):
        export(copy, ["urdf"])


def test_no_urdf_is_made_of_an_mjcf():
    with pytest.raises(ModelError, match="no URDF is made of one"):
        export(session("mjcf"), ["urdf"])
