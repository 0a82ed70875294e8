"""Disks that fail: every call that could is counted, and the k-th does, or all from there on, or the process dies."""

from __future__ import annotations

import builtins
import errno
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

_NAMES = ("open", "fsync", "replace", "rename", "mkdir", "fchmod", "unlink")


class Disk:
    """Counts steps; `failing` says of each whether it fails, `how` what happens then."""

    def __init__(self, failing: Callable[[int], bool], how: Callable[[], None]) -> None:
        self.calls: list[str] = []
        self.failing, self.how, self.failed = failing, how, False

    def step(self, call: str) -> None:
        self.calls.append(call)
        if self.failing(len(self.calls)):
            self.failed = True
            self.how()


class _File:
    """An open file whose writes are steps."""

    def __init__(self, file, disk: Disk) -> None:
        self._file, self._disk = file, disk

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def write(self, data):
        if len(data) > 1:  # half of it arrives before the disk is full
            self._file.write(data[: len(data) // 2])
            self._file.flush()
            self._disk.step("write")
            return self._file.write(data[len(data) // 2 :])
        return self._file.write(data)


def full() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def failing_disk(failing: Callable[[int], bool], how: Callable[[], None] = full) -> Iterator[Disk]:
    """The disk fails where `failing(step)` says so. Nothing waits for the real disk: what is tested is the order."""
    disk = Disk(failing, how)
    plain_open = builtins.open

    def counted(name):
        call = getattr(os, name) if name != "fsync" else lambda descriptor: None

        def wrapped(*args, **options):
            disk.step(name)
            return call(*args, **options)

        return wrapped

    def opened(*args, **options):
        disk.step("open")
        file = plain_open(*args, **options)
        return _File(file, disk) if file.writable() else file

    with pytest.MonkeyPatch.context() as patch:
        for name in _NAMES:
            patch.setattr(os, name, counted(name))
        patch.setattr(builtins, "open", opened)
        yield disk


def in_killed_child(work: Callable[[], None], at: int) -> bool:
    """Run `work` in a child that is killed at step `at`; False when it had fewer steps and ended by itself."""
    child = os.fork()
    if child == 0:
        try:
            with failing_disk(lambda step: step == at, killed):
                work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)
