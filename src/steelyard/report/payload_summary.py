"""The terminal summary of a weighed payload, and of drive gains."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from steelyard.estimate.drive_gain import DriveGains
from steelyard.session.weighing import Weighed


def payload_summary(weighed: Weighed) -> str:
    """Mass, centre of mass and inertia with their intervals, what the data do not show, residuals; as text."""
    payload = weighed.payload
    sure = f"sure to {100 * payload.gain_uncertainty:g} %" if payload.gain_uncertainty else "taken as exact"
    lines = [
        f"Payload in the frame {payload.frame}, {payload.method}, against {weighed.against}; 95 % intervals, "
        f"torque scale {sure}:"
    ]
    low, high = payload.mass_interval()
    if payload.known[0]:
        lines.append(f"  mass      {payload.mass:9.4f} kg   [{low:.4f}, {high:.4f}]")
    for axis, value, (low, high) in zip("xyz", payload.centre, payload.centre_interval(), strict=True):
        if np.isfinite(value):
            lines.append(f"  centre {axis}  {1e3 * value:9.2f} mm   [{1e3 * low:.2f}, {1e3 * high:.2f}]")
    names = ("xx", "xy", "yy", "xz", "yz", "zz")
    for name, value, (low, high) in zip(names, payload.parameters[4:], payload.interval()[4:], strict=True):
        if np.isfinite(value):
            lines.append(f"  I_{name} {value:13.5f} kg m2, about the origin of the frame   [{low:.5f}, {high:.5f}]")
    if payload.unobservable:
        lines.append(f"  not to be told from these data: {', '.join(payload.unobservable)}")
    residuals = ", ".join(f"{joint} {value:.3g}" for joint, value in payload.rms.items() if np.isfinite(value))
    lines.append(f"  residual rms [N m or N]: {residuals}")
    unseen = ", ".join(f"{joint} {value:.3g}" for joint, value in payload.held_out.items() if np.isfinite(value))
    if unseen:
        lines.append(f"  of parts left out in turn: {unseen}")
    lines.append("The payload stays apart from the robot's links: give it to the controller as a tool.")
    return "\n".join(lines)


def gains_summary(gains: DriveGains, constants: Mapping[str, float]) -> str:
    """True over recorded torque of each joint, and the torque constant that follows; as text."""
    width = max(map(len, gains.joints))
    lines = ["Drive gains, true over recorded torque, 95 % intervals:"]
    for joint, gain, (low, high) in zip(gains.joints, gains.gain, gains.interval, strict=True):
        if not np.isfinite(gain):
            lines.append(f"  {joint:{width}}  not shown by this part and motion")
            continue
        follows = f"   torque constant {gain * constants[joint]:.5g} per A" if joint in constants else ""
        lines.append(f"  {joint:{width}}  {gain:7.4f}  [{low:.4f}, {high:.4f}]{follows}")
    return "\n".join(lines)
