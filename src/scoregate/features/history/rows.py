"""The rows of a run: its cases are read once, and sums are made on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import accumulate, compress, count
from math import sqrt
from pathlib import Path

from scoregate.errors import RecordError
from scoregate.features.history.tables import LONGEST_HASH, Row, RunRows, clean_text
from scoregate.kernel.judge.archive import read_run
from scoregate.kernel.types.amounts import find_known
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.event_values import EvaluatorInfo, Fingerprint
from scoregate.kernel.types.identity import bounded_name
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_columns import Columns, percentiles
from scoregate.kernel.types.runs.case_means import list_case_means
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.kernel.types.runs.evidence import MEASURED_SOURCES, Evidence, Use, does_count
from scoregate.kernel.types.runs.run import Run, Script, SuiteResult, list_started_scripts

# A run from outside these years has a wrong clock; each month may be a partition of its own.
_FIRST_MONTH, _LAST_MONTH = 200001, 209912
_LARGEST = 2**62
# The parts of a suite's cost, besides its evaluators. No evaluator's name starts with a space.
TASK, SUITE = " task", " suite"


@record
class RunSource:
    """Where a run comes from.

    Attributes:
        project: the project, such as `owner/name`.
        key: which of several uses in the project; empty for runs outside of CI.
        job: the id of the workflow's run; empty if unknown.
        branch: the branch, if the source knows it better than the run.
    """

    project: str
    key: str = ""
    job: str = ""
    branch: str | None = None

    def __post_init__(self) -> None:
        for name in ("project", "key", "job"):
            object.__setattr__(self, name, clean_text(getattr(self, name)))


def make_id(*parts: str) -> int:
    """A number of 64 bits with a sign, from the names that identify a row."""
    text = "".join(f"{len(part)}:{part}" for part in parts)  # with lengths, so that ab, c and a, bc differ
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)


def _clean_optional(text: str | None) -> str | None:
    return None if text is None else clean_text(text)


@dataclass(slots=True)
class _ModelCost:
    """What the calls of one model cost in one part of a suite."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    unpriced: int = 0

    def add(self, usage: Usage) -> None:
        self.calls += usage.calls
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        if usage.cost is not None:
            self.cost = (self.cost or 0.0) + usage.cost
            self.unpriced += len(usage.unpriced_models)  # at least one call of each
        elif usage.unpriced_models:
            self.unpriced += usage.calls


@dataclass(slots=True)
class CaseCollector:
    """Collects what rows need of each case, while a run is read. A score starts with the number of its trial."""

    trials: list[tuple[int, str, int, str, str]] = field(default_factory=list)
    scores: list[tuple[int, str, float, bool | None, bool]] = field(default_factory=list)
    names: dict[tuple[int, str], str] = field(default_factory=dict)
    costs: dict[tuple[int, str, str], _ModelCost] = field(default_factory=dict)
    numbers: list[tuple[float | None, float | None, int | None]] = field(default_factory=list)

    def add(self, case: CaseResult) -> None:
        """Add a trial of a run."""
        suite, case_hash, repeat, digest, trial = case.suite, case.hash, case.repeat, case.digest, len(self.trials)
        self.trials.append((suite, case_hash, repeat, digest, case.status.value))
        self.names.setdefault((suite, case_hash), case.name)
        # Trials that are kept or carried are left out as soon as their suite is known.
        is_fresh = does_count(MEASURED_SOURCES[case.reused is not None].origin, Use.FRESH)
        task_is_stored = case.usage is not None and case.usage.cached
        for name, evaluation in case.evaluations.items():
            usage, score, threshold = evaluation.usage, evaluation.score, evaluation.threshold
            fresh = is_fresh and not (task_is_stored and (usage is None or usage.cached))
            passed = None if threshold is None else threshold.holds(score)
            self.scores.append((trial, name, score, passed, fresh))
        used = list(_usages(case))
        priced = [usage.cost for _, usage in used if usage.cost is not None]
        tokens = sum(usage.input_tokens + usage.output_tokens for _, usage in used) if used else None
        self.numbers.append((case.duration_ms, sum(priced) if priced else None, tokens))
        if is_fresh:  # else an earlier attempt paid for it
            for part, usage in used:
                self.add_usage(suite, part, usage)

    def add_usage(self, suite: int, part: str, usage: Usage) -> None:
        """Add the usage of model calls to a part of a suite's cost; one that only names stored answers is no call."""
        is_marker = not (usage.model or usage.cost or usage.input_tokens or usage.output_tokens)
        if usage.calls and not is_marker:  # older versions counted no calls
            self.costs.setdefault((suite, part, usage.model or ""), _ModelCost()).add(usage)

    def leave_out_others(self, suites: Sequence[Evidence]) -> None:
        """Leave out trials that another run measured: that run has their rows.

        Args:
            suites: where the trials of each suite come from.
        """
        if all(each.counts_all(Use.DATABASE) for each in suites):
            return
        others, places = [each.rows_without(Use.DATABASE) for each in suites], [count() for _ in suites]
        kept = [next(places[trial[0]]) not in others[trial[0]] for trial in self.trials]
        numbers = list(accumulate(kept, initial=0))  # the new number of each trial
        self.scores = [(numbers[score[0]], *score[1:]) for score in self.scores if kept[score[0]]]
        self.trials, self.numbers = list(compress(self.trials, kept)), list(compress(self.numbers, kept))
        cases, unpaid = (
            {trial[:2] for trial in self.trials},
            {at for at, each in enumerate(suites) if not each.counts(Use.SPENT)},
        )
        self.names = {key: name for key, name in self.names.items() if key in cases}
        self.costs = {key: cost for key, cost in self.costs.items() if key[0] not in unpaid}


