"""What to run next: of several motions the one that adds most, for its time, to what recordings have told already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.excite.forecast import deviations_of, forecast
from steelyard.excite.stage import Run
from steelyard.model import Model

Array = NDArray[np.float64]
FAINT = 1e-8  # of what all motions together tell: how much is taken as known of what nothing has told yet
HELPED = 0.7  # a deviation that falls under this share of what it was is one that the motion serves


@dataclass(frozen=True)
class Proposal:
    """A motion that could be run next.

    Attributes:
        name: under which it was given.
        run: motion and windows.
        gain: growth of log det of the information; twice the sum of the logarithms by which deviations shrink, in the
            directions of the information's own axes.
        rate_of_gain: gain for each second of the motion [1/s].
        names: b base parameters.
        before, after: (b,) their deviations; infinite where nothing is said.
    """

    name: str
    run: Run
    gain: float
    rate_of_gain: float
    names: tuple[str, ...]
    before: Array
    after: Array

    @property
    def serves(self) -> tuple[str, ...]:
        """The parameters whose deviation falls to less than HELPED of what it was, the most served first."""
        unknown = ~np.isfinite(self.before)
        share = np.where(unknown, np.where(np.isfinite(self.after), 0.0, 1.0), 1.0)
        np.divide(self.after, self.before, out=share, where=~unknown)
        return tuple(self.names[k] for k in np.argsort(share, kind="stable") if share[k] < HELPED)


def rank_motions(
    model: Model,
    proposals: Mapping[str, Run],
    *,
    known: Array,
    deviations: Sequence[float],
    rate: float,
) -> tuple[Proposal, ...]:
    """The motions in the order of what they add to what is known, for each second they take.

    Give it the same motion again, a motion designed with `known` as its prior, plateaus and poses: what is weak is
    served best by what tells just that.

    Args:
        model: robot and terms.
        proposals: runs by name.
        known: (b, b) information on the base parameters so far, see `forecast.collected`; zeros for none.
        deviations: torque noise of each joint [N m or N].
        rate: of the recordings [Hz].

    Raises:
        StudyError: nothing proposed, motions for other joints, sizes that do not fit.
    """
    if not proposals:
        raise StudyError("no motion was proposed")
    told = {
        name: forecast(model, [run.sampled(rate)], rate=rate, deviations=deviations) for name, run in proposals.items()
    }
    first = next(iter(told.values()))
    known = np.asarray(known, dtype=np.float64)
    if known.shape != first.information.shape:
        raise StudyError("what is known must be one row and column a base parameter", value=known.shape)
    everything = np.diag(known) + np.sum([np.diag(t.information) for t in told.values()], axis=0)
    floor = np.diag(np.where(everything > 0.0, FAINT * everything, 1.0))
    start = np.linalg.slogdet(known + floor)[1]
    found = []
    for name, run in proposals.items():
        total = known + told[name].information
        gain = float(np.linalg.slogdet(total + floor)[1] - start)
        after = deviations_of(total)
        found.append(
            Proposal(name, run, gain, gain / run.motion.duration, first.basis.names, deviations_of(known), after)
        )
    return tuple(sorted(found, key=lambda proposal: -proposal.rate_of_gain))
