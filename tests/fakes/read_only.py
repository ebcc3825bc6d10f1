"""A file system without write access, also for root: the system refuses every lock."""

from __future__ import annotations

import errno
import fcntl
import os
from typing import NoReturn

import pytest


def refuse_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every lock fail as on a read-only file system."""

    def refuse(*_: object) -> NoReturn:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(fcntl, "flock", refuse)