def _usages(case: CaseResult) -> Iterator[tuple[str, Usage]]:
    """Each usage of model calls in a case, with the part of the suite that it belongs to."""
    if case.usage is not None:
        yield TASK, case.usage
    for name, evaluation in case.evaluations.items():
        if evaluation.usage is not None:
            yield name, evaluation.usage
    for name, label in case.labels.items():
        if label.usage is not None:
            yield name, label.usage
    for error in case.errors:
        if error.usage is not None:
            yield error.evaluator or TASK, error.usage


def read_rows(folder: Path, source: RunSource) -> RunRows:
    """Read a run's folder once, and return its rows.

    Raises:
        RecordError: there is no run, or none that can be read, or its time can't be right, or it is a shard of a run.
    """
    collector = CaseCollector()
    return _build_rows(read_run(folder, visit=collector.add), collector, source)


def _build_rows(run: Run, collector: CaseCollector, source: RunSource) -> RunRows:
    if (shard := run.scope.shard) is not None:  # the merged run has its scores and costs, which would count twice
        raise RecordError(
            f"the run {run.id:.60} is shard {shard.number} of {shard.of}: import the run that `scoregate merge`"
            " makes of all shards"
        )
    moment = datetime.fromtimestamp(run.end.finished, UTC)
    month = moment.year * 100 + moment.month
    if not _FIRST_MONTH <= month <= _LAST_MONTH:
        raise RecordError(f"the run {run.id:.60} ended at {moment:%Y-%m-%d}, which can't be right")
    for index, suite in enumerate(run.suites):
        if suite.usage is not None:
            collector.add_usage(index, SUITE, suite.usage)
    for index, script in enumerate(_shared_scripts(run), len(run.suites)):
        if script.usage is not None:
            collector.add_usage(index, SUITE, script.usage)
    collector.leave_out_others([suite.evidence for suite in run.suites])
    run_id = make_id(source.project, run.id)
    names = _Names(run, source.project)
    labels = [*(suite.label for suite in run.suites), *(script.name for script in _shared_scripts(run))]
    trials = _trial_rows(collector, run_id, names, month)
    rows: dict[str, Sequence[Row]] = {
        "suites": [
            (number, source.project, clean_text(label)) for number, label in zip(names.suites, labels, strict=True)
        ],
        "cases": [
            (names.case(index, each), names.suites[index], clean_text(each, LONGEST_HASH), clean_text(name))
            for (index, each), name in collector.names.items()
        ],
        "evaluators": list(names.evaluator_rows()),
        "suite_runs": list(_suite_rows(run, run_id, names, collector)),
        "series": list(_series_rows(run, run_id, names)),
        "costs": _cost_rows(collector, run_id, names),
        "trials": trials,
        "scores": _score_rows(collector, trials, names),
    }
    return RunRows(_run_row(run, run_id, source, month, rows=(len(collector.trials), len(collector.scores))), rows)


def _shared_scripts(run: Run) -> list[Script]:
    """The scripts with calls that may be of any of their suites, and so have costs like a suite."""
    return [script for script in list_started_scripts(run) if script.usage is not None]


def _run_row(run: Run, run_id: int, source: RunSource, month: int, *, rows: tuple[int, int]) -> Row:
    return (
        run_id,
        clean_text(run.id),
        source.project,
        source.key,
        month,
        run.started,
        run.end.finished,
        _clean_optional(run.code.commit),
        _clean_optional(source.branch or run.code.branch),
        _clean_optional(run.code.message),
        int(run.code.dirty),
        min(max(run.end.attempt, 0), _LARGEST),
        int(run.end.complete),
        int(run.is_unselected),
        clean_text(run.code.version),
        source.job,
        *rows,
    )


