"""The outputs that challengers have to beat: those of the base run's record, else those of the store."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scoregate.core.champions import CHAMPIONS_VARIABLE, read_champions, ring
from scoregate.engine.log import EventLog
from scoregate.engine.trial import CURRENT, Trial
from scoregate.errors import InvalidSuite

if TYPE_CHECKING:
    from scoregate.store import Verdict, Winner

_thrones: WeakKeyDictionary[EventLog, dict[str, Throne]] = WeakKeyDictionary()
_lock = threading.Lock()


def fight() -> Trial:
    """The trial whose output is the challenger.

    Raises:
        InvalidSuite: no suite is running.
    """
    if (trial := CURRENT.get()) is None:
        raise InvalidSuite("a battle needs the suite that it is a part of", advice="Call run_test_suite.")
    return trial


def recorded(trial: Trial) -> Any:
    """The base run's output for this case, as its record has it; None where none is known."""
    file = os.environ.get(CHAMPIONS_VARIABLE)
    return None if not file else _told(file).get((ring(trial.log.suite, trial.params), trial.case.hash))


@lru_cache(maxsize=1)
def _told(file: str) -> dict[tuple[str, str], Any]:
    with Path(file).open("rb") as lines:
        return read_champions(lines)


class Throne:
    """What the store has for an evaluator's battles, as it was when the suite began: champions and verdicts.

    Its methods block, and raise `StoreError` where the store cannot be read.
    """

    def __init__(self, ring_name: str, evaluator: str) -> None:
        from scoregate import store

        self._store, self._evaluator = store.open_store(), evaluator
        self._kept = store.Throne(self._store, ring_name, evaluator)

    @property
    def champions(self) -> Mapping[str, str]:
        """Their texts, by the hashes of their cases."""
        return self._kept.champions

    @cached_property
    def _verdicts(self) -> Sequence[Verdict]:
        from scoregate.store import verdicts

        return verdicts(self._store, self._evaluator)

    def verdict(self, case: str, *, baseline: str, challenger: str) -> Winner | None:
        """What people said of a pair of outputs; None where nobody said anything."""
        from scoregate.store import verdict_on

        return verdict_on(self._verdicts, case, baseline=baseline, challenger=challenger)

    def crown(self, case: str, output: str) -> None:
        """Make an output the champion of later runs.

        Raises:
            StoreError: it could not be written.
        """
        self._kept.crown(case, output)


def throne_of(trial: Trial, evaluator: str) -> Throne:
    """The throne of an evaluator in the run of a suite."""
    with _lock:
        thrones = _thrones.setdefault(trial.log, {})
        if evaluator not in thrones:
            thrones[evaluator] = Throne(ring(trial.log.suite, trial.params), evaluator)
        return thrones[evaluator]


def crown(trial: Trial, evaluator: str, output: str) -> None:
    """Make an output the champion of its case, unless the base run's record decides who that is.

    Raises:
        StoreError: it could not be written.
    """
    if not os.environ.get(CHAMPIONS_VARIABLE) and trial.repeat == 0:
        throne_of(trial, evaluator).crown(trial.case.hash, output)


def revived(output: Any, like: object) -> Any:
    """An output of a record as the function under test gave it: an instance of the class that it gives now.

    Raises:
        InvalidSuite: it cannot be made one.
    """
    kind = type(like)
    if kind.__module__ == "builtins":
        return output
    from pydantic import TypeAdapter

    try:
        return TypeAdapter(kind).validate_python(output)
    except Exception as error:  # a class that pydantic has no schema for, or fields that have changed
        raise InvalidSuite(
            f"the champion, {output!r:.100}, cannot be made a {kind.__name__}: {str(error).splitlines()[0]:.200}",
            advice="Override champion_mapper(recorded, output) -> str, which gives the text of a recorded output.",
        ) from None
