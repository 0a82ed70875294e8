"""Disks that fail: calls that write are counted, and the k-th fails, or all from the k-th on, or the process is killed."""

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
        self.steps, self.failing, self.how, self.failed = 0, failing, how, False

    def step(self) -> None:
        self.steps += 1
        if self.failing(self.steps):
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
            self._disk.step()
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

    def counted(call):
        def wrapped(*args, **options):
            disk.step()
            return call(*args, **options)

        return wrapped

    def opened(*args, **options):
        disk.step()
        file = plain_open(*args, **options)
        return _File(file, disk) if file.writable() else file

    with pytest.MonkeyPatch.context() as patch:
        for name in _NAMES:
            patch.setattr(os, name, counted(getattr(os, name) if name != "fsync" else lambda descriptor: None))
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
