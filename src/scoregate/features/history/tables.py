"""The tables of the history, the same in SQLite and PostgreSQL.

Their ids are digests of names, so that several processes can write without asking for ids, and no row depends on the
order of imports. Times are in seconds since the epoch. A month is a number such as 202611. Flags are 0, 1 or NULL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias

from scoregate.kernel.types.records import record
from scoregate.kernel.types.text import replace_surrogates

SCHEMA = 1
Row: TypeAlias = tuple[Any, ...]
# The types of columns: `int` has 64 bits, `flag` is 0, 1 or NULL.
INT, NUMBER, TEXT, FLAG, BYTES = "int", "number", "text", "flag", "bytes"
_LONGEST_TEXT = 500
LONGEST_HASH = 2_000


def clean_text(text: str, limit: int = _LONGEST_TEXT) -> str:
    """A text that both databases can store, of limited length."""
    cut = text if len(text) <= limit else f"{text[: limit - 1]}…"
    return replace_surrogates(cut.replace("\0", "\ufffd"))


@record
class Table:
    """A table.

    Attributes:
        columns: the type of each column, by name.
        key: the columns of the primary key; empty if it has none.
        indexes: the columns of each index.
        failures: the columns of an index of the rows that failed, which are few; empty without one.
        by_month: whether PostgreSQL stores each month in a partition of its own.
    """

    name: str
    columns: Mapping[str, str]
    key: tuple[str, ...] = ()
    indexes: tuple[tuple[str, ...], ...] = ()
    failures: tuple[str, ...] = ()
    by_month: bool = False


RUNS = Table(
    "runs",
    {
        "id": INT,
        "run": TEXT,
        "project": TEXT,
        "key": TEXT,
        "month": INT,
        "started": NUMBER,
        "finished": NUMBER,
        "commit_sha": TEXT,
        "branch": TEXT,
        "message": TEXT,
        "dirty": FLAG,
        "attempt": INT,
        "complete": FLAG,
        "whole": FLAG,
        "version": TEXT,
        "job": TEXT,
        "cases": INT,
        "scores": INT,
    },
    key=("id",),
    indexes=(("project", "finished"), ("project", "job")),
)
SUITES = Table("suites", {"id": INT, "project": TEXT, "label": TEXT}, key=("id",), indexes=(("project", "label"),))
CASES = Table(
    "cases",
    {"id": INT, "suite_id": INT, "hash": TEXT, "name": TEXT},
    key=("id",),
    indexes=(("hash",), ("suite_id",)),
)
EVALUATORS = Table(
    "evaluators",
    {
        "id": INT,
        "name": TEXT,
        "model": TEXT,
        "source": TEXT,
        "prompt": TEXT,
        "parameters": TEXT,
        "version": TEXT,
        "higher_is_better": FLAG,
    },
    key=("id",),
    indexes=(("name",),),
)
SUITE_RUNS = Table(
    "suite_runs",
    {
        "run_id": INT,
        "suite_id": INT,
        "cases": INT,
        "passed": INT,
        "failed": INT,
        "errored": INT,
        "complete": FLAG,
        "duration_s": NUMBER,
        "p50_ms": NUMBER,
        "cost": NUMBER,
        "models": TEXT,
    },
    key=("run_id", "suite_id"),
    indexes=(("suite_id",),),
)
SERIES = Table(
    "series",
    {
        "run_id": INT,
        "suite_id": INT,
        "evaluator_id": INT,
        "n": INT,
        "mean": NUMBER,
        "deviation": NUMBER,
        "passed": INT,
        "failed": INT,
        "errored": INT,
    },
    key=("run_id", "suite_id", "evaluator_id"),
    indexes=(("suite_id", "evaluator_id"),),
)
COSTS = Table(
    "costs",
    {
        "run_id": INT,
        "suite_id": INT,
        "part": TEXT,
        "model": TEXT,
        "calls": INT,
        "input_tokens": INT,
        "output_tokens": INT,
        "cost": NUMBER,
        "unpriced": INT,
    },
    key=("run_id", "suite_id", "part", "model"),
)
TRIALS = Table(
    "trials",
    {
        "month": INT,
        "run_id": INT,
        "case_id": INT,
        "repeat": INT,
        "definition": INT,
        "status": TEXT,
        "duration_ms": NUMBER,
        "cost": NUMBER,
        "tokens": INT,
    },
    indexes=(("case_id", "run_id"), ("run_id",)),
    by_month=True,
)
SCORES = Table(
    "scores",
    {
        "month": INT,
        "run_id": INT,
        "case_id": INT,
        "evaluator_id": INT,
        "repeat": INT,
        "definition": INT,
        "score": NUMBER,
        "passed": FLAG,
        "fresh": FLAG,
    },
    indexes=(("case_id",), ("run_id",)),
    failures=("run_id",),
    by_month=True,
)
BASES = Table(
    "bases",
    {
        "run_id": INT,
        "project": TEXT,
        "key": TEXT,
        "branch": TEXT,
        "commit_sha": TEXT,
        "finished": NUMBER,
        "content": BYTES,
    },
    key=("run_id",),
    indexes=(("project", "key", "finished"),),
)
# Tables of names, whose rows several runs share; then those with rows of one run.
SHARED_TABLES = (SUITES, CASES, EVALUATORS)
RUN_TABLES = (SUITE_RUNS, SERIES, COSTS, TRIALS, SCORES)
TABLES = (RUNS, *SHARED_TABLES, *RUN_TABLES, BASES)


@record
class BaseRow:
    """What makes a run a base of later runs: its branch, and its files as a zip."""

    branch: str
    content: bytes


@record
class RunRows:
    """All rows of one run.

    Attributes:
        run: the row of the table `runs`.
        rows: the rows of the other tables, by the table's name.
        base: None if the run is no base.
    """

    run: Row
    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    base: BaseRow | None = None

    def value(self, column: str) -> Any:
        """A value of the run's row."""
        return self.run[tuple(RUNS.columns).index(column)]

    @property
    def id(self) -> int:
        """The id of the run's row."""
        return int(self.value("id"))

    def base_row(self) -> Row | None:
        """The row of the table `bases`; None if the run is no base."""
        if self.base is None:
            return None
        names = ("id", "project", "key", "commit_sha", "finished")
        run_id, project, key, commit, finished = (self.value(name) for name in names)
        return (run_id, project, key, self.base.branch, commit, finished, self.base.content)
