"""Results of an earlier run that the host offers: those that still hold are written to the log, and not measured again.

The offer is a file of JSON lines: the first names the run and its suites, each other one is a trial as records have it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from scoregate.core.events import EvaluatorInfo
from scoregate.core.json_io import dump_plain, sort_sets
from scoregate.core.reuse import suite_reuse_problem
from scoregate.core.suite import Suite
from scoregate.engine.results import parse_evaluator
from scoregate.engine.trial import Trial, announce_trial

REUSE_VARIABLE = "SCOREGATE_REUSE"
_OUTPUT_EVENTS = ("output", "duration_ms", "attempts", "usage", "truncated", "trace")


class Replay:
    """Writes the results that still hold of a suite into its logs; without an offer, none do."""

    def __init__(self, suite: Suite) -> None:
        path = os.environ.get(REUSE_VARIABLE)
        self._suite = suite
        self._offer = _read_offer(path) if path else None
        self._found: dict[bytes, Mapping[tuple[str, int], bytes]] = {}

    def __call__(self, trial: Trial) -> bool:
        """Whether the trial has a result that holds, which is in the log now."""
        if self._offer is None:
            return False
        line = self._stored(trial.params).get((trial.case.hash, trial.repeat))
        return line is not None and self._replay(trial, from_json(line), self._offer.run)

    def _stored(self, params: Mapping[str, Any] | None) -> Mapping[tuple[str, int], bytes]:
        assert self._offer is not None
        key = _suite_key(self._suite.id, params)
        if key not in self._found:
            known = self._offer.suites.get(key)
            now = {scorer.info.id: scorer.info for scorer in self._suite.evaluators}
            same = known is not None and not suite_reuse_problem(now, known.evaluators)
            self._found[key] = known.trials if known is not None and same else {}
        return self._found[key]

    def _replay(self, trial: Trial, stored: Mapping[str, Any], run: str) -> bool:
        try:
            told = self._suite.describe(trial.case)
        except Exception:  # told when it is run
            return False
        if not told.digest or told.digest != stored.get("digest"):
            return False
        log, key = trial.log, trial.key
        announce_trial(trial, told, reused=stored.get("reused", run))
        log.emit("case_output", **{name: stored[name] for name in _OUTPUT_EVENTS if name in stored}, **key)
        for evaluator, evaluation in stored.get("evaluations", {}).items():
            log.emit("scored", evaluator=evaluator, **evaluation, **key)
        for evaluator, naming in stored.get("labels", {}).items():
            log.emit("labelled", evaluator=evaluator, **naming, **key)
        log.emit("case_finished", unscored=tuple(stored.get("unscored", ())), **key)
        return True


class _StoredSuite(NamedTuple):
    """A suite of the offer: its evaluators then, and the lines of its trials."""

    evaluators: Mapping[str, EvaluatorInfo]
    trials: dict[tuple[str, int], bytes]


class _Offer(NamedTuple):
    run: str
    suites: Mapping[bytes, _StoredSuite]


@cache
def _read_offer(path: str) -> _Offer:
    with Path(path).open("rb") as file:
        head = from_json(file.readline())
        suites = [
            (
                _suite_key(each["id"], each["params"]),
                _StoredSuite({e["id"]: parse_evaluator(e) for e in each["evaluators"]}, {}),
            )
            for each in head["suites"]
        ]
        for line in file:
            trial = from_json(line)
            suites[trial["suite"]][1].trials[trial["hash"], trial.get("repeat", 0)] = line
    return _Offer(head["run"], dict(suites))


def _suite_key(suite: str, params: Mapping[str, Any] | None) -> bytes:
    return dump_plain([suite, sort_sets(dict(sorted((params or {}).items())))])
