"""The questions that a history answers, in the SQL that SQLite and PostgreSQL share.

Names come from suites and are untrusted: they are only ever parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from scoregate.features.history.stores import HistoryStore
from scoregate.features.history.tables import LONGEST_HASH, Row, clean_text
from scoregate.kernel.compare.statistics.intervals import mean_score_interval, wilson_interval
from scoregate.kernel.types.records import record

_MARKS = ("model", "prompt", "source", "parameters", "version")


@record
class RunFilter:
    """Which runs a query reads.

    Attributes:
        project: only runs of this project; None for all.
        branch: only runs of this branch.
        key: only runs of this use in the project.
        since: only runs that ended at this time or later, in seconds since the epoch.
        runs: only so many, the newest ones; None for all.
    """

    project: str | None = None
    branch: str | None = None
    key: str | None = None
    since: float | None = None
    runs: int | None = None

    @property
    def condition(self) -> str:
        """The condition on the table `r`; its values are in `parameters`."""
        parts = [f"r.{name} = :{name}" for name in ("project", "branch", "key") if getattr(self, name) is not None]
        parts += ["r.finished >= :since"] if self.since is not None else []
        return " AND ".join(parts) or "1 = 1"

    @property
    def parameters(self) -> dict[str, Any]:
        """The values of the condition."""
        names = ("project", "branch", "key", "since")
        values = {name: value for name in names if (value := getattr(self, name)) is not None}
        return {name: clean_text(value) if isinstance(value, str) else value for name, value in values.items()}

    @property
    def chosen_runs(self) -> str:
        """A table expression `chosen` with the runs."""
        limit = f" LIMIT {int(self.runs)}" if self.runs is not None else ""
        return (
            "chosen AS (SELECT r.id, r.run, r.finished, r.month, r.commit_sha, r.dirty, r.branch, r.message, r.complete"
            f" FROM runs r WHERE {self.condition} ORDER BY r.finished DESC, r.run DESC{limit})"
        )


@record
class TrendPoint:
    """The scores of an evaluator in one run.

    Attributes:
        run: the id of the run.
        finished: seconds since the epoch.
        n: the number of cases with a score; `mean` and its 95% interval are None without any.
        passed: how many passed, of those with a threshold; likewise `failed`.
        errored: how many could not be made.
        models: the models of the suite, joined by commas.
        judge: the model of the evaluator.
        changes: what differs from the run before: parts of the fingerprint, `models`.
    """

    run: str
    finished: float
    commit: str | None
    branch: str | None
    message: str | None
    complete: bool
    n: int
    mean: float | None
    low: float | None
    high: float | None
    passed: int
    failed: int
    errored: int
    models: str
    judge: str | None
    changes: tuple[str, ...] = ()


def load_trend(store: HistoryStore, suite: str, evaluator: str, chosen: RunFilter) -> list[TrendPoint]:
    """The scores of an evaluator in each run, oldest first.

    The interval of the mean is the score interval, for pass and fail Wilson's. It is the noise between cases, which are
    the same ones in most runs. Each case counts once, with the mean of its trials.

    Args:
        store: the history.
        suite: the label of the suite.
        evaluator: the name of the evaluator.
        chosen: which runs.
    """
    names = {"suite": clean_text(suite), "evaluator": clean_text(evaluator)}
    rows = store.query(_trend_query(chosen, "u.label = :suite AND e.name = :evaluator"), {**chosen.parameters, **names})
    return list(_trend_points([row[2:] for row in rows]))


def load_trends(store: HistoryStore, chosen: RunFilter) -> dict[tuple[str, str], list[TrendPoint]]:
    """The scores of all evaluators in each run, oldest first, by suite and evaluator."""
    rows = store.query(_trend_query(chosen, "1 = 1"), chosen.parameters, scans=True)
    series: dict[tuple[str, str], list[Row]] = {}
    for suite, evaluator, *rest in rows:
        series.setdefault((suite, evaluator), []).append(tuple(rest))
    return {names: list(_trend_points(each)) for names, each in series.items()}


def _trend_query(chosen: RunFilter, condition: str) -> str:
    return (
        f"WITH {chosen.chosen_runs}"
        " SELECT u.label, e.name, c.run, c.finished, c.commit_sha, c.branch, c.message, c.complete, s.n, s.mean,"
        " s.deviation, s.passed, s.failed, s.errored, p.models, e.model, e.prompt, e.source, e.parameters, e.version"
        " FROM suites u"
        " JOIN series s ON s.suite_id = u.id"
        " JOIN evaluators e ON e.id = s.evaluator_id"
        " JOIN chosen c ON c.id = s.run_id"
        " JOIN suite_runs p ON p.run_id = s.run_id AND p.suite_id = u.id"
        f" WHERE {condition} ORDER BY c.finished, c.run"
    )


def _trend_points(rows: list[Row]) -> Iterator[TrendPoint]:
    before: Mapping[str, Any] | None = None
    for run, finished, commit, branch, message, complete, n, mean, deviation, *rest in rows:
        passed, failed, errored, models, *marks = rest
        parts = {**dict(zip(_MARKS, marks, strict=True)), "models": models}
        changes = tuple(name for name in parts if before is not None and before[name] != parts[name])
        low, high = (None, None) if mean is None else mean_score_interval(mean, deviation or 0.0, n)
        counts = (passed, failed, errored)
        run_fields = (commit, branch, message, bool(complete))
        yield TrendPoint(run, finished, *run_fields, n, mean, low, high, *counts, models, marks[0], changes)
        before = parts


@record
class CaseScore:
    """A score of one case in one run; `passed` is None without a threshold.

    `changes` are `definition` and `evaluator`, if they differ from the row of this evaluator before.
    """

    suite: str
    case: str
    name: str
    evaluator: str
    run: str
    finished: float
    commit: str | None
    branch: str | None
    repeat: int
    score: float
    passed: bool | None
    status: str
    duration_ms: float | None
    cost: float | None
    changes: tuple[str, ...] = ()


def load_case(store: HistoryStore, case_hash: str, chosen: RunFilter) -> list[CaseScore]:
    """All scores of the cases with a hash, or with a hash that starts so, by suite, case, evaluator and time.

    Args:
        store: the history.
        case_hash: the hash, or its first characters.
        chosen: which runs.
    """
    case_hash = clean_text(case_hash, LONGEST_HASH)
    rows = store.query(
        f"WITH {chosen.chosen_runs}"
        " SELECT u.label, k.hash, k.name, e.name, c.run, c.finished, c.commit_sha, c.branch, s.repeat, s.score,"
        " s.passed, t.status, t.duration_ms, t.cost, s.definition, e.id"
        " FROM cases k"
        " JOIN suites u ON u.id = k.suite_id"
        " JOIN scores s ON s.case_id = k.id"
        " JOIN chosen c ON c.id = s.run_id"
        " JOIN evaluators e ON e.id = s.evaluator_id"
        " JOIN trials t ON t.case_id = k.id AND t.run_id = s.run_id AND t.repeat = s.repeat AND t.month = s.month"
        " WHERE k.hash >= :first AND k.hash < :last"
        " ORDER BY u.label, k.hash, e.name, c.finished, c.run, s.repeat",
        # A range instead of LIKE, whose signs would need escapes, and which no index serves in every collation.
        {**chosen.parameters, "first": case_hash, "last": f"{case_hash}\U0010ffff"},
    )
    exact = [row for row in rows if row[1] == case_hash]
    return list(_case_scores(exact or rows))


_CASE_FIELDS = [each.name for each in fields(CaseScore) if each.name != "changes"]


def _case_scores(rows: list[Row]) -> Iterator[CaseScore]:
    before: tuple[tuple[str, str, str], int, int] | None = None
    for *shown, definition, evaluator in rows:
        key = (shown[0], shown[1], shown[3])
        is_same = before is not None and before[0] == key
        changes: list[str] = []
        if before is not None and is_same:
            changes += ["definition"] if before[1] != definition else []
            changes += ["evaluator"] if before[2] != evaluator else []
        values: dict[str, Any] = dict(zip(_CASE_FIELDS, shown, strict=True))
        passed = values.pop("passed")
        yield CaseScore(**values, passed=None if passed is None else bool(passed), changes=tuple(changes))
        before = (key, definition, evaluator)


@record
class FlakyCase:
    """A case whose result flips although neither it nor its evaluator changed.

    Attributes:
        trials: how many scores passed or failed; `passed` of them passed.
        pairs: how many times two scores followed each other without a change between them.
        flips: in how many of these pairs one passed and the other failed.
        same_commit: how many of the flips were at one commit; of two runs, only if neither had uncommitted changes.
        rate: flips / pairs, with its 95% interval.
    """

    suite: str
    case: str
    name: str
    evaluator: str
    trials: int
    passed: int
    pairs: int
    flips: int
    same_commit: int
    rate: float
    low: float
    high: float


def load_flaky(store: HistoryStore, chosen: RunFilter, *, suite: str | None = None) -> list[FlakyCase]:
    """The cases that flip, the highest lower end of the rate's interval first.

    Scores follow each other in the order of runs and repeats, apart for each fingerprint of an evaluator and each
    definition of a case. Scores that were reused, or made from stored answers, are left out: they can't differ. The
    interval is Wilson's, as if pairs were independent; neighbouring pairs share a score, so it is a little too narrow.

    Args:
        store: the history.
        chosen: which runs.
        suite: only this suite, by its label.

    Source: Wilson (1927), Journal of the American Statistical Association 22:209.
    """
    in_suite = " AND s.case_id IN (SELECT k.id FROM cases k JOIN suites u ON u.id = k.suite_id WHERE u.label = :suite)"
    rows = store.query(
        f"WITH {chosen.chosen_runs},"
        # Most cases never fail. What is left to sort is a small part.
        " failing AS (SELECT DISTINCT s.case_id, s.evaluator_id FROM chosen c JOIN scores s ON s.run_id = c.id"
        f" AND s.month = c.month WHERE s.passed = 0{in_suite if suite is not None else ''}),"
        " ordered AS (SELECT s.case_id, s.evaluator_id, s.passed, LAG(s.passed) OVER line AS earlier,"
        " CASE WHEN LAG(c.commit_sha) OVER line = c.commit_sha"
        " AND (LAG(c.id) OVER line = c.id OR LAG(c.dirty) OVER line + c.dirty = 0) THEN 1 ELSE 0 END AS same_code"
        " FROM scores s JOIN chosen c ON c.id = s.run_id"
        " JOIN failing f ON f.case_id = s.case_id AND f.evaluator_id = s.evaluator_id"
        # Reads no partition of an earlier month.
        " WHERE s.month >= (SELECT MIN(month) FROM chosen) AND s.passed IS NOT NULL AND s.fresh = 1"
        " WINDOW line AS (PARTITION BY s.case_id, s.evaluator_id, s.definition ORDER BY c.finished, s.run_id,"
        " s.repeat)),"
        " sums AS (SELECT case_id, evaluator_id, COUNT(*) AS trials, SUM(passed) AS passed, COUNT(earlier) AS pairs,"
        " SUM(CASE WHEN earlier <> passed THEN 1 ELSE 0 END) AS flips,"
        " SUM(CASE WHEN earlier <> passed THEN same_code ELSE 0 END) AS same_commit"
        " FROM ordered GROUP BY case_id, evaluator_id)"
        " SELECT u.label, k.hash, MIN(k.name), e.name, SUM(m.trials), SUM(m.passed), SUM(m.pairs), SUM(m.flips),"
        " SUM(m.same_commit)"
        " FROM sums m JOIN cases k ON k.id = m.case_id JOIN suites u ON u.id = k.suite_id"
        " JOIN evaluators e ON e.id = m.evaluator_id"
        " GROUP BY u.id, u.label, k.id, k.hash, e.name HAVING SUM(m.flips) > 0",
        {**chosen.parameters, **({"suite": clean_text(suite)} if suite is not None else {})},
        scans=True,
    )
    return sorted(map(_flaky_case, rows), key=lambda each: (-each.low, each.suite, each.case, each.evaluator))


def _flaky_case(row: Row) -> FlakyCase:
    suite, case, name, evaluator = row[:4]
    trials, passed, pairs, flips, same_commit = map(int, row[4:])
    low, high = wilson_interval(flips, pairs)
    return FlakyCase(suite, case, name, evaluator, trials, passed, pairs, flips, same_commit, flips / pairs, low, high)


@record
class CostRow:
    """What model calls cost, for one value of what they are grouped by.

    Attributes:
        group: the value, such as the name of a model.
        runs: the number of runs with such calls.
        calls: the number of calls. A case or score of a version that didn't count them is one.
        cost: US dollars; None if no price is known.
        unpriced: the number of calls without a known price; with any, `cost` is too low.
    """

    group: str
    runs: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    unpriced: int


# The columns that costs can be grouped by. No text from outside gets into the query.
_GROUPS = {
    "model": "q.model",
    "suite": "u.label",
    "part": "q.part",
    "branch": "COALESCE(c.branch, '')",
    "month": "CAST(c.month AS TEXT)",
    "commit": "COALESCE(c.commit_sha, '')",
    "run": "c.run",
}
COST_GROUPS = tuple(_GROUPS)


def load_costs(store: HistoryStore, by: str, chosen: RunFilter) -> list[CostRow]:
    """What model calls cost, the highest cost first.

    Args:
        store: the history.
        by: one of `COST_GROUPS`.
        chosen: which runs.
    """
    group = _GROUPS[by]
    rows = store.query(
        f"WITH {chosen.chosen_runs}"
        f" SELECT {group}, COUNT(DISTINCT c.id), SUM(q.calls), SUM(q.input_tokens), SUM(q.output_tokens), SUM(q.cost),"
        " SUM(q.unpriced)"
        " FROM costs q JOIN chosen c ON c.id = q.run_id JOIN suites u ON u.id = q.suite_id"
        f" GROUP BY {group}",
        chosen.parameters,
    )
    costs = [
        CostRow(name, int(runs), int(calls), int(given), int(counted), cost, int(unpriced))
        for name, runs, calls, given, counted, cost, unpriced in rows
    ]
    return sorted(costs, key=lambda each: (-(each.cost or 0.0), -each.input_tokens, each.group))


def list_series(store: HistoryStore, chosen: RunFilter) -> list[tuple[str, str, int]]:
    """The suites and evaluators of some runs, each with the number of runs that have it; the most frequent first."""
    rows = store.query(
        f"WITH {chosen.chosen_runs}"
        " SELECT u.label, e.name, COUNT(DISTINCT c.id) FROM series s JOIN chosen c ON c.id = s.run_id"
        " JOIN suites u ON u.id = s.suite_id JOIN evaluators e ON e.id = s.evaluator_id"
        " GROUP BY u.label, e.name",
        chosen.parameters,
    )
    return sorted(((suite, name, int(runs)) for suite, name, runs in rows), key=lambda each: (-each[2], *each[:2]))
