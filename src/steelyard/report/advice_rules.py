"""What stands behind a finding and what to do next, by code: the trouble table as data.

Steps mend the recording, then the model, then record again. None of them makes a number look better by force: more
regularisation where rank is missing, clipping of signed parameters, deleting odd values or editing a result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Rule(NamedTuple):
    """Cause and next step of a code; an empty next step leaves the finding's own cure."""

    cause: str
    next_step: str = ""


RULES: Mapping[str, Rule] = {
    "data.nan": Rule("the recorder wrote numbers that are none: a lost message or a division by zero in the driver"),
    "data.corrupt": Rule("the file was cut off or damaged while it was written or copied"),
    "data.gap": Rule("the recorder or the bus dropped samples"),
    "data.irregular_stamps": Rule("stamps were taken when messages arrived, not when they were measured"),
    "data.synthetic_stamps": Rule(
        "stamps were made from a nominal rate: real timing is lost, and with it accelerations"
    ),
    "data.clock_backward": Rule("the clock was set while recording, or two runs were joined"),
    "data.saturation": Rule("the sensor or the drive reached the end of its range: the true torque was larger"),
    "data.standstill": Rule("joints stood still: stiction holds any torque there, and nothing moves to be identified"),
    "data.wrap": Rule("an encoder angle was folded into one turn before it was recorded"),
    "data.units_suspect": Rule("the recorder wrote degrees, millimetres or another unit than SI"),
    "data.dq_mismatch": Rule("the recorded velocity is filtered, delayed, scaled or of another joint"),
    "data.ddq_mismatch": Rule("the recorded acceleration is filtered, delayed, scaled or of another joint"),
    "data.torque_zero": Rule("the driver does not publish torque, or publishes what a controller adds"),
    "data.gravity_compensated": Rule("the driver took the gravity torque off before publishing"),
    "data.torque_sign": Rule("torque is counted against the joint's positive direction"),
    "data.joint_order": Rule("columns were written in another order of joints than their names say"),
    "data.delay": Rule(
        "torque and position passed different filters or clocks; one millisecond biases friction already"
    ),
    "data.noise_dominated": Rule("the motion is too small for the resolution of the sensor"),
    "data.payload_change": Rule("the robot took something up or put it down during the run"),
    "data.repeats": Rule("the motion is periodic: later periods hold the same information, and prove nothing"),
    "fit.rank_deficient": Rule(
        "the training motion does not move these parameters' torque at all, or two terms describe one effect",
        "record motion that shows the parameters named, or leave out one of two terms that do the same. More "
        "regularisation would only hide the missing rank behind the model file's values",
    ),
    "fit.weak_direction": Rule(
        "the training motion shows this combination hardly: too slow, too few poses, or joints that move in step",
        "record a richer motion of the joints named (other poses, speeds, accelerations); until then trust the "
        "predictions near the training motion, and not the single values",
    ),
    "fit.prior_dominates": Rule(
        "the data say little of these parameters, so that their values are still those of the model file",
        "if they matter for the use, record motion that shows them; else say that they were not measured",
    ),
    "fit.placeholder_prior": Rule("the model file's inertias were filled in, not measured or computed from the parts"),
    "fit.unbounded": Rule("a column of the model has no effect in the training motion"),
    "fit.coloured_residual": Rule("the residual is slower than noise: an effect is missing, or the filter is narrow"),
    "fit.trend": Rule("the residual follows one of the variables of motion, so that the model lacks something"),
    "fit.residual_event": Rule("something happened in one short part of the run"),
    "fit.residual_offset": Rule(
        "the zero of the torque sensor moved between runs, or the robot carried something else"
    ),
    "fit.residual_coupling": Rule("two joints share an effect that the model treats apart: gears, cables, tool"),
    "fit.outliers": Rule("contact, lost samples or jolts that the model cannot explain"),
    "fit.cancelling_terms": Rule("two terms have nearly the same effect in the training motion"),
    "fit.mass_matrix_indefinite": Rule(
        "single values came out that no body has, in directions that the motion hardly shows; base parameters, first "
        "moments and products of inertia may be negative, a mass matrix may not",
        "record motion that reaches such poses; parameters with a sign of their own are never clipped to zero",
    ),
    "fit.infeasible_unconstrained": Rule(
        "noise and weakly shown directions took values that no body has, or a frame, gear, tool or term of the model "
        "is wrong: the message says which",
        "where noise explains it there is nothing to do; else look at the parameters it names",
    ),
    "fit.far_from_model": Rule("the model file, the tool or the mount is not what is on the robot"),
    "validation.repeats_training": Rule(
        "the validation motion was seen in training, so that a small error is no proof",
        "record another motion, with other poses and speeds, and run steelyard validate",
    ),
    "validation.extrapolates": Rule("the validation motion is faster, or elsewhere, than the training motion"),
    "validation.worse_than_model": Rule(
        "the training motion is poor where this motion is rich, or the two recordings differ in load, unit or sensor",
        "check both recordings (steelyard check), then train on a motion that covers this one",
    ),
}
