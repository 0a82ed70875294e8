"""The clock of a recording: rate, jitter, lost and repeated samples, and stamps that were made up or lost digits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.data.contract import GAP_STEPS
from steelyard.data.trajectory import CHANNELS, Trajectory
from steelyard.finding import Finding

Array = NDArray[np.float64]
LATE = 1.5  # median steps from which a step is a late one
LOST = 0.005  # share of lost samples worth a warning: filters and spectra take the rest without harm
IRREGULAR = 0.05  # deviation of the steps, in median steps
COUNTED = 1e-6  # relative spread under which steps were counted, not measured: no clock of a recorder is that good
REPEATED = 0.01  # share of rows that repeat the one before
COARSE = 0.05  # resolution of the stamps in median steps
CHANCE = -14.0  # log of the probability, one in a million, that stamps with more digits fit single precision


@dataclass(frozen=True)
class SamplingStatistics:
    """What the stamps of a recording say.

    Attributes:
        samples: number of samples.
        duration: from the first to the last stamp [s].
        step_min, step_median, step_max: between consecutive stamps [s]; nan for a single sample.
        jitter: standard deviation of the steps that are not late [s].
        rate: one over the median step [Hz].
        rate_effective: samples per second of duration [Hz].
        late: steps longer than `LATE` median steps, gaps included.
        missing: samples that late steps within segments have room for.
        gaps: steps longer than `GAP_STEPS` median steps: the segments end there.
        longest: the longest step [s] and the stamp before it [s].
        repeated_share: share of rows that equal the row before in every channel while the robot moves.
        counted: every step is the same to `COUNTED`.
        resolution: of the last stamp where stamps carry single precision [s]; 0 where they carry more.
    """

    samples: int
    duration: float
    step_min: float
    step_median: float
    step_max: float
    jitter: float
    rate: float
    rate_effective: float
    late: int
    missing: int
    gaps: int
    longest: tuple[float, float]
    repeated_share: float
    counted: bool
    resolution: float

    @property
    def missing_share(self) -> float:
        """Missing samples over those that would be there without loss."""
        return self.missing / max(1, self.samples + self.missing)


def sampling_statistics(trajectory: Trajectory, moving: NDArray[np.bool_] | None = None) -> SamplingStatistics:
    """Statistics of the stamps.

    Args:
        trajectory: as recorded.
        moving: (T,) samples at which some joint moves; None for all. Rows repeat at standstill, and rightly so.
    """
    time = trajectory.time
    steps = np.diff(time)
    forward = steps > 0.0  # between segments of different runs the clock may go back
    if not forward.any():
        nan = float("nan")
        return SamplingStatistics(
            len(trajectory), 0.0, nan, nan, nan, 0.0, nan, nan, 0, 0, 0, (nan, nan), 0.0, False, 0.0
        )
    taken = steps[forward]
    median = float(np.median(taken))
    gaps = taken > GAP_STEPS * median
    late = taken > LATE * median
    regular = taken[~late]
    k = int(np.argmax(np.where(forward, steps, -np.inf)))
    duration = float(taken.sum())
    return SamplingStatistics(
        samples=len(trajectory),
        duration=duration,
        step_min=float(taken.min()),
        step_median=median,
        step_max=float(taken.max()),
        jitter=float(regular.std()),
        rate=1.0 / median,
        rate_effective=taken.size / duration,
        late=int(late.sum()),
        missing=int(np.sum(np.rint(taken[late & ~gaps] / median) - 1.0)),
        gaps=int(gaps.sum()),
        longest=(float(steps[k]), float(time[k])),
        repeated_share=_repeated(trajectory, moving),
        counted=steps.size > 2 and bool(np.ptp(regular) <= COUNTED * median),
        resolution=_single_precision(time),
    )


def sampling_findings(statistics: SamplingStatistics, *, where: str = "") -> list[Finding]:
    """What a person should know about the clock; `where` names the recording."""
    s, findings = statistics, []
    if s.samples < 2:
        return []
    step = _milliseconds(s.step_median)
    if s.gaps:
        findings.append(
            Finding(
                "data.gap",
                "warning",
                f"{s.gaps} step(s) are longer than {GAP_STEPS:g} median steps of {step}; "
                f"the longest, {s.longest[0]:.4g} s, begins at {s.longest[1]:.4f} s",
                where,
                s.longest[0],
                "nothing is filled in: each stretch is filtered on its own; find out why the recorder stops",
            )
        )
    if s.missing:
        findings.append(
            Finding(
                "data.gap",
                "warning" if s.missing_share > LOST else "info",
                f"about {100 * s.missing_share:.2g} % of the samples are missing: {s.late - s.gaps} step(s) are longer "
                f"than {LATE:g} median steps of {step}, the longest {_milliseconds(s.step_max)}",
                where,
                s.missing_share,
                "record with a buffer, or at a rate that the recorder keeps up with",
            )
        )
    if s.jitter > IRREGULAR * s.step_median:
        findings.append(
            Finding(
                "data.irregular_stamps",
                "warning",
                f"the samples come irregularly: steps of {_milliseconds(s.step_min)} to {_milliseconds(s.step_max)}, "
                f"median {step}, deviation {100 * s.jitter / s.step_median:.0f} % of it without the late ones",
                where,
                s.jitter,
                "nothing to do for fitting (samples are put on a uniform grid); stamp in the driver, not on arrival",
            )
        )
    return [*findings, *_stamp_findings(s, where)]


def _stamp_findings(s: SamplingStatistics, where: str) -> list[Finding]:
    findings = []
    if s.counted:
        findings.append(
            Finding(
                "data.synthetic_stamps",
                "info",
                f"every step is exactly {_milliseconds(s.step_median)}: the stamps were counted, not measured, "
                "so that a slow loop or a lost sample would not show",
                where,
                s.step_median,
                "record the stamp of each sample; until then trust the rate only if the controller guarantees it",
            )
        )
    if s.resolution > 0.0:
        share = s.resolution / s.step_median
        findings.append(
            Finding(
                "data.float32_stamps",
                "warning" if share > COARSE else "info",
                f"the stamps were kept in single precision: at the end they resolve {_milliseconds(s.resolution)}, "
                f"{100 * share:.1f} % of a step",
                where,
                s.resolution,
                "export stamps in double precision, or subtract the start before they are stored",
            )
        )
    if s.repeated_share > REPEATED:
        findings.append(
            Finding(
                "data.repeated_samples",
                "warning",
                f"{100 * s.repeated_share:.1f} % of the samples repeat the one before in every channel while the robot "
                "moves: the recorder asks more often than the driver answers",
                where,
                s.repeated_share,
                "record on the driver's update and with its stamp; an old sample under a new stamp blurs the timing",
            )
        )
    return findings


def _repeated(trajectory: Trajectory, moving: NDArray[np.bool_] | None) -> float:
    """Share of rows equal to the one before; one channel alone may rightly repeat, being quantised."""
    present = [trajectory.channel(c) for c in CHANNELS if getattr(trajectory, c) is not None]
    if len(present) < 2 or len(trajectory) < 3:
        return 0.0
    same = np.logical_and.reduce([np.all(np.diff(values, axis=0) == 0.0, axis=1) for values in present])
    counted = np.ones(same.size, dtype=bool) if moving is None else moving[1:] & moving[:-1]
    return float(np.mean(same[counted])) if counted.any() else 0.0


def _single_precision(time: Array) -> float:
    """Resolution of the last stamp if all stamps fit single precision although their digits pretend more, else 0."""
    single = time.astype(np.float32)
    steps = np.diff(time)
    if time.size < 20 or np.ptp(steps) <= COUNTED * np.median(steps):
        return 0.0
    exact = single.astype(np.float64) == time
    picked = np.linspace(0, time.size - 1, min(time.size, 500)).astype(int)
    printed = [float(str(value)) for value in single[picked]]
    if not (exact.all() or np.array_equal(printed, time[picked])):
        return 0.0
    # of stamps printed with steps finer than single precision resolves, only the ratio of both survives by chance
    finest = 10.0 ** -np.array([_decimals(value) for value in time[picked]])
    chance = np.minimum(1.0, finest / np.spacing(np.abs(single[picked]).astype(np.float32)))
    return float(np.spacing(np.abs(single).max())) if np.sum(np.log(chance)) < CHANCE else 0.0


def _decimals(value: float) -> int:
    mantissa, _, exponent = repr(float(value)).partition("e")
    return len(mantissa.partition(".")[2]) - int(exponent or 0)


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.4g} ms"
