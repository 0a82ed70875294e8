"""`steelyard base`: what torque can tell at all."""

from __future__ import annotations

from pathlib import Path

from steelyard.cli.output import print_json, show


def base(
    model: Path,
    *,
    rotor: bool = False,
    friction: bool = False,
    gravity: tuple[float, float, float] | None = None,
    floating: bool = False,
    json: bool = False,
) -> None:
    """Base parameters: the combinations of masses, first moments and inertias that torque can tell apart.

    Args:
        model: URDF or MJCF file.
        rotor: With a rotor inertia at every joint.
        friction: With viscous and Coulomb friction and an offset at every joint.
        gravity: Gravity in the frame of the root link [m/s2]; along the first axis or not makes a difference.
        floating: The root link moves freely, and the wrench on it is known.
        json: One JSON object on stdout.
    """
    from steelyard.basis import base_parameters
    from steelyard.model import Model
    from steelyard.robot.robot import Robot
    from steelyard.terms.coulomb import Coulomb
    from steelyard.terms.offset import Offset
    from steelyard.terms.rigid_body import RigidBody
    from steelyard.terms.rotor_inertia import RotorInertia
    from steelyard.terms.viscous import Viscous

    robot = Robot.from_file(model, gravity=gravity, floating=floating or None)
    terms = (RigidBody(), *((RotorInertia(),) if rotor else ()))
    terms += (Viscous(), Coulomb(), Offset()) if friction else ()
    basis = base_parameters(Model(robot, terms))
    if json:
        print_json(
            {
                "count": basis.count,
                "names": basis.names,
                "map": {"columns": basis.columns, "matrix": basis.matrix},
                "tolerance": basis.tolerance,
                "gap": basis.gap,
                "classes": dict(basis.classes),
            }
        )
        return
    kept, dropped = basis.gap
    show(f"{basis.count} base parameters of {len(basis.columns)} standard parameters")
    show(f"gap: the weakest kept is at {kept:.2g}, the strongest dropped at {dropped:.2g} of its own length")
    for name in basis.names:
        show(f"  {basis.expression(name)}")
    silent = [name for name, kind in basis.classes.items() if kind == "none"]
    show(f"without any effect on the torques: {', '.join(silent) or 'none'}")
