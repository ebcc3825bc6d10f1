"""The outputs to beat in battles: those of the base run, else those of the store."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scoregate.engine.event_log import EventLog
from scoregate.engine.trial import Trial
from scoregate.errors import InvalidSuite
from scoregate.kernel.types.runs.baseline_outputs import BASELINE_OUTPUTS_VARIABLE, battle_key

if TYPE_CHECKING:
    from scoregate.store import Verdict, Winner


_states: WeakKeyDictionary[EventLog, dict[str, BattleState]] = WeakKeyDictionary()
_lock = threading.Lock()


class BattleState:
    """The outputs to beat and the verdicts of an evaluator in the store, as they were when the suite started.

    The methods block, and raise `StoreError` if the store cannot be read.
    """

    def __init__(self, key: str, evaluator: str) -> None:
        from scoregate import store

        self._store, self._evaluator = store.open_store(), evaluator
        self._outputs = store.BaselineOutputs(self._store, key, evaluator)

    @property
    def outputs(self) -> Mapping[str, str]:
        """The texts to beat, by the hashes of their cases."""
        return self._outputs.outputs

    @cached_property
    def _verdicts(self) -> Sequence[Verdict]:
        from scoregate.store import read_verdicts

        return read_verdicts(self._store, self._evaluator)

    def verdict(self, case: str, *, baseline: str, challenger: str) -> Winner | None:
        """The winner of a pair of outputs according to people; None without a verdict."""
        from scoregate.store import majority_winner

        return majority_winner(self._verdicts, case, baseline=baseline, challenger=challenger)

    def save_baseline_output(self, case: str, output: str) -> None:
        """Store an output as the one to beat in later runs.

        Raises:
            StoreError: it could not be written.
        """
        self._outputs.save(case, output)


def get_battle_state(trial: Trial, evaluator: str) -> BattleState:
    """The state of an evaluator's battles in this run of a suite."""
    with _lock:
        states = _states.setdefault(trial.log, {})
        if evaluator not in states:
            states[evaluator] = BattleState(battle_key(trial.log.suite, trial.params), evaluator)
        return states[evaluator]


def save_baseline_output(trial: Trial, evaluator: str, output: str) -> None:
    """Store an output as the one to beat, unless there is a base run.

    Raises:
        StoreError: it could not be written.
    """
    if not os.environ.get(BASELINE_OUTPUTS_VARIABLE) and trial.repeat == 0:
        get_battle_state(trial, evaluator).save_baseline_output(trial.case.hash, output)


def restore_output(output: Any, like: object) -> Any:
    """A recorded output as an instance of the class of a new output.

    Args:
        output: the recorded output as JSON.
        like: the new output.

    Raises:
        InvalidSuite: the output does not fit the class.
    """
    kind = type(like)
    if kind.__module__ == "builtins":
        return output
    from pydantic import TypeAdapter

    try:
        return TypeAdapter(kind).validate_python(output)
    except Exception as error:  # a class that pydantic has no schema for, or fields that have changed
        raise InvalidSuite(
            f"the output to beat, {output!r:.100}, cannot be made a {kind.__name__}: {str(error).splitlines()[0]:.200}",
            advice="Override champion_mapper(recorded, output) -> str, which gives the text of a recorded output.",
        ) from None
