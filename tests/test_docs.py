"""The pages say what is there: links lead somewhere, commands exist, and the coverage table is whole."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
STATUS = {"open", "part", "done"}
IDS = [
    f"{letter}{number:02}"
    for letter, count in (("A", 99), ("B", 52), ("G", 76), ("N", 18), ("F", 15))
    for number in range(1, count + 1)
]


def coverage() -> list[list[str]]:
    """The rows of the coverage table: id, section, what, shown by, status."""
    lines = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8").splitlines()
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in lines
        if re.match(r"\| [A-Z]\d\d \|", line)
    ]


def anchors(page: Path) -> set[str]:
    """The anchors that the headings of a page have on common hosts."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


def test_every_id_is_covered_once():
    assert Counter(row[0] for row in coverage()) == Counter(IDS)


def test_every_row_has_a_status_and_what_is_done_is_shown():
    rows = coverage()
    assert [row for row in rows if len(row) != 5 or row[4] not in STATUS] == []
    assert [row[0] for row in rows if row[4] == "done" and "`" not in row[3]] == []


def test_what_shows_a_row_exists():
    """Paths in "shown by" are there, and a test named with `::` is defined in its file."""
    missing = []
    for row in coverage():
        for name in re.findall(r"`((?:tests|examples|benchmarks|docs|src)/[^`]+)`", row[3]):
            file, _, test = name.split("[")[0].partition("::")
            path = ROOT / file
            if not path.exists() or (test and f"def {test}(" not in path.read_text(encoding="utf-8")):
                missing.append(f"{row[0]}: {name}")
    assert missing == []


def shell_lines(page: Path) -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [line.split("#")[0].strip() for block in blocks for line in block.splitlines()]


def test_make_targets_on_the_pages_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    named = {line.split()[1] for page in PAGES for line in shell_lines(page) if line.startswith("make ")}
    assert named >= {"demo", "test"}
    assert named <= targets


README_COMMANDS = sorted({line.split()[1] for line in shell_lines(ROOT / "README.md") if line.startswith("steelyard ")})


@pytest.mark.parametrize("command", README_COMMANDS)
def test_commands_in_the_readme_exist(command):
    code = "import sys; from steelyard.cli.main import main; sys.exit(main())"
    run = subprocess.run([sys.executable, "-c", code, command, "--help"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert command in run.stdout
