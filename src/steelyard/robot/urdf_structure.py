"""Whether links and joints form one tree: unique names, known references, one root, no loop, mimics that end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from steelyard.robot.finding_log import FindingLog, Place
from steelyard.robot.strict_number import shown
from steelyard.robot.urdf_description import UrdfJoint, UrdfLink
from steelyard.robot.urdf_reader import UrdfParts

_NAMED = 5  # names that one message lists
_LONGEST = 1000  # joints from the root to any link; the work grows with the square
_LOOP_CURE = (
    "a URDF is a tree: leave one joint of the loop out, and state the closure elsewhere (a coupling in the study file)"
)
Part = TypeVar("Part", UrdfLink, UrdfJoint)


def check_structure(parts: UrdfParts, log: FindingLog) -> str:
    """Note every fault of the graph; the name of the root link, empty where there is none."""
    links = first_of_each(parts.links, "link", log)
    joints = first_of_each(parts.joints, "joint", log)
    for name in (name for name in links if name in joints):
        message = f"{shown(name)} names both a joint and a link (line {links[name].line}), which is allowed here"
        cure = "rename one of them for tools that keep joints and links in one list"
        log.add("info", "model.name_clash", message, joint_place(joints[name]), cure=cure)
    if not links:
        cure = "write the links, or expand the file that includes them"
        log.add("error", "model.no_links", "the robot has no links", Place(1, "robot"), cure=cure)
        return ""
    connected = [joint for joint in joints.values() if _ends_known(joint, links, log)]
    driver = _check_loops(connected, log)
    roots = [name for name in links if name not in driver]
    if len(roots) > 1 and len(connected) == len(joints):  # else the missing joint is the fault, and is named
        _note_roots([links[name] for name in roots], log)
    _check_length(driver, log)
    _check_floating(connected, driver, log)
    _check_mimics(joints, log)
    return roots[0]


def joint_place(joint: UrdfJoint) -> Place:
    """Where a joint stands."""
    return Place(joint.line, f"joint {shown(joint.name)}")


def link_place(link: UrdfLink) -> Place:
    """Where a link stands."""
    return Place(link.line, f"link {shown(link.name)}")


def first_of_each(parts: Iterable[Part], tag: str, log: FindingLog) -> dict[str, Part]:
    """Links or joints by name; a second one of the same name is an error, and left out."""
    first: dict[str, Part] = {}
    for part in parts:
        earlier = first.setdefault(part.name, part)
        if earlier is not part:
            log.add(
                "error",
                "model.duplicate",
                f"{tag} {shown(part.name)} is defined on line {earlier.line} and again on line {part.line}",
                Place(part.line, f"{tag} {shown(part.name)}"),
                value=part.name[:60],
                cure="rename one (a prefix for the second of two equal grippers), or delete the copy",
            )
    return first


def _ends_known(joint: UrdfJoint, links: Mapping[str, UrdfLink], log: FindingLog) -> bool:
    known = True
    for role, name in (("parent", joint.parent), ("child", joint.child)):
        if name in links:
            continue
        known = False
        expression = "${" in name or "$(" in name
        log.add(
            "error",
            "model.unknown_link",
            f"the {role} of joint {shown(joint.name)} is {shown(name)}, "
            + ("an unexpanded xacro expression" if expression else "and no link has that name"),
            joint_place(joint),
            value=name[:60],
            cure="expand the file: `xacro robot.urdf.xacro > robot.urdf`"
            if expression
            else log.suggest(name, links, otherwise="add the link or correct the name"),
        )
    return known


def _check_loops(joints: Iterable[UrdfJoint], log: FindingLog) -> dict[str, UrdfJoint]:
    """The joint that moves each link, joints taken in file order; one that fits no tree is noted and left out."""
    driver: dict[str, UrdfJoint] = {}
    group: dict[str, str] = {}  # union-find: links that joints connect so far
    for joint in joints:
        earlier = driver.get(joint.child)
        top, bottom = _representative(joint.parent, group), _representative(joint.child, group)
        if earlier is not None:
            message = (
                f"joint {shown(joint.name)} gives link {shown(joint.child)} a second parent, {shown(joint.parent)}, "
                f"besides {shown(earlier.parent)} by joint {shown(earlier.name)} on line {earlier.line}"
            )
        elif joint.parent == joint.child:
            message = f"joint {shown(joint.name)} joins link {shown(joint.child)} to itself"
        elif top == bottom:
            message = (
                f"joint {shown(joint.name)} closes a loop: its child {shown(joint.child)} already carries "
                f"its parent {shown(joint.parent)}"
            )
        else:
            driver[joint.child] = joint
            group[bottom] = top
            continue
        log.add("error", "model.loop", message, joint_place(joint), value=joint.name[:60], cure=_LOOP_CURE)
    return driver


def _representative(name: str, group: dict[str, str]) -> str:
    while (above := group.get(name)) is not None:
        group[name] = group.get(above, above)  # halve the path
        name = above
    return name


def _note_roots(roots: list[UrdfLink], log: FindingLog) -> None:
    names = [f"{shown(link.name)} (line {link.line})" for link in roots[:_NAMED]]
    more = f" and {len(roots) - _NAMED} more" if len(roots) > _NAMED else ""
    log.add(
        "error",
        "model.two_roots",
        f"{len(roots)} links have no parent, so this is not one robot: {', '.join(names)}{more}",
        link_place(roots[1]),
        value=len(roots),
        cure="join them by a fixed joint, or delete the links that do not belong to the robot",
    )


def _check_length(driver: Mapping[str, UrdfJoint], log: FindingLog) -> None:
    depth: dict[str, int] = {}
    for link in driver:
        path = [link]
        while path[-1] in driver and path[-1] not in depth:
            path.append(driver[path[-1]].parent)
        above = depth.get(path[-1], 0)
        depth |= {name: above + k for k, name in enumerate(reversed(path))}
    longest = max(depth, key=lambda name: depth[name], default="")
    if depth.get(longest, 0) > _LONGEST:
        log.add(
            "error",
            "model.unsupported",
            f"{depth[longest]} joints lie between the root and link {shown(longest)}, more than {_LONGEST}",
            joint_place(driver[longest]),
            value=depth[longest],
            cure="look for links that a generator repeated, or split the model",
        )


def _check_floating(joints: Iterable[UrdfJoint], driver: Mapping[str, UrdfJoint], log: FindingLog) -> None:
    """One floating joint may carry the whole robot; any other would be a free body beside or inside it."""
    joints = tuple(joints)
    floating = [joint for joint in joints if joint.kind == "floating"]
    misplaced = [j for order, j in enumerate(floating) if order > 0 or _mover_of(j.parent, driver) is not None]
    for joint in misplaced:
        log.add(
            "error",
            "model.joint_type",
            f"joint {shown(joint.name)} is floating, but only one joint at the root of the tree may be",
            joint_place(joint),
            value="floating",
            cure="make it fixed, or describe the free body in a file of its own",
        )
    if not floating or misplaced:
        return
    for joint in (joint for joint in joints if joint.moves and _mover_of(joint.parent, driver) is None):
        log.add(
            "error",
            "model.joint_type",
            f"joint {shown(joint.name)} stands on the ground while joint {shown(floating[0].name)} "
            f"(line {floating[0].line}) floats beside it: these are two robots, or a robot and an object",
            joint_place(joint),
            value=joint.name[:60],
            cure="describe the free body in a file of its own",
        )


def _mover_of(link: str, driver: Mapping[str, UrdfJoint]) -> UrdfJoint | None:
    """The joint nearest to a link, towards the root, that is not fixed; None where the link stands on the ground."""
    while link in driver:
        if driver[link].kind != "fixed":
            return driver[link]
        link = driver[link].parent
    return None


def _check_mimics(joints: Mapping[str, UrdfJoint], log: FindingLog) -> None:
    settled: set[str] = set()  # joints whose mimics have been followed to an end
    for joint in joints.values():
        chain: dict[str, UrdfJoint] = {}
        current = joint
        while current.mimic is not None and current.name not in settled and current.name not in chain:
            chain[current.name] = current
            if current.mimic.joint not in joints:
                _note_mimic(current, current.mimic.joint, joints, log)
                break
            if current.moves and not joints[current.mimic.joint].moves:
                _note_still(current, joints[current.mimic.joint], log)
                break
            current = joints[current.mimic.joint]
        else:
            if current.name in chain:
                names = " -> ".join([*map(shown, [*chain][:_NAMED]), *(["..."] if len(chain) > _NAMED else [])])
                log.add(
                    "error",
                    "model.mimic_loop",
                    f"joint {shown(current.name)} mimics itself: {names} -> {shown(current.name)}",
                    joint_place(current),
                    value=current.name[:60],
                    cure="a joint follows another one that is driven: name that one",
                )
        settled.update(chain)


def _note_mimic(joint: UrdfJoint, name: str, joints: Mapping[str, UrdfJoint], log: FindingLog) -> None:
    log.add(
        "error",
        "model.mimic_unknown",
        f"joint {shown(joint.name)} mimics {shown(name)}, and no joint has that name",
        joint_place(joint),
        value=name[:60],
        cure=log.suggest(name, joints, otherwise="correct the name, or delete the <mimic>"),
    )


def _note_still(joint: UrdfJoint, leader: UrdfJoint, log: FindingLog) -> None:
    log.add(
        "error",
        "model.mimic_unknown",
        f"joint {shown(joint.name)} mimics {shown(leader.name)}, which is {leader.kind} and has no position to follow",
        joint_place(joint),
        value=leader.name[:60],
        cure="name a joint that moves, or delete the <mimic>",
    )
