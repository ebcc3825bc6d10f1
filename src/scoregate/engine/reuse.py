"""Reuse results of an earlier run: valid results are written to the log, and their trials do not run again.

The host offers the results as a file of JSON lines. The first line names the run and its suites; each other line is a
trial in the form of run records.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from scoregate.engine.own_events import parse_evaluator
from scoregate.engine.trial import Trial, emit_case_started
from scoregate.kernel.types.event_values import EvaluatorInfo
from scoregate.kernel.types.json_io import dump_plain, sort_sets
from scoregate.kernel.types.runs.reuse import suite_reuse_problem
from scoregate.kernel.types.suite import Suite

_OUTPUT_FIELDS = ("output", "duration_ms", "attempts", "usage", "truncated", "trace", "review_outputs")


class Replay:
    """Writes valid results of an earlier run into the event logs of a suite.

    Args:
        suite: the suite that runs.
        path: the file with the results that the host offers.
    """

    def __init__(self, suite: Suite, path: str) -> None:
        self._suite = suite
        self._offer = _read_offer(path)
        self._reusable: dict[bytes, Mapping[tuple[str, int], bytes]] = {}

    def __call__(self, trial: Trial) -> bool:
        """Write the result of a trial to its log, and return True, if the offer has a valid one."""
        key = _suite_key(self._suite.id, trial.params)
        if key not in self._reusable:
            stored = self._offer.suites.get(key)
            evaluators = {scorer.info.id: scorer.info for scorer in self._suite.evaluators}
            is_valid = stored is not None and not suite_reuse_problem(evaluators, stored.evaluators)
            self._reusable[key] = stored.trials if stored is not None and is_valid else {}
        line = self._reusable[key].get((trial.case.hash, trial.repeat))
        return line is not None and self._replay(trial, from_json(line))

    def _replay(self, trial: Trial, stored: Mapping[str, Any]) -> bool:
        try:
            description = self._suite.describe(trial.case)
        except Exception:  # reported when the trial runs
            return False
        if not description.digest or description.digest != stored.get("digest"):
            return False
        # The digest leaves out tags, which tasks and scorers may use.
        if list(description.tags) != list(stored.get("tags", ())):
            return False
        log, key = trial.log, trial.key
        emit_case_started(log, key, description, reused=stored.get("reused", self._offer.run))
        log.emit("case_output", **{name: stored[name] for name in _OUTPUT_FIELDS if name in stored}, **key)
        for evaluator, evaluation in stored.get("evaluations", {}).items():
            log.emit("scored", evaluator=evaluator, **evaluation, **key)
        for evaluator, label in stored.get("labels", {}).items():
            log.emit("labelled", evaluator=evaluator, **label, **key)
        log.emit("case_finished", unscored=tuple(stored.get("unscored", ())), **key)
        return True


class _StoredSuite(NamedTuple):
    """A suite of the offer: its evaluators in the earlier run, and the lines of its trials."""

    evaluators: Mapping[str, EvaluatorInfo]
    trials: dict[tuple[str, int], bytes]


class _Offer(NamedTuple):
    run: str
    suites: Mapping[bytes, _StoredSuite]


@cache
def _read_offer(path: str) -> _Offer:
    with Path(path).open("rb") as file:
        head = from_json(file.readline())
        suites: list[tuple[bytes, _StoredSuite]] = []
        for suite in head["suites"]:
            evaluators = {evaluator["id"]: parse_evaluator(evaluator) for evaluator in suite["evaluators"]}
            suites.append((_suite_key(suite["id"], suite["params"]), _StoredSuite(evaluators, {})))
        for line in file:
            trial = from_json(line)
            suites[trial["suite"]][1].trials[trial["hash"], trial.get("repeat", 0)] = line
    return _Offer(head["run"], dict(suites))


def _suite_key(suite: str, params: Mapping[str, Any] | None) -> bytes:
    return dump_plain([suite, sort_sets(dict(sorted((params or {}).items())))])
