"""Draw docs/demo.svg: measured and predicted torque of the demonstration on its unseen motion.

python benchmarks/picture.py [docs/demo.svg]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from steelyard.session.demo import run_demo

WIDTH, HEIGHT, LEFT, GAP = 900, 150, 70, 34
JOINTS = (1, 3, 5)
MEASURED, PREDICTED = "#9aa5b1", "#c0392b"


def line(x: np.ndarray, y: np.ndarray, colour: str, width: float) -> str:
    """One polyline."""
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def main() -> None:
    """Run the demonstration and write the picture."""
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/demo.svg")
    shown = run_demo(None, seed=0, force=False)
    validation, recording = shown.run.validations[0], shown.run.unseen[0].trajectory
    names = validation.score.joint_names
    grid = np.arange(0.3, recording.time[-1] - 0.3, 0.02)
    x = LEFT + (grid - grid[0]) / (grid[-1] - grid[0]) * (WIDTH - LEFT - 15)
    parts = []
    for row, joint in enumerate(JOINTS):
        top = 40 + row * (HEIGHT + GAP)
        measured = np.interp(grid, recording.time, recording.channel("tau")[:, joint])
        predicted = np.interp(grid, validation.prediction.time, validation.prediction.torque[:, joint])
        low, high = measured.min(), measured.max()
        y = [top + (high - v) / (high - low) * HEIGHT for v in (measured, predicted)]
        parts += [line(x, y[0], MEASURED, 2.4), line(x, y[1], PREDICTED, 1.2)]
        for value, at in ((high, top), (low, top + HEIGHT)):
            parts.append(f'<text x="{LEFT - 8}" y="{at + 4:.0f}" text-anchor="end">{value:.3g}</text>')
        share = 100 * validation.score.relative_error_per_joint[joint]
        parts.append(f'<text x="{LEFT}" y="{top - 8}">{names[joint]} [N m], {share:.1f} % missed</text>')
    total = 100 * validation.score.relative_error
    bottom = 40 + len(JOINTS) * (HEIGHT + GAP)
    parts.append(
        f'<text x="{LEFT}" y="18" font-weight="bold">Torque on a motion never used for fitting: measured (grey), '
        f"predicted (red), {total:.1f} % of it missed</text>"
    )
    body = "\n".join(parts)
    target.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom}" font-family="sans-serif" '
        f'font-size="13"><rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n',
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
