"""What every test relies on: one thread, the same random draws each time, and where the robots and recordings are."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

import pytest
from hypothesis import settings

# Before any test imports numpy: the number of threads is read once, when a linear algebra library is loaded.
for _threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_threads] = "1"

# The same examples in every run, and no deadline: a slow machine is not a wrong result.
settings.register_profile("steelyard", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("steelyard")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of this repository."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder with recordings of real robots, named by STEELYARD_REAL_DATA; the test is skipped without it."""
    folder = os.environ.get("STEELYARD_REAL_DATA", "")
    if not folder:
        pytest.skip("STEELYARD_REAL_DATA is not set: no recordings of real robots here")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"STEELYARD_REAL_DATA names a folder that does not exist: {folder}")
    return path


@pytest.fixture(scope="session")
def example_robots() -> Path:
    """The folder `robots` of the package example-robot-data: URDF files by path, since its loader confuses names."""
    site = Path(sysconfig.get_paths()["purelib"])
    folder = site / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
    if not folder.is_dir():
        pytest.fail("the package example-robot-data is missing: pip install -e '.[dev]'")
    return folder
