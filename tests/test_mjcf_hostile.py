"""Damaged MJCF: whatever is done to the file, it is a robot of finite numbers or one of our errors with a cure."""

from __future__ import annotations

import random

import numpy as np
import pytest
from lxml import etree

from steelyard.errors import ModelError
from steelyard.robot.robot import Robot

TEXTS = (
    "nan", "inf", "-1", "0", "0 0 0", "1e999", "1,5", "", "x", "${m}", "1e-320", "1e308 1e308 1e308", "true", "main",
    "world", "a", "arm", "9" * 500, "\u202e", "1 2 3 4 5 6 7 8 9",
)  # fmt: skip
ATTRIBUTES = (
    "class",
    "type",
    "name",
    "quat",
    "euler",
    "xyaxes",
    "pos",
    "ref",
    "range",
    "mass",
    "fromto",
    "size",
    "mesh",
)
TAGS = ("joint", "freejoint", "inertial", "geom", "frame", "body", "default", "equality", "compiler", "weld", "include")
SOUND = """<mujoco>
  <compiler eulerseq="zYx"/><option gravity="0 0 -9.81"/>
  <default><joint armature="0.1"/>
    <default class="a"><geom type="capsule" size="0.03"/><joint damping="1"/></default>
  </default>
  <worldbody>
    <body name="base" euler="10 20 30">
      <body name="arm" childclass="a"><joint name="arm" axis="0 1 0" range="-90 90"/><geom fromto="0 0 0 0.1 0 0.3"/>
        <frame pos="0 0 0.1" quat="1 1 0 0"><body name="b"><joint name="b" type="slide" ref="0.1" range="-1 1"/>
          <joint name="c" pos="0.1 0 0"/>
          <inertial pos="0 0 0.1" mass="2" fullinertia="0.02 0.03 0.04 0 0 0"/></body></frame>
        <body name="d" axisangle="0 0 1 9"><joint name="d"/><geom type="box" size="0.1 0.1 0.1" mass="1"/></body>
      </body>
    </body>
  </worldbody>
  <equality><joint joint1="b" joint2="arm" polycoef="0.1 0.5"/></equality>
  <custom><numeric name="velocity_limit" data="1 2 3 4"/></custom>
</mujoco>"""


def damage(root: etree._Element, rng: random.Random) -> None:
    """One change: a text, an attribute or element more or less, a copy in a wrong place, another tag."""
    elements = list(root.iter())
    element, kind = rng.choice(elements), rng.randrange(6)
    attributes = [str(name) for name in element.attrib]
    if kind <= 1 and attributes:
        element.set(rng.choice(attributes), rng.choice(TEXTS))
    elif kind == 2:
        element.set(rng.choice(ATTRIBUTES), rng.choice(TEXTS))
    elif kind == 3 and element is not root:
        element.getparent().remove(element)
    elif kind == 4:
        element.append(etree.fromstring(etree.tostring(rng.choice(elements))))
    elif element is not root:
        element.tag = rng.choice(TAGS)


@pytest.mark.parametrize("seed", range(8))
def test_no_damage_gives_a_traceback(tmp_path, seed):
    rng, path, outcomes = random.Random(seed), tmp_path / "robot.xml", set()
    for _ in range(60):
        root = etree.fromstring(SOUND)
        for _ in range(rng.randint(1, 3)):
            damage(root, rng)
        path.write_bytes(etree.tostring(root))
        try:
            robot = Robot.from_file(path, mimic="project" if rng.random() < 0.5 else "lock")
        except ModelError as error:
            outcomes.add("refused" if error.cure else f"no cure: {error}")
        else:
            assert np.isfinite(robot.parameters).all()
            assert robot.tree.rows == len(robot.row_names)
            outcomes.add("read")
    assert outcomes == {"refused", "read"}
