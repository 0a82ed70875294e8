"""What the repository may not say: where one machine keeps things, or which host packages come from."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

# Patterns are written so that they do not match themselves.
HOSTS = re.compile(
    r"pypi[.]org|pythonhosted[.]org|pypi[.]python|conda[.]anaconda|anaconda[.]org|registry[.]npmjs|npmjs[.]com"
    r"|deb[.]debian|archive[.]ubuntu|crates[.]io|proxy[.]golang|https?:/{2}[^\s/]*(?:pypi|registry|artifactory)"
)
PATHS = re.compile(r"(?<![\w.~-])/(?:work|opt|root|home|Users)/(?!\W)")
RECORDINGS = re.compile(r"[.][.]/shared")
NAMED_HERE = {"Makefile", ".ci/run"}


@pytest.fixture(scope="module")
def texts(repository) -> dict[str, str]:
    """Every text file that is or would be committed, by its path from the root."""
    if shutil.which("git") is None or not (repository / ".git").exists():
        pytest.skip("not a git checkout: which files belong to the repository is not known")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True).stdout
    found = {}
    for name in filter(None, listed.split("\0")):
        path = Path(repository, name)
        if path.is_file():
            data = path.read_bytes()
            if b"\0" not in data:
                found[name] = data.decode("utf-8", errors="replace")
    return found


def places(texts: dict[str, str], pattern: re.Pattern[str]) -> list[str]:
    """file:line: what was found, for every match."""
    return [
        f"{name}:{number}: {match.group()}"
        for name, text in texts.items()
        for number, line in enumerate(text.splitlines(), start=1)
        for match in pattern.finditer(line)
    ]


def test_no_package_registry_is_named(texts):
    assert places(texts, HOSTS) == []


def test_no_path_of_one_machine_is_named(texts):
    assert places(texts, PATHS) == []


def test_the_default_place_of_recordings_is_named_in_two_files_only(texts):
    assert {line.split(":")[0] for line in places(texts, RECORDINGS)} <= NAMED_HERE


def test_the_lock_is_plain_names_and_versions(texts):
    lines = [line for line in texts["constraints.txt"].splitlines() if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.!]*", line)] == []
    assert {"numpy", "scipy", "numba", "pin", "mujoco", "pytest"} <= {line.split("==")[0] for line in lines}


@pytest.mark.parametrize(
    ("pattern", "text", "count"),
    [
        (HOSTS, "pip install -i https:" + "//pypi" + ".org/simple x", 1),
        (HOSTS, "https:" + "//mirror.example/simple and https:" + "//github.com/x/y", 0),
        (PATHS, "cd /wo" + "rk/main && ls /op" + "t/x/bin", 2),
        (PATHS, "the frame/work/flow of src/opt/x and ~/home/y", 0),
        (RECORDINGS, "see .." + "/shared/data", 1),
    ],
)
def test_what_is_found(pattern, text, count):
    assert len(places({"a.md": text}, pattern)) == count
