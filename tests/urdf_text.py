"""URDF text for tests, a link or a joint at a time: the fault under test is the only thing that stands out."""

from __future__ import annotations

INERTIAL = (
    '<inertial><origin xyz="0 0 0.1"/><mass value="2"/>'
    '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/></inertial>'
)
LIMIT = '<limit lower="-1" upper="2" velocity="3" effort="4"/>'


def inertial(mass="2", tensor="0.02 0 0 0.03 0 0.04", origin=""):
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    moments = " ".join(f'{name}="{value}"' for name, value in zip(names, tensor.split(" "), strict=True))
    return f'<inertial>{origin}<mass value="{mass}"/><inertia {moments}/></inertial>'


def link(name, content=INERTIAL):
    return f'<link name="{name}">{content}</link>'


def joint(name, parent, child, content=LIMIT, *, kind="revolute", axis="0 0 1", origin="0 0 0"):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{origin}"/><axis xyz="{axis}"/>{content}</joint>'
    )


def arm(content=INERTIAL, **options):
    """base - j1 - arm - j2 - tip, one line each from line 2 on; `content` is that of link 'arm', options of j1."""
    limit = options.pop("limit", LIMIT)
    links = (link("base", ""), link("arm", content), link("tip"))
    return (*links, joint("j1", "base", "arm", limit, **options), joint("j2", "arm", "tip"))


def write(folder, *parts):
    """A file `robot.urdf` with one part on each line from line 2 on; its path."""
    path = folder / "robot.urdf"
    path.write_text('<robot name="r">\n' + "\n".join(parts) + "\n</robot>\n", encoding="utf-8")
    return path


def codes(report):
    """(level, code) of each finding, in the report's order."""
    return [(finding.level, finding.code) for finding in report.findings]
