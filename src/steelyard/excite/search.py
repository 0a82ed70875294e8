"""The global part of a design: several starts, then changes of one joint at a time to the best motion found so far.

Criteria of excitation are not convex: they have many local optima, most of them within a few parts in a hundred of each
other. Restarting everywhere wastes what the other joints have found; so one joint is shifted in time, turned round,
shaken or drawn anew and all are optimised again. The search goes on from a motion that is little worse than the best,
too (record-to-record travel, Dueck 1993), so that it does not stay where a better one is two changes away.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.excite.envelope import Envelope
from steelyard.excite.fourier import FourierFamily

Array = NDArray[np.float64]
INSIDE = 0.9  # of the limits, for every start
HALVINGS = 6
WANDER = 0.04  # how much worse than the best a motion may be and still be changed next; criteria are logarithms
SEARCHING = 0.92  # share of the budget after which no new search begins


class Progress(NamedTuple):
    """What a search tells while it runs: seconds used, searches done of all planned, best value so far."""

    seconds: float
    done: int
    planned: int
    value: float


@dataclass(frozen=True)
class Outcome:
    """The best motion found.

    Attributes:
        x: (n, m) variables.
        value: of the exact criterion, smaller is better.
        searches: local searches done.
        seconds: CPU time used.
        stopped: "done", "budget" or "interrupted".
    """

    x: Array
    value: float
    searches: int
    seconds: float
    stopped: str


class Clock:
    """CPU time of this thread since it was made, against a budget [s]."""

    def __init__(self, budget: float) -> None:
        self._start, self._budget = time.thread_time(), budget

    @property
    def seconds(self) -> float:
        """Used so far."""
        return time.thread_time() - self._start

    def expired(self) -> bool:
        """Whether the budget is used up."""
        return self.seconds >= self._budget

    def late(self) -> bool:
        """Whether only the time for the last polish is left."""
        return self.seconds >= SEARCHING * self._budget


Watch = Callable[[Array], bool]
Local = Callable[[Array, int, Watch], Array]
START, CHANGE, POLISH = 0, 1, 2


class Found(NamedTuple):
    """Variables and their exact value; one object, so that an interrupt finds both or neither."""

    x: Array
    value: float


def search(
    family: FourierFamily,
    envelope: Envelope,
    *,
    local: Local,
    score: Callable[[Array], float],
    usable: Callable[[Array], bool],
    starts: int,
    changes: int,
    seed: int,
    clock: Clock,
    progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Search until all is done, the budget is used up or the user interrupts; the best so far is always kept.

    The same seed gives the same motion wherever the budget is not what ends the search. An interrupt counts the local
    search it ends, too: its first or latest iterate is kept where it is the best.

    Args:
        family, envelope: of the motions.
        local: local optimiser, called with variables, whether this is a START, a CHANGE or the last POLISH, and what
            to tell every usable iterate; that says whether to stop.
        score: the exact criterion, infinite for what cannot be used.
        usable: whether a motion inside the envelope keeps all else, too.
        starts: independent starts.
        changes: changes of one joint.
        seed: of all random draws.
        clock: budget.
        progress: told after every local search.
    """
    rng = np.random.default_rng(seed)
    best = present = Found(random_start(family, envelope, rng), np.inf)
    told: tuple[Array, ...] = (best.x,)
    done, stopped = 0, "done"

    def watch(x: Array) -> bool:
        nonlocal told
        told = (*told[:1], x)
        return clock.expired()

    planned = starts + changes + 1
    try:
        for k in range(planned):
            polish = k == planned - 1 or clock.late()
            if polish:
                x, kind = best.x, POLISH
            elif k < starts:
                x, kind = random_start(family, envelope, rng), START
            else:
                x, kind = _toward(_changed(family, envelope, present.x, rng), present.x, usable), CHANGE
            told = ()
            reached = local(x, kind, watch)
            found = Found(reached, score(reached))
            if found.value < best.value:
                best = found
            if found.value < present.value or (k >= starts and found.value < best.value + WANDER):
                present = found
            done += 1
            if progress is not None:
                progress(Progress(clock.seconds, done, planned, best.value))
            if polish:
                stopped = "done" if done == planned else "budget"
                break
    except KeyboardInterrupt:
        stopped = "interrupted"
        best = min([best, *(Found(x, score(x)) for x in told)], key=lambda found: found.value)
    return Outcome(best.x, best.value, done, clock.seconds, stopped)


def random_start(family: FourierFamily, envelope: Envelope, rng: np.random.Generator) -> Array:
    """(n, m) normal variables, each joint scaled to INSIDE of the first limit it meets."""
    x = rng.standard_normal((family.joints, family.variables))
    return x * (INSIDE / envelope.gauge(x))[:, None]


def _toward(x: Array, usable_one: Array, usable: Callable[[Array], bool]) -> Array:
    """As much of the way from a usable motion to x as is usable: the other joints keep what they have."""
    for _ in range(HALVINGS):
        if usable(x):
            break
        x = 0.5 * (x + usable_one)
    return x


def _changed(family: FourierFamily, envelope: Envelope, x: Array, rng: np.random.Generator) -> Array:
    """One joint of x changed, inside the limits."""
    x = x.copy()
    j = int(rng.integers(family.joints))
    other = random_start(family, envelope, rng)[j]
    kind, shift = int(rng.integers(4)), float(rng.random())
    if kind == 0:
        x[j] = family.shifted(x, shift)[j]
    elif kind == 1:
        x[j, 1:] *= -1.0
    elif kind == 2:
        x[j] += 0.5 * other
    else:
        x[j] = other
    return x * np.minimum(1.0, INSIDE / envelope.gauge(x))[:, None]
