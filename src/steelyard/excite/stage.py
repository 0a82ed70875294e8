"""One experiment of a plan: a motion, its certificate, which parameters it frees and how well it will tell them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.excite.certificate import Certificate
from steelyard.excite.motion import Motion, sampled
from steelyard.excite.pace import Certify
from steelyard.excite.windows import Window, marked

Array = NDArray[np.float64]


class Run(NamedTuple):
    """A motion and the times at which its samples count, all where there are no windows."""

    motion: Motion
    windows: tuple[Window, ...] = ()

    def slowed(self, speed: float) -> Run:
        """The same path at a fraction of the speed, with its windows."""
        return Run(self.motion.slowed(speed), tuple(window.slowed(speed) for window in self.windows))

    def sampled(self, rate: float) -> Trajectory:
        """What is recorded at `rate` [Hz], with the rows that count valid."""
        return marked(sampled(self.motion, rate), self.windows)


@dataclass(frozen=True)
class Stage:
    """One experiment.

    Attributes:
        letter: A to F.
        title: short name.
        purpose: what it is for and how it is used, in a sentence or two.
        run: motion and windows.
        certificate: of the motion at full speed.
        updates: parameters that may be estimated from it, all others held at what they were.
        deviations_held: (len(updates),) of these, the others taken as known.
        names: all parameters of the plan, or of the payload for the tool.
        deviations: (len(names),) of all of them together, from this stage and those before; infinite where nothing is
            said yet.
    """

    letter: str
    title: str
    purpose: str
    run: Run
    certificate: Certificate
    updates: tuple[str, ...]
    deviations_held: Array
    names: tuple[str, ...]
    deviations: Array


def first_certified(runs: Iterable[Run], certify: Certify) -> tuple[Run, Certificate]:
    """The first run whose motion is certified; where none is, the last one with its failed certificate.

    Raises:
        StudyError: no run at all.
    """
    found: tuple[Run, Certificate] | None = None
    for run in runs:
        found = run, certify(run.motion)
        if found[1].passed:
            break
    if found is None:
        raise StudyError("no motion to certify")
    return found


def plain(values: Array) -> list[float | None]:
    """Numbers for files, None for infinite ones."""
    return [float(value) if np.isfinite(value) else None for value in values]
