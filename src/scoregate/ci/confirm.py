"""Flaky or regressed? Newly failing cases run again, here and, where it can be run, in the base."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from scoregate.ci.extra_cost import extra_cost
from scoregate.ci.parts import Ports
from scoregate.ci.plan import Plan, restricted
from scoregate.ci.settings import BaselineKind, Confirm, Settings
from scoregate.core.case import Status
from scoregate.core.compare import Comparison
from scoregate.core.confirmation import FAILURES, MOST_TRIES, Confirmation, is_decided
from scoregate.core.record import Run, SuiteResult
from scoregate.core.rules.of_base import CRITICAL

MOST_CASES = 15


@dataclass(frozen=True, slots=True)
class Suspect:
    """A newly failing case, by the launch, suite and hash that find it again."""

    label: str
    script: str
    suite: str
    params: str
    case: str


Tries = dict[Suspect, tuple[bool, ...]]
Runs = tuple[Run | None, ...]


async def confirm(comparison: Comparison, plan: Plan, settings: Settings, ports: Ports) -> Run:
    """The run with what further tries of its newly failing cases have shown; the same run where there are none."""
    suspects = list(_suspects(comparison, settings.confirmed_cases))
    if not suspects:
        return comparison.run
    tries, runs = await _tried(suspects, plan, settings, ports, in_base=False)
    failing = [suspect for suspect in suspects if tries[suspect].count(False) >= FAILURES]
    in_base: Tries = {}
    of_base: Runs = ()
    if failing and settings.baseline_kind is BaselineKind.RERUN:
        in_base, of_base = await _tried(failing, plan, settings, ports, in_base=True)
    found = (Confirmation(s.label, s.case, tries[s], in_base.get(s, ())) for s in suspects)
    paid = extra_cost((*runs, *of_base))
    notices = (*comparison.run.notices, *([f"--confirm: running cases again {paid}"] if paid else []))
    run = replace(comparison.run, confirmations=tuple(found), notices=notices)
    ports.amend(run)
    return run


def _suspects(comparison: Comparison, mode: Confirm) -> Iterator[Suspect]:
    """The critical ones first, up to the cap."""
    if mode is Confirm.OFF:
        return
    flips = [(comparison.run.suites[flip.suite], flip.row) for flip in comparison.newly_failing]
    critical = [flip for flip in flips if CRITICAL in flip[0].columns.tags.get(flip[1], ())]
    others = [flip for flip in flips if flip not in critical] if mode is Confirm.ALL else []
    found = dict.fromkeys(
        Suspect(suite.label, suite.script or "", suite.id, _named(suite), suite.columns.hashes[row])
        for suite, row in (*critical, *others)
    )
    yield from list(found)[:MOST_CASES]


def _named(suite: SuiteResult) -> str:
    return json.dumps(dict(suite.params or {}), sort_keys=True, default=str)


async def _tried(
    suspects: Sequence[Suspect], plan: Plan, settings: Settings, ports: Ports, *, in_base: bool
) -> tuple[Tries, Runs]:
    """As many tries as it takes, at most four: three at once, then one by one where that left it open.

    More than one by one takes a case that says itself how often it is run, or that met errors.
    """
    tries: Tries = dict.fromkeys(suspects, ())
    runs: Runs = ()
    for number in range(1, MOST_TRIES + 1):
        open_ones = [suspect for suspect in suspects if not is_decided(tries[suspect])]
        if not open_ones:
            break
        part = restricted(plan, _by_launch(open_ones), repeats=FAILURES if number == 1 else 1)
        folder = f"confirm{'-base' if in_base else ''}-{number}"
        if in_base:
            run = (await ports.rerun(part, settings, folder=folder)).run
        else:
            run = await ports.record(part, settings, (), folder=folder)
        runs = (*runs, run)
        for suspect in open_ones:
            tries[suspect] = (*tries[suspect], *_passes(run, suspect))[:MOST_TRIES]
    return tries, runs


def _by_launch(suspects: Iterable[Suspect]) -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for suspect in suspects:
        found.setdefault(suspect.script, {}).setdefault(suspect.suite, []).append(suspect.case)
    return found


def _passes(run: Run | None, suspect: Suspect) -> Iterator[bool]:
    """An error is no try: it says nothing of the case."""
    for suite in run.suites if run is not None else ():
        if (suite.script, suite.id, _named(suite)) == (suspect.script, suspect.suite, suspect.params):
            for row, case in enumerate(suite.columns.hashes):
                if case == suspect.case and suite.columns.status(row) in (Status.PASSED, Status.FAILED):
                    yield suite.columns.status(row) is Status.PASSED