@dataclass(slots=True)
class _Names:
    """The ids of what a run names. Each is a digest, so it is made once."""

    run: Run
    project: str
    suites: list[int] = field(init=False)
    _cases: dict[tuple[int, str], int] = field(default_factory=dict)
    _definitions: dict[str, int] = field(default_factory=dict)
    _evaluators: dict[tuple[int, str], int] = field(default_factory=dict)
    _rows: dict[int, Row] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.suites = [make_id(self.project, suite.label) for suite in self.run.suites]
        self.suites += [make_id(self.project, script.name) for script in _shared_scripts(self.run)]
        for index, suite in enumerate(self.run.suites):
            for name in suite.evaluators:
                self.evaluator(index, name)

    def case(self, suite: int, case_hash: str) -> int:
        key = (suite, case_hash)
        if (known := self._cases.get(key)) is None:
            known = self._cases[key] = make_id(self.project, self.run.suites[suite].label, case_hash)
        return known

    def definition(self, digest: str) -> int:
        if (known := self._definitions.get(digest)) is None:
            known = self._definitions[digest] = make_id(digest) if digest else 0
        return known

    def evaluator(self, suite: int, name: str) -> int:
        """The id of an evaluator with its fingerprint: another fingerprint makes another evaluator."""
        key = (suite, name)
        if (known := self._evaluators.get(key)) is None:
            row = _evaluator_row(name, self.run.suites[suite].evaluators.get(name))
            known = self._evaluators[key] = row[0]
            self._rows.setdefault(known, row)
        return known

    def evaluator_rows(self) -> Iterable[Row]:
        return self._rows.values()


def _evaluator_row(name: str, info: EvaluatorInfo | None) -> Row:
    mark = (info and info.fingerprint) or Fingerprint()
    is_higher_better = info is None or info.higher_is_better
    parts = (mark.model, mark.source, mark.prompt, mark.parameters, mark.version)
    # None differs from an empty text.
    identity = (name, *(f"={part}" if part is not None else "" for part in parts), str(is_higher_better))
    return (make_id(*identity), clean_text(name), *map(_clean_optional, parts), int(is_higher_better))


def _suite_rows(run: Run, run_id: int, names: _Names, collector: CaseCollector) -> Iterator[Row]:
    models: dict[int, set[str]] = {}
    for number, part, model in collector.costs:
        if part == TASK and model:
            models.setdefault(number, set()).add(model)
    for index, suite in enumerate(run.suites):
        if not suite.evidence.counts_all(Use.HISTORY):
            continue
        columns = suite.columns
        (p50,) = percentiles(columns.durations_ms, 0.5)
        counts = (columns.count(status) for status in (Status.PASSED, Status.FAILED, Status.ERRORED))
        used = models.get(index) or ({suite.setup.model.name} if suite.setup else set())
        shown = clean_text(", ".join(sorted(filter(None, used))))
        numbers = (int(suite.complete), suite.duration_s, p50, find_known(suite.cost))
        yield (run_id, names.suites[index], len(columns), *counts, *numbers, shown)


def _series_rows(run: Run, run_id: int, names: _Names) -> Iterator[Row]:
    for index, suite in enumerate(run.suites):
        if not suite.evidence.counts_all(Use.HISTORY):
            continue
        for name in dict.fromkeys((*suite.evaluators, *suite.columns.scores)):
            yield (run_id, names.suites[index], names.evaluator(index, name), *_series_numbers(suite, name))


def _series_numbers(suite: SuiteResult, name: str) -> Row:
    """The number of cases with a score, the mean and the standard deviation of their scores; how many scores passed,
    failed and raised.
    """
    columns: Columns = suite.columns
    failed = len(columns.failed.get(name, ()))
    passed = columns.judged.get(name, 0) - failed
    errored = len(columns.errored.get(name, ()))
    mean = suite.mean(name)
    if mean is None:
        return (0, None, None, passed, failed, errored)
    means = list_case_means(columns, name)
    squares = sum((each - mean) ** 2 for each in means)
    deviation = sqrt(squares / (len(means) - 1)) if len(means) > 1 else None
    return (len(means), mean, deviation, passed, failed, errored)


def _cost_rows(collector: CaseCollector, run_id: int, names: _Names) -> list[Row]:
    totals: dict[tuple[int, str, str], Row] = {}
    for (suite, part, model), each in collector.costs.items():
        # Long names are cut, so that two may become one.
        key = (names.suites[suite], clean_text(bounded_name(part) if part.strip() == part else part), clean_text(model))
        tokens = (min(each.input_tokens, _LARGEST), min(each.output_tokens, _LARGEST))
        numbers = (each.calls, *tokens, each.cost, each.unpriced)
        totals[key] = _add_numbers(totals[key], numbers) if key in totals else numbers
    return [(run_id, *key, *numbers) for key, numbers in totals.items()]


def _add_numbers(one: Row, other: Row) -> Row:
    return tuple(None if a is None and b is None else (a or 0) + (b or 0) for a, b in zip(one, other, strict=True))


def _trial_rows(collector: CaseCollector, run_id: int, names: _Names, month: int) -> list[Row]:
    case, definition = names.case, names.definition
    return [
        (month, run_id, case(suite, case_hash), repeat, definition(digest), status, *numbers)
        for (suite, case_hash, repeat, digest, status), numbers in zip(collector.trials, collector.numbers, strict=True)
    ]


def _score_rows(collector: CaseCollector, trials: Sequence[Row], names: _Names) -> list[Row]:
    flags = {True: 1, False: 0, None: None}
    rows = []
    for number, name, score, passed, fresh in collector.scores:
        month, run_id, case, repeat, definition, *_ = trials[number]
        evaluator = names.evaluator(collector.trials[number][0], name)
        rows.append((month, run_id, case, evaluator, repeat, definition, score, flags[passed], int(fresh)))
    return rows
