"""Recordings without a robot: our own arms, a MuJoCo simulation that measures like one, and the faults users bring."""
