"""Several runs as one: the legs of a matrix, brought together in a job that comes after them."""

from __future__ import annotations

import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from pathlib import Path

from scoregate import __version__
from scoregate.ci.archive import RUN_FOLDER, RunWriter, latest_run, read_run
from scoregate.ci.settings import Settings
from scoregate.core.confirmation import Confirmation
from scoregate.core.events import ErrorInfo
from scoregate.core.record import Run, Script, SuiteResult
from scoregate.errors import RecordError, UsageError


@dataclass(frozen=True, slots=True)
class Leg:
    """One of the runs, by the name of its folder."""

    name: str
    run: Run


def read_legs(paths: Iterable[Path], *, expected: int | None) -> tuple[Leg, ...]:
    """The runs in folders. Where a number is expected, one that cannot be read is as good as missing.

    Raises:
        RecordError: one holds no run. UsageError: there are none, two have one name or hold the same run, or they are
            of several commits.
    """
    legs = tuple(_readable(paths, strictly=expected is None))
    if not legs and expected is None:
        raise UsageError("there are no runs to merge", advice="Name their folders: scoregate merge legs/*")
    if twice := [name for name, number in Counter(leg.name for leg in legs).items() if number > 1]:
        raise UsageError(f"two runs are in folders called {twice[0]}", advice="Give each folder a name of its own.")
    folders = defaultdict(list)
    for leg in legs:
        folders[leg.run.id].append(leg.name)
    if same := next((names for names in folders.values() if len(names) > 1), None):
        raise UsageError(
            f"{' and '.join(same)} hold the same run",
            advice="Name each run once; a job that did not run must not be replaced by a copy of another.",
        )
    if len(commits := sorted({leg.run.commit or "none" for leg in legs})) > 1:
        raise UsageError(f"the runs are of several commits: {', '.join(each[:7] for each in commits)}")
    return legs


def _readable(paths: Iterable[Path], *, strictly: bool) -> Iterator[Leg]:
    for path in paths:
        try:
            yield Leg(_name(path), read_run(latest_run(path)))
        except RecordError:
            if strictly:
                raise


def _name(path: Path) -> str:
    path = path.resolve()
    return path.parent.name if path.name == RUN_FOLDER else path.name


def merge(legs: Sequence[Leg], folder: Path, settings: Settings, *, expected: int | None = None) -> Run:
    """Write the legs as one run.

    Suites that several legs have are told apart by the names of the legs. More trials of single cases, which adaptive
    repeats have made, stay behind.

    Args:
        folder: where it goes. expected: how many legs there should be; what is missing cannot be measured.

    Raises:
        RecordError: it cannot be written.
    """
    labels = Counter(suite.label for leg in legs for suite in leg.run.suites)
    starts = [0, *accumulate(len(leg.run.suites) for leg in legs)]
    with RunWriter(folder) as writer:
        for leg, start in zip(legs, starts, strict=False):
            for case in leg.run.cases:
                writer.add(replace(case, suite=case.suite + start))
        return writer.finish(_merged(legs, settings, labels=labels, expected=expected))


def _merged(legs: Sequence[Leg], settings: Settings, *, labels: Mapping[str, int], expected: int | None) -> Run:
    runs, now = [leg.run for leg in legs], time.time()
    missing = max(0, (expected or 0) - len(legs))
    return Run(
        id=uuid.uuid4().hex,
        started=min((run.started for run in runs), default=now),
        finished=max((run.finished for run in runs), default=now),
        version=__version__,
        message=settings.message or next((run.message for run in runs if run.message), None),
        commit=runs[0].commit if runs else None,
        branch=runs[0].branch if runs else None,
        dirty=any(run.dirty for run in runs),
        attempt=max((run.attempt for run in runs), default=1),
        complete=all(run.complete for run in runs),
        suites=tuple(_suite(suite, leg, labels) for leg in legs for suite in leg.run.suites),
        scripts=(*(_script(script, leg) for leg in legs for script in leg.run.scripts), *_missing(missing)),
        notices=tuple(notice for leg in legs for notice in _notices(leg)),
        policy=asdict((settings.proposed or settings).policy()),
        filters=tuple(dict.fromkeys(glob for run in runs for glob in run.filters)),
        file_filters=tuple(dict.fromkeys(glob for run in runs for glob in run.file_filters)),
        skipped=tuple(dict.fromkeys(suite for run in runs for suite in run.skipped)),
        left_out=tuple(dict.fromkeys(suite for run in runs for suite in run.left_out)),
        narrowed=settings.narrowed,
        confirmations=tuple(_confirmation(each, leg, labels) for leg in legs for each in leg.run.confirmations),
    )


def _suite(suite: SuiteResult, leg: Leg, labels: Mapping[str, int]) -> SuiteResult:
    script = None if suite.script is None else f"{leg.name}: {suite.script}"
    return replace(suite, label=_label(suite.label, leg, labels), script=script, read=None)


def _label(label: str, leg: Leg, labels: Mapping[str, int]) -> str:
    return f"{label} ({leg.name})" if labels[label] > 1 else label


def _script(script: Script, leg: Leg) -> Script:
    return replace(script, name=f"{leg.name}: {script.name}")


def _confirmation(tried: Confirmation, leg: Leg, labels: Mapping[str, int]) -> Confirmation:
    return replace(tried, suite=_label(tried.suite, leg, labels))


def _notices(leg: Leg) -> Iterator[str]:
    yield from (f"{leg.name}: {notice}" for notice in leg.run.notices)
    if not leg.run.complete:
        yield f"{leg.name}: this leg never finished"


def _missing(number: int) -> Iterator[Script]:
    for at in range(1, number + 1):
        error = ErrorInfo("MissingLeg", "its run was not there to be merged", advice="See why its job left none.")
        yield Script(f"missing leg {at}", error=error)
