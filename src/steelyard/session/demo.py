"""The demonstration: a simulated arm, recorded like a real one, identified, validated, compared with the truth."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.estimate.result import Estimate
from steelyard.formats.csv_write import write_csv
from steelyard.session import workflow
from steelyard.session.run import Request, Run, run
from steelyard.simulate.mujoco import TYPICAL, simulate_run
from steelyard.simulate.robots import robot_file

ROBOT = "arm7"
TORQUE_DELAY = 0.001  # [s]
SHOWN = 7  # rows of each kind in the table


@dataclass(frozen=True)
class TruthRow:
    """One parameter: what the simulated robot has, what was found, and how sure that claims to be."""

    name: str
    unit: str
    truth: float
    estimate: float
    deviation: float

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Demo:
    """The run and its comparison with the truth, joint friction first."""

    run: Run
    rows: tuple[TruthRow, ...]

    def table(self) -> str:
        """Truth against estimate, as text: some of the joints' and the worst of the bodies'."""
        width = max(len(row.name) for row in self.rows)
        inside = sum(abs(row.estimate - row.truth) <= 2.0 * row.deviation for row in self.rows)
        lines = [
            f"Truth against estimate: {inside} of {len(self.rows)} within two deviations.",
            f"  {'parameter':{width}}  {'truth':>10} {'estimate':>10} {'deviation':>10}",
        ]
        friction = [row for row in self.rows if row.name.startswith("actuator/")]
        others = [row for row in self.rows if row not in friction]
        others.sort(key=lambda row: -abs(row.estimate - row.truth) / max(row.deviation, 1e-300))
        lines += [
            f"  {row.name:{width}}  {row.truth:10.4f} {row.estimate:10.4f} {row.deviation:10.4f} {row.unit}"
            for row in (*friction[:SHOWN], *others[:SHOWN])
        ]
        lines.append(f"  {SHOWN} of the joints' and the {SHOWN} worst of the bodies'; all of them with --json")
        return "\n".join(lines)


def run_demo(
    directory: Path | None, *, seed: int, force: bool, say: Callable[[str], None] = lambda message: None
) -> Demo:
    """Two runs of the arm along different motions: one is fitted, the other proves it.

    Args:
        directory: of the session to write; None to keep nothing.
        seed: of motions and noise.
        force: replace a session.
        say: called with a line before each stage.

    Raises:
        SteelyardError: MuJoCo is not installed, or the directory may not be replaced.
    """
    sensors = replace(TYPICAL, torque_delay=TORQUE_DELAY)
    with tempfile.TemporaryDirectory() as scratch:
        files = {"train": Path(scratch, "train.csv"), "unseen": Path(scratch, "unseen.csv")}
        truth: Mapping[str, float] = {}
        for k, (name, file) in enumerate(files.items()):
            say(f"simulating the {name} motion of {ROBOT} (friction, rotor inertia, encoder steps, noise, delay)")
            simulated = simulate_run(robot_file(f"{ROBOT}.xml"), seed=2 * seed + k, sensors=sensors)
            write_csv(file, simulated.trajectory)
            truth = simulated.truth_parameters
        request = Request(model=robot_file(f"{ROBOT}.urdf"), train=(files["train"],), validate=(files["unseen"],))
        done = run(request, say=say)
        if directory is not None:
            manifest = workflow.manifest_of(done, None)
            result = workflow.result_of(done, manifest)
            workflow.save(done, result, manifest, directory, added=False, force=force)
    return Demo(done, tuple(_rows(done, truth)))


def _rows(done: Run, truth: Mapping[str, float]) -> list[TruthRow]:
    """Friction and offsets by joint, then the base parameters, regrouped from the truth."""
    estimate: Estimate = done.identification.estimate
    basis = done.identification.basis
    values = basis.regroup(np.array([truth.get(name, 0.0) for name in basis.columns]))
    units = {column.name: column.unit for column in done.identification.model.columns}
    known = dict(zip(basis.names, values, strict=True))
    order = sorted(range(len(estimate.names)), key=lambda k: not estimate.names[k].startswith("actuator/"))
    return [
        TruthRow(
            name=estimate.names[k],
            unit=units[estimate.names[k]],
            truth=float(known[estimate.names[k]]),
            estimate=float(estimate.theta[k]),
            deviation=float(estimate.deviation[k]),
        )
        for k in order
    ]
