"""Spectra of a recording with the cut-off that was chosen from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.comparison import Comparison
from steelyard.data.trajectory import Trajectory
from steelyard.report.arrays import label
from steelyard.report.panels import PALETTE, RESIDUAL, grid, line, once

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Array = NDArray[np.float64]
LONGEST = 8.0  # [s] of a stretch that is transformed: resolves 0.125 Hz
LINES = 400  # frequencies drawn, evenly spread over the logarithm


def amplitude_density(values: Array, step: float) -> tuple[Array, Array]:
    """Frequencies (F,) [Hz] and root of the power spectral density (F, n) [unit/sqrt(Hz)], Welch's average.

    Args:
        values: (T, n) on a uniform clock.
        step: of the clock [s].
    """
    from scipy.signal import welch

    frequency, power = welch(values, 1.0 / step, nperseg=max(2, min(len(values), int(LONGEST / step))), axis=0)
    wanted = np.geomspace(frequency[1], frequency[-1], LINES)
    rows = np.unique(np.clip(np.searchsorted(frequency, wanted), 1, len(frequency) - 1))
    return frequency[rows], np.sqrt(power[rows])


def spectra_figure(recorded: Trajectory, unseen: Comparison, cutoff: float, words: Mapping[str, str]) -> Figure:
    """Position and torque as recorded, and the unfiltered residual, with the cut-off as a line.

    Args:
        recorded: the training recording, q and tau on a uniform clock.
        unseen: the motion that was predicted.
        cutoff: of the training recording [Hz].
        words: of the language.
    """
    figure = grid(1, 3, [words["spectrum_position"], words["spectrum_torque"], words["spectrum_residual"]], height=340)
    residual = unseen.motion.channel("tau") - unseen.predicted
    parts = (
        (recorded, recorded.channel("q")),
        (recorded, recorded.channel("tau")),
        (unseen.motion, residual),
    )
    for column, (motion, values) in enumerate(parts):
        longest = max(motion.segments, key=lambda s: s.stop - s.start)
        frequency, density = amplitude_density(values[longest], motion.step)
        for j, joint in enumerate(recorded.joint_names):
            line(figure, frequency, density[:, j], (0, column), label(joint), PALETTE[j % len(PALETTE)])
        figure.add_vline(x=cutoff, line={"color": RESIDUAL, "width": 1.5, "dash": "dash"}, row=1, col=column + 1)
    figure.update_xaxes(type="log", dtick=1, title_text="Hz")
    figure.update_yaxes(type="log", dtick=1, exponentformat="power")
    return once(figure)
