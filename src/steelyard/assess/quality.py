"""What a model is good for, by joint and as a whole, in classes that people use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from steelyard.estimate.validate import FEED_FORWARD, GRAVITY_COMPENSATION

Use = Literal["feed_forward", "gravity_compensation", "none"]
USES: Mapping[Use, str] = {
    "feed_forward": "torque feed-forward and model-predictive control",
    "gravity_compensation": "gravity compensation, not feed-forward",
    "none": "no control by model",
}


@dataclass(frozen=True)
class Quality:
    """Classes of a model on unseen motion.

    Attributes:
        overall: what the robot as a whole is good for.
        relative_error: of all joints together, a fraction.
        joints: joint -> what it is good for.
        errors: joint -> relative error, a fraction.
        sentence: all of it in one sentence.
    """

    overall: Use
    relative_error: float
    joints: Mapping[str, Use]
    errors: Mapping[str, float]
    sentence: str

    @property
    def limiting(self) -> tuple[str, ...]:
        """Joints of a lower class than the whole, the worst first."""
        order = tuple(USES)
        worse = [joint for joint, use in self.joints.items() if order.index(use) > order.index(self.overall)]
        return tuple(sorted(worse, key=lambda joint: -self.errors[joint]))


def use_of(relative_error: float) -> Use:
    """Class of a relative error, a fraction: < 5 % feed-forward and MPC, < 20 % gravity compensation."""
    if relative_error < FEED_FORWARD:
        return "feed_forward"
    return "gravity_compensation" if relative_error < GRAVITY_COMPENSATION else "none"


def quality(relative_error: float, per_joint: Mapping[str, float]) -> Quality:
    """Classes from the errors on unseen motion.

    Args:
        relative_error: of all joints together, a fraction.
        per_joint: joint -> relative error, a fraction; infinite where the joint carried no torque.
    """
    overall = use_of(relative_error)
    joints = {joint: use_of(error) for joint, error in per_joint.items()}
    made = Quality(overall, relative_error, joints, dict(per_joint), "")
    weak = ", ".join(f"{joint} ({100 * per_joint[joint]:.0f} %)" for joint in made.limiting)
    but = f"; less so in {weak}" if weak else ", in every joint" if per_joint else ""
    sentence = f"On unseen motion {100 * relative_error:.1f} % of the torque is missed: good for {USES[overall]}{but}."
    if overall == "none":
        sentence = f"On unseen motion {100 * relative_error:.1f} % of the torque is missed: good for {USES[overall]}."
    return replace(made, sentence=sentence)
