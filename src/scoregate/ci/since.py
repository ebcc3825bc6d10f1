"""What people have said since a run was made, where CI reads one that was made before."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from scoregate.core.calibration import Calibrations
from scoregate.core.record import Run
from scoregate.store import open_store, read_calibrations
from scoregate.store.counting import counted


def counted_since(root: Path) -> Callable[[Run], Run]:
    """What makes of a run what it is by now, by the words in a project's store.

    It blocks where battles wait, and raises `StoreError` where the store cannot be read.
    """
    return partial(counted, store=partial(open_store, root))


def calibrations_of(root: Path) -> Calibrations:
    """How well each judge agrees with people, by the words in a project's store.

    Raises:
        StoreError: the store cannot be read.
    """
    return read_calibrations(open_store(root))
