"""`steelyard info`: what a model file holds."""

from __future__ import annotations

from pathlib import Path

from steelyard.cli.output import print_json, show


def info(
    model: Path, *, gravity: tuple[float, float, float] | None = None, floating: bool = False, json: bool = False
) -> None:
    """Joints, bodies, masses, limits and mount of a model file.

    Args:
        model: URDF or MJCF file.
        gravity: Gravity in the frame of the root link [m/s2]; default: that of the file, else 9.81 downwards.
        floating: The root link moves freely.
        json: One JSON object on stdout.
    """
    import numpy as np

    from steelyard.robot.robot import Robot

    robot = Robot.from_file(model, gravity=gravity, floating=floating or None)
    kinds = ["prismatic" if a.prismatic else "continuous" if a.continuous else "revolute" for a in robot.axes]
    joints = [
        {
            "name": a.name, "kind": kind, "lower": a.lower, "upper": a.upper, "velocity": a.velocity,
            "effort": a.effort, "damping": a.damping, "friction": a.friction, "rotor_inertia": a.rotor_inertia,
        }
        for a, kind in zip(robot.axes, kinds, strict=True)
    ]  # fmt: skip
    bodies = []
    for i, name in enumerate(robot.body_names):
        mass, *moments = robot.parameters[10 * i : 10 * i + 4]
        links = [link.name for link in robot.links if link.body == i]
        centre = [m / mass for m in moments] if mass > 0.0 else None
        bodies.append({"name": name, "mass_kg": mass, "center_of_mass_m": centre, "links": links})
    if json:
        print_json(
            {
                "name": robot.name, "joints": joints, "bodies": bodies, "moving_mass_kg": robot.moving_mass,
                "gravity_m_s2": robot.gravity, "locked": dict(robot.locked_at), "digest": robot.digest,
            }
        )  # fmt: skip
        return
    show(f"{robot.name}: {len(joints)} joints, {len(bodies)} bodies, {robot.moving_mass:.4g} kg moving")
    frame = "world, where the base floats" if robot.floating else "base frame"
    show(f"gravity in the {frame}: {np.array2string(robot.gravity, precision=4)} m/s2")
    for name, position in robot.locked_at:
        show(f"locked: {name} at {position:g}")
    width = max((len(a.name) for a in robot.axes), default=5)
    show(f"{'joint':{width}}  kind        lower    upper  velocity   effort")
    for a, kind in zip(robot.axes, kinds, strict=True):
        show(f"{a.name:{width}}  {kind:10} {a.lower:7.4g}  {a.upper:7.4g}  {a.velocity:8.4g}  {a.effort:7.4g}")
    width = max((len(b["name"]) for b in bodies), default=4)
    show(f"{'body':{width}}  mass [kg]  centre of mass [m], joint frame")
    for body in bodies:
        where = body["center_of_mass_m"]
        shown = "-" if where is None else " ".join(f"{c:8.4f}" for c in where)
        show(f"{body['name']:{width}}  {body['mass_kg']:9.4f}  {shown}")
