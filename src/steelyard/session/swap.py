"""A directory built beside its place and put there at once: whoever looks sees the old one or the new one, whole.

Where the system can exchange two names (Linux) there is no moment without the directory.  Elsewhere the old one is
renamed away and the new one in; what a crash between the two leaves is put right before the next directory is built.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import secrets
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from steelyard.errors import SessionError
from steelyard.session.disk import flush_folder, hold, locked
from steelyard.session.layout import LEDGER, SESSION

_BUILDING, _ASIDE = "building", "replaced"
_HERE = -100  # AT_FDCWD: paths relative to the working directory
_EXCHANGE = 2  # RENAME_EXCHANGE
_UNABLE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTTY)


def install(target: Path, fill: Callable[[Path], None], allowed: Callable[[Path], None]) -> None:
    """Let `fill` make the content of a new directory, then put it at `target`.

    Args:
        target: the place; what stands there is removed once the new directory is there.
        fill: writes files and folders in the directory it is given, flushes and checks them.
        allowed: raises when what stands at `target` may not be replaced; asked last thing, nobody else building.

    Raises:
        OSError, and whatever `fill` and `allowed` raise; `target` is then as it was.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as afterwards:
        with locked(target.parent):
            _sweep(target)
            allowed(target)
            building = _beside(target, _BUILDING)
            building.mkdir()
            # in the end it is half-built, or holds what was replaced
            afterwards.callback(shutil.rmtree, building, ignore_errors=True)
            afterwards.callback(os.close, hold(building))
        fill(building)
        flush_folder(building)
        with locked(target.parent):
            allowed(target)
            _put(building, target)


def _beside(target: Path, state: str) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}.{state}")


def _put(building: Path, target: Path) -> None:
    """Move into place; afterwards `building` is gone or holds what stood there."""
    if not os.path.lexists(target) or not any(target.iterdir()):
        os.rename(building, target)  # takes the place of an empty directory too
    elif not exchange(building, target):
        aside = _beside(target, _ASIDE)
        os.rename(target, aside)
        try:
            os.rename(building, target)
        except BaseException:
            os.rename(aside, target)
            raise
        os.rename(aside, building)
    flush_folder(target.parent)


def exchange(one: Path, other: Path) -> bool:
    """Let two names change places in one step; False where system or file system cannot."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNABLE:
        return False
    raise OSError(code, os.strerror(code), str(other))


def _sweep(target: Path) -> None:
    """Clear away what crashed runs have left beside `target`; what a living run builds is locked and stays."""
    ours = re.compile(rf"[.]{re.escape(target.name)}[.][0-9a-f]{{8}}[.]({_BUILDING}|{_ASIDE})")
    for entry in sorted(os.scandir(target.parent), key=lambda e: e.name):
        found = ours.fullmatch(entry.name)
        if found is None or not entry.is_dir(follow_symlinks=False):
            continue
        path = Path(entry.path)
        if found[1] == _ASIDE and not os.path.lexists(target):
            os.rename(path, target)
            continue
        try:
            lock = hold(path, wait=False)
        except OSError:
            continue
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def interrupted(target: Path) -> Path | None:
    """Where the old directory stands when a crash fell between the two renames; None when it did not."""
    try:
        names = sorted(os.listdir(target.parent))
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return None
    start, end = f".{target.name}.", f".{_ASIDE}"
    aside = [name for name in names if name.startswith(start) and name.endswith(end)]
    return target.with_name(aside[0]) if aside and not os.path.lexists(target) else None


def checked_target(directory: str | os.PathLike[str]) -> Path:
    """The place of a directory to be made, absolute.

    Raises:
        SessionError: no name, a symbolic link, something else than a directory, inside a session, or where the program
            runs.
    """
    where = os.fspath(directory)
    if not where or "\0" in where:
        raise SessionError("this is not the name of a directory", where=where, cure="name a directory")
    path = Path(where)
    if path.is_symlink():
        raise SessionError("this is a symbolic link", where=where, cure="name the directory itself")
    target = path.resolve() if path.name in {"", ".."} else path.parent.resolve() / path.name
    if target.exists() and not target.is_dir():
        raise SessionError("this is a file, not a directory", where=where, cure="name a new directory")
    for above in target.parents:
        if all((above / name).is_file() for name in (SESSION, LEDGER)):
            raise SessionError(
                "the directory would lie inside a session, which holds only what its ledger knows",
                where=where, value=str(above), cure="name a directory beside the session",
            )  # fmt: skip
    if Path.cwd().is_relative_to(target):
        raise SessionError(
            "the directory you work in cannot be replaced", where=where, cure="name a new directory inside it"
        )
    return target
