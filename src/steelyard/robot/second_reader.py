"""A second opinion on a URDF: the field's reference reader must find the masses that we find."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

from lxml import etree

from steelyard.errors import ModelError
from steelyard.robot.strict_number import shown
from steelyard.robot.urdf_description import UrdfDescription
from steelyard.robot.urdf_elements import children
from steelyard.robot.xml_reader import parse_model_xml

TOLERANCE = 1e-9  # relative: both readers parse the same decimal text
_GROUND = "ground"


def check_masses(path: Path, description: UrdfDescription) -> None:
    """Refuse a URDF whose masses Pinocchio reads otherwise.

    It is given every link on a joint of its own and nothing but the links' inertials: reading a whole file, it refuses
    limits that we can do without, complains on stderr, and falls off the end of its stack in long chains.

    Raises:
        ModelError: the mass of a link differs; names the link.
    """
    import pinocchio

    links = [link for link in children(parse_model_xml(path).root, "link") if children(link, "inertial")]
    weighed = [link for link in description.links if link.inertial is not None]
    model = pinocchio.buildModelFromXML(etree.tostring(_spread(links), encoding="unicode"))
    for k, link in enumerate(weighed):
        ours = 0.0 if link.inertial is None else link.inertial.mass
        theirs = float(model.inertias[model.getJointId(f"j{k}")].mass)
        if abs(theirs - ours) > TOLERANCE * max(1.0, ours):
            raise ModelError(
                f"two readers of this file disagree about the mass of link {shown(link.name)}",
                where=f"{path}:{link.line}",
                value=f"{ours!r} kg here, {theirs!r} kg by Pinocchio",
                cure="look for a number written in an odd notation in its <inertial>, and report the file",
            )


def _spread(links: list[etree._Element]) -> etree._Element:
    """A robot of links called l0, l1, ... on joints j0, j1, ...; blanks around numbers are what XML says, one space."""
    robot = etree.Element("robot", name="spread")
    etree.SubElement(robot, "link", name=_GROUND)
    for k, link in enumerate(links):
        inertial = deepcopy(children(link, "inertial")[0])
        for part in inertial.iter():
            part.attrib.update({key: " ".join(str(value).split()) for key, value in part.attrib.items()})
        etree.SubElement(robot, "link", name=f"l{k}").append(inertial)
        joint = etree.SubElement(robot, "joint", name=f"j{k}", type="continuous")
        etree.SubElement(joint, "parent", link=_GROUND)
        etree.SubElement(joint, "child", link=f"l{k}")
    return robot
