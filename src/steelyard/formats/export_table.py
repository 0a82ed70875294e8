"""The sheet that goes with an export: where each number went, what it was before, what it rests on, what was lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.formats.export_file import ExportFile
from steelyard.formats.export_mapping import mapping_table
from steelyard.formats.export_values import ExportValues, JointDynamics
from steelyard.robot.inertia import tensor, tensor_elements
from steelyard.terms.rigid_body import QUANTITIES

Array = NDArray[np.float64]
_RANK = {"identified": 0, "combined": 1, "prior": 2}  # a value is worth what its weakest part is
_JOINT = {
    "damping": ("viscous friction", "viscous_friction", ("N m s/rad", "N s/m")),
    "friction": ("Coulomb friction", "coulomb_friction", ("N m", "N")),
    "rotor_inertia": ("rotor inertia", "rotor_inertia", ("kg m2", "kg")),
    "bias": ("torque bias", "bias", ("N m", "N")),
}


@dataclass(frozen=True)
class Standing:
    """What is known of one parameter: its standard deviation, None without bound, and its class."""

    deviation: float | None
    kind: str


def export_sheet(
    values: ExportValues, files: Sequence[ExportFile], standing: Mapping[str, Standing], *, said: Sequence[str]
) -> str:
    """Markdown for people: a table of the numbers, then for each target where they went and what it cannot hold.

    Args:
        values: what was exported; its robot has the values of the model file.
        files: what was written.
        standing: by parameter name; empty where the result has base parameters alone.
        said: sentences to put first, e.g. how the full set came about.
    """
    lines = [f"# Export of {_shown(values.robot.name)}: a candidate", "", *map(_shown, said), "", "## Numbers", ""]
    lines += [
        "| of | quantity | unit | model file | exported | deviation | rests on |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [*_link_rows(values, standing), *_joint_rows(values, standing)]
    for file in files:
        lines += ["", f"## {_shown(file.name)}", "", mapping_table(file.target).rstrip("\n"), ""]
        if file.check.torque_difference:
            lines.append(f"Read again, its torque differs by {file.check.worst:.1e} of the largest at most.")
        lines += [f"- {_shown(f.message)}" + (f": {_shown(f.cure)}" if f.cure else "") for f in file.findings]
    return "\n".join(lines) + "\n"


def _link_rows(values: ExportValues, standing: Mapping[str, Standing]) -> Iterator[str]:
    before = {link.name: link.parameters for link in values.robot.links}
    for name, parameters in values.links.items():
        old = before[name]
        ten = [standing.get(f"link/{name}/{quantity}") for quantity, _ in QUANTITIES]
        was, now = None if old is None else _readable(old), _readable(parameters)
        for k, (quantity, unit, part) in enumerate(
            (
                ("mass", "kg", slice(0, 1)),
                ("centre of mass x y z", "m", slice(0, 4)),
                ("inertia about it xx xy yy xz yz zz", "kg m2", slice(0, 10)),
            )
        ):
            yield _row(
                f"link {name}", quantity, unit, None if was is None else was[k], now[k], ten[0] if k == 0 else None,
                [one for one in ten[part] if one is not None],
            )  # fmt: skip


def _joint_rows(values: ExportValues, standing: Mapping[str, Standing]) -> Iterator[str]:
    for axis in values.robot.axes:
        joint = values.joints.get(axis.name, JointDynamics())
        for attribute, (words, column, units) in _JOINT.items():
            value = getattr(joint, attribute)
            if value is None:
                continue
            known = standing.get(f"actuator/{axis.name}/{column}")
            old = None if attribute == "bias" else [float(getattr(axis, attribute))]
            yield _row(
                f"joint {axis.name}", words, units[axis.prismatic], old, [float(value)], known,
                [] if known is None else [known],
            )  # fmt: skip
        for other in joint.others:
            known = standing.get(f"actuator/{axis.name}/{other.name}")
            yield _row(
                f"joint {axis.name}", other.name, other.unit, None, [other.value], known,
                [] if known is None else [known],
            )  # fmt: skip
    for other in values.others:
        of, _, quantity = other.name.rpartition("/")
        known = standing.get(other.name)
        yield _row(of, quantity, other.unit, None, [other.value], known, [] if known is None else [known])


def _row(
    of: str,
    quantity: str,
    unit: str,
    was: Sequence[float] | None,
    now: Sequence[float],
    alone: Standing | None,
    parts: Sequence[Standing],
) -> str:
    deviation = "" if alone is None or alone.deviation is None else f"{alone.deviation:.2g}"
    kind = max((part.kind for part in parts), key=lambda kind: _RANK[kind], default="")
    cells = (_shown(of), _shown(quantity), unit, "" if was is None else _numbers(was), _numbers(now), deviation, kind)
    return f"| {' | '.join(cells)} |"


def _readable(parameters: Array) -> tuple[list[float], list[float], list[float]]:
    """Mass, centre of mass, and the six moments about it."""
    mass = float(parameters[0])
    if mass == 0.0:
        return [0.0], [0.0] * 3, [float(value) for value in parameters[4:]]
    centre = parameters[1:4] / mass
    own = tensor(parameters[4:]) - mass * ((centre @ centre) * np.eye(3) - np.outer(centre, centre))
    return [mass], centre.tolist(), np.asarray(tensor_elements(own)).tolist()


def _shown(text: str) -> str:
    """A text with names from a model file in it: nothing that ends a line or a cell, or moves the cursor."""
    spelled = (c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return "".join(spelled).replace("|", "\\|")


def _numbers(values: Sequence[float]) -> str:
    return " ".join(f"{value:.5g}" for value in values)
