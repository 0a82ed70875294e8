"""A payload: mass, centre of mass and inertia of what the robot carries, in the frame of a link, with intervals.

A payload stays apart from the robot's links; `robot/tool.py` puts it on and takes it off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.finding import Finding
from steelyard.robot.inertia import pseudo_inertia, tensor

Array = NDArray[np.float64]
QUANTITIES = ("mass", "first moment x", "first moment y", "first moment z",
              "inertia xx", "inertia xy", "inertia yy", "inertia xz", "inertia yz", "inertia zz")  # fmt: skip
LOST = 1e-6  # share of a lost direction that makes a parameter unknown
NAMED = 0.3  # share of the largest part of a direction that is worth a name


@dataclass(frozen=True)
class Payload:
    """What was found of a payload.

    Attributes:
        frame: link in whose frame it is expressed, about whose origin the inertia is taken.
        parameters: (10,) m, m c, I [kg, kg m, kg m2]; not a number where the data say nothing.
        covariance: (10, 10) from noise; infinite where the data say nothing.
        scale: (10, 10) covariance that a torque scale uncertain by 1 (all joints alike, and each on its own) gives.
        gain_uncertainty: of the torque scale, a fraction.
        freedom: degrees of freedom of the noise.
        lost: (10, k) directions of the parameters that the data do not show.
        method: ``static`` or ``dynamic``.
        rms: residual of each joint under the fit [N m or N].
        held_out: the same of parts of the data under the fit to the others, not a number where it cannot be told.
        findings: what a person should know.
    """

    frame: str
    parameters: Array
    covariance: Array
    scale: Array
    gain_uncertainty: float
    freedom: float
    lost: Array
    method: str
    rms: Mapping[str, float]
    held_out: Mapping[str, float]
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.parameters, self.covariance, self.scale, self.lost):
            array.setflags(write=False)

    @property
    def known(self) -> NDArray[np.bool_]:
        """(10,) which parameters the data show."""
        return np.isfinite(self.parameters)

    @property
    def mass(self) -> float:
        """[kg], not a number when it cannot be told."""
        return float(self.parameters[0])

    @property
    def centre(self) -> Array:
        """(3,) centre of mass in the frame [m], `c = (m c) / m`; not a number without a mass above zero."""
        return np.asarray(self.parameters[1:4] / self.mass) if self.mass > 0.0 else np.full(3, np.nan)

    @property
    def inertia(self) -> Array:
        """(3, 3) about the origin of the frame, along its axes [kg m2]."""
        return tensor(self.parameters[4:])

    @property
    def inertia_about_centre(self) -> Array:
        """(3, 3) about the centre of mass, along the axes of the frame [kg m2]."""
        c = self.centre
        return np.asarray(self.inertia - self.mass * ((c @ c) * np.eye(3) - np.outer(c, c)))

    @property
    def possible(self) -> bool:
        """Whether a body with these parameters can exist; True where too few are known to say."""
        return not self.known.all() or bool(np.linalg.eigvalsh(pseudo_inertia(self.parameters))[0] > 0.0)

    def interval(self, level: float = 0.95) -> Array:
        """(10, 2) two-sided intervals of the parameters, with noise and torque scale; infinite where unknown."""
        half = self._half(np.diag(self.covariance), np.diag(self.scale), level)
        centre = np.where(self.known, self.parameters, 0.0)
        return np.column_stack([centre - half, centre + half])

    def mass_interval(self, level: float = 0.95) -> tuple[float, float]:
        """[kg]."""
        low, high = self.interval(level)[0]
        return float(low), float(high)

    def centre_interval(self, level: float = 0.95) -> Array:
        """(3, 2) [m]; a scale common to all joints does not change the centre of mass, and does not count here.

        Infinite where the mass may be zero: nothing has a centre of mass then.
        """
        if not self.mass_interval(level)[0] > 0.0:
            return np.tile([-np.inf, np.inf], (3, 1))
        c = self.centre
        slopes = np.zeros((3, 10))
        slopes[:, 0] = -c / self.mass
        slopes[[0, 1, 2], [1, 2, 3]] = 1.0 / self.mass
        half = np.full(3, np.inf)
        for k in np.flatnonzero(self.known[1:4]):
            at = np.array([0, k + 1])
            row, pick = slopes[k][at], np.ix_(at, at)
            noise, scale = row @ self.covariance[pick] @ row, row @ self.scale[pick] @ row
            half[k] = self._half(np.array([noise]), np.array([scale]), level)[0]
        centre = np.where(np.isfinite(half), c, 0.0)
        return np.column_stack([centre - half, centre + half])

    @cached_property
    def unobservable(self) -> tuple[str, ...]:
        """The directions that the data do not show, in words."""
        names: list[str] = []
        inertia = np.array([np.abs(v[:4]).max() < LOST for v in self.lost.T], dtype=bool)
        if inertia.sum() == 6:
            names.append("inertia")
        else:
            names += [_named(v) for v in self.lost.T[inertia]]
        return (*(_named(v) for v in self.lost.T[~inertia]), *names)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, by the names of the interface; None where the data say nothing."""
        centre, box = self.centre, self.centre_interval()
        inertia = self.interval()[4:]
        return {
            "mass_kg": _plain(self.mass),
            "mass_interval_kg": _plain(self.mass_interval()),
            "center_of_mass_m": _plain(centre),
            "center_of_mass_interval_m": _plain(box),
            "inertia_kg_m2": _plain(self.inertia) if self.known[4:].any() else None,
            "inertia_interval_kg_m2": _plain(np.dstack([tensor(side) for side in inertia.T])),
            "inertia_about_center_of_mass_kg_m2": _plain(self.inertia_about_centre) if self.known.all() else None,
            "frame": self.frame,
            "method": self.method,
            "gain_uncertainty": self.gain_uncertainty,
            "rms_per_joint": {joint: _plain(value) for joint, value in self.rms.items()},
            "held_out_rms_per_joint": {joint: _plain(value) for joint, value in self.held_out.items()},
            "unobservable": list(self.unobservable),
            "findings": [finding.as_dict() for finding in self.findings],
        }

    def _half(self, noise: Array, scale: Array, level: float) -> Array:
        """Half widths: Student's for noise, and the scale uncertainty as a bound, added in squares."""
        from scipy.special import stdtrit

        factor = float(stdtrit(self.freedom, 0.5 + level / 2.0))
        return np.sqrt(factor**2 * noise + self.gain_uncertainty**2 * scale)


def _plain(value: Any) -> Any:
    """Numbers as JSON has them, nested as they are; None for what is not finite."""
    if np.ndim(value) > 0:
        return [_plain(item) for item in value]
    return float(value) if np.isfinite(value) else None


def _named(direction: Array) -> str:
    moment = direction[1:4]
    size = float(np.linalg.norm(moment))
    if np.abs(np.delete(direction, [1, 2, 3])).max() < LOST * size:
        x, y, z = moment / size
        return f"first moment along ({x:.2f}, {y:.2f}, {z:.2f})"
    main = np.flatnonzero(np.abs(direction) > NAMED * np.abs(direction).max())
    if main.size == 1:
        return QUANTITIES[main[0]]
    return "combination " + " ".join(f"{direction[k]:+.2f} {QUANTITIES[k]}" for k in main)
