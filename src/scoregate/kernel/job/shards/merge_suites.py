"""Merge the parts of a suite that ran in several shards into one suite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from scoregate.kernel.judge.archive.cases import dump_case
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo, SuitePart
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.reducer import add_undeclared
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.kernel.types.usage import sum_usage


@record
class SuiteParts:
    """What one shard ran of a suite: the number of the shard, the suite without its trials, and their number."""

    shard: int
    suite: SuiteResult
    trials: int


@record
class SuiteSources:
    """All that shards ran of one suite, in the order of the shards."""

    parts: tuple[SuiteParts, ...]

    @property
    def suites(self) -> tuple[SuiteResult, ...]:
        """The suite as each shard recorded it."""
        return tuple(each.suite for each in self.parts)

    @property
    def shards(self) -> str:
        """The numbers of the shards, as text."""
        return ", ".join(str(each.shard) for each in self.parts)

    @property
    def infos(self) -> list[SuitePart]:
        """The parts of the suite that shards ran, if it was split."""
        return [suite.part for suite in self.suites if suite.part is not None]

    def count_trials(self, columns: Columns) -> int:
        """The trials of all parts, also of those that no shard ran; 0 if shards ran all parts.

        Cases may have different repeats, so the trials of a part that is missing are estimated.

        Args:
            columns: the trials of all shards.
        """
        if not self.is_missing_part:
            return 0
        return max((info.cases for info in self.infos), default=0) * (max(columns.repeats, default=0) + 1)

    @property
    def is_missing_part(self) -> bool:
        """Whether no shard ran one of the parts."""
        infos = self.infos
        of = max((info.of for info in infos), default=0)
        return len({number for info in infos for number in info.numbers if 1 <= number <= of}) < of


def merge_suite(sources: SuiteSources, columns: Columns, *, of_parts: bool = True) -> SuiteResult:
    """The suite as one machine would have recorded it; its label is that of the first shard.

    Args:
        sources: what the shards ran.
        columns: the trials of all shards.
        of_parts: whether the parts of the shards have to be the whole suite.
    """
    suites = sources.suites
    messages = _find_problems(sources) if of_parts else _find_changed_evaluators(sources)
    problems = tuple(ErrorInfo("PartsDiffer", each) for each in messages)
    planned = [suite.planned for suite in suites]
    durations = [suite.duration_s for suite in suites if suite.duration_s is not None]
    return replace(
        suites[0],
        evaluators=_merge_evaluators(suites, columns),
        planned=None if None in planned else max(sum(number or 0 for number in planned), sources.count_trials(columns)),
        unfinished=sum(suite.unfinished for suite in suites),
        errors=(*dict.fromkeys(error for suite in suites for error in suite.errors), *problems),
        reviews=tuple(dict.fromkeys(review for suite in suites for review in suite.reviews)),
        complete=all(suite.complete for suite in suites) and not problems and not sources.is_missing_part,
        assertion_failed=any(suite.assertion_failed for suite in suites),
        duration_s=sum(durations) if durations else None,
        usage=sum_usage(suite.usage for suite in suites if suite.usage is not None),
        skipped=all(suite.skipped for suite in suites),
        trials=Trials(columns, suites[0].trials.sources),
        part=None,
        tools=tuple(dict.fromkeys(tool for suite in suites for tool in suite.tools)),
    )


def _find_problems(sources: SuiteSources) -> Iterator[str]:
    """Why the parts are not one suite: then trials are missing, or others than on one machine."""
    infos = [suite.part for suite in sources.suites]
    if len(infos) > 1 and None in infos:
        yield (
            f"it ran as a whole in several shards ({sources.shards}): its process ignores SCOREGATE_PARTS; "
            "install the same version of scoregate in the environment of the suites, or use `scoregate plan --no-split`"
        )
        return
    if len({(info.of, info.cases, info.digest) for info in infos if info is not None}) > 1:
        yield (
            f"its cases differ between shards ({sources.shards}), so cases are missing or not comparable; "
            "make the cases the same in every process, or use `scoregate plan --no-split`"
        )
    numbers = [number for info in infos if info is not None for number in info.numbers]
    if len(numbers) != len(set(numbers)):
        yield f"several shards ran the same part of it ({sources.shards})"
    yield from _find_changed_evaluators(sources)


def _find_changed_evaluators(sources: SuiteSources) -> Iterator[str]:
    yield from (
        f"its scorer {name!r:.100} differs between shards, so its scores are not comparable"
        for name in _find_changed(sources.suites)
    )


def _find_changed(suites: Iterable[SuiteResult]) -> Iterator[str]:
    """The evaluators of which shards recorded different definitions."""
    known: dict[str, EvaluatorInfo] = {}
    changed: dict[str, None] = {}
    for suite in suites:
        for name, info in suite.evaluators.items():
            if known.setdefault(name, info) != info:
                changed[name] = None
    yield from changed


def _merge_evaluators(suites: Iterable[SuiteResult], columns: Columns) -> dict[str, EvaluatorInfo]:
    """All evaluators. One that has only parts in the whole run is left out, as on one machine."""
    known: dict[str, EvaluatorInfo] = {}
    for suite in suites:
        known = {**suite.evaluators, **known}
    own = {*columns.scores, *columns.labels, *columns.deferred}
    parents = {
        parent
        for name, info in known.items()
        for parent in known
        if name.startswith(f"{parent}.") and replace(known[parent], id=name) == info
    }
    kept = {name: info for name, info in known.items() if name in own or name not in parents}
    return add_undeclared(kept, columns)


def move_line(line: bytes, case: CaseResult, suite: int) -> bytes:
    """The line of a case, with its end, and with the index of another suite.

    To dump the case again takes as long as to parse it (measured).

    Args:
        line: the line, without its end.
        case: the case that was parsed from it; a line that scoregate did not write so is dumped again.
        suite: the new index.
    """
    prefix = b'{"suite":%d,' % case.suite
    # The key is there once: neither in a value nor written with an escape.
    is_plain = line.startswith(prefix) and line.count(b'"suite":') == 1 and b"\\u00" not in line
    if is_plain and line.endswith(b"}"):
        return b'{"suite":%d,' % suite + line[len(prefix) :] + b"\n"
    return dump_case(replace(case, suite=suite)) + b"\n"
