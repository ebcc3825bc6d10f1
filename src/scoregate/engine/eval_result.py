"""The result of a suite as users read it: pass rate, scores, cases, tables and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NoReturn, overload

from scoregate.engine.terminal import one_line
from scoregate.errors import MissingExtra
from scoregate.kernel.types.media import show_references
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.case_means import count_passes
from scoregate.kernel.types.runs.cases import CaseResult, Status
from scoregate.kernel.types.runs.run import RunCode, RunEnd, SuiteResult

if TYPE_CHECKING:
    from scoregate.kernel.compare.comparison_rows import Row
    from scoregate.kernel.compare.variants import VariantRanking

_BAD = (Status.FAILED, Status.ERRORED)
_MOST_SCORES = 8
_MOST_HTML_ROWS, _LONGEST_HTML_TEXT = 100, 300


class CaseList(Sequence[CaseResult]):
    """The trials of a suite, which are read from disk each time. It is also an iterator, for `next(result.cases)`.

    Args:
        read: reads the trials.
        count: the number of trials.
    """

    def __init__(self, read: Callable[[], Iterable[CaseResult]] | None, count: int) -> None:
        self._read, self._count = read, count
        self._rest: Iterator[CaseResult] | None = None

    def __iter__(self) -> Iterator[CaseResult]:
        return self._open() if self._rest is None else self._rest

    def __next__(self) -> CaseResult:
        if self._rest is None:
            self._rest = self._open()
        return next(self._rest)

    def _open(self) -> Iterator[CaseResult]:
        return iter(self._read() if self._read is not None else ())

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> CaseResult: ...

    @overload
    def __getitem__(self, index: slice) -> list[CaseResult]: ...

    def __getitem__(self, index: int | slice) -> CaseResult | list[CaseResult]:
        if isinstance(index, slice):
            return list(self._open())[index]
        number = index + self._count if index < 0 else index
        case = next(islice(self._open(), number, None), None) if number >= 0 else None
        if case is None:
            raise IndexError(f"there are {self._count} trials, and none at {index}")
        return case

    def __repr__(self) -> str:
        return f"<{self._count} trials>"

    def _repr_html_(self) -> str:
        """A table for notebooks: failing cases first."""
        cases = list(self._open())
        return _html_cases(cases, list(dict.fromkeys(name for case in cases for name in case.scores)))


@dataclass(frozen=True, slots=True)
class ResultComparison:
    """The comparison of two results.

    Attributes:
        rows: a row for each scorer, with `evaluator`, `mean`, `base`, `delta`, the interval `low` to `high`, and
            `label`.
        newly_failing: the names of the cases that passed in the other result and fail now.
        newly_passing: the names of the cases that failed in the other result and pass now.
    """

    rows: tuple[Row, ...]
    newly_failing: tuple[str, ...]
    newly_passing: tuple[str, ...]

    def __str__(self) -> str:
        lines = [
            f"{row.evaluator}: {_number(row.base)} → {_number(row.mean)} ({row.label.replace('_', ' ')})"
            for row in self.rows
        ]
        lines += [f"newly failing: {one_line(name, _LONGEST_HTML_TEXT)}" for name in self.newly_failing]
        lines += [f"newly passing: {one_line(name, _LONGEST_HTML_TEXT)}" for name in self.newly_passing]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<ResultComparison {one_line('; '.join(str(self).splitlines()), _LONGEST_HTML_TEXT)}>"

    def _repr_html_(self) -> str:
        """A table for notebooks: a row for each scorer, and the cases that changed."""
        table = _html_table(("", "before", "now", "change", "interval", "result"), map(_list_row_cells, self.rows))
        lists = (("newly failing", self.newly_failing), ("newly passing", self.newly_passing))
        return table + "".join(
            f"<p>{_html_text(f'{title}: {name}')}</p>" for title, names in lists for name in names[:_MOST_HTML_ROWS]
        )


def _list_row_cells(row: Row) -> tuple[str, ...]:
    from scoregate.kernel.compare.estimates import Estimate

    change = "" if row.delta is None else f"{row.delta:+.3f}"
    known = row.estimate if isinstance(row.estimate, Estimate) else None
    interval = "" if known is None else f"{known.low:+.3f} to {known.high:+.3f}"
    return row.evaluator, _number(row.base), _number(row.mean), change, interval, row.label.replace("_", " ")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


@record
class EvalResult(SuiteResult):
    """The result of `evaluate` and `run_test_suite`. With repeats, `cases` has each trial of a case.

    `passed` is true if the suite finished, something was scored or waits for people, and no case failed or has an
    error. `errors` are the problems of the suite itself.
    """

    variants: tuple[EvalResult, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether it finished, something was scored or waits for people, and no case failed or has an error."""
        own = super(EvalResult, self).passed  # noqa: UP008 - `record` makes the class anew, so `super()` fails
        return all(variant.passed for variant in self.variants) if self.variants else own

    @property
    def pass_rate(self) -> float | None:
        """The share of a case's trials that passed, of those that passed or failed, averaged over cases.

        None without such trials. Trials with an error are in neither, as in the gate's pass rate; `failed` has them.
        """
        return count_passes([self.columns]).rate

    @property
    def scores(self) -> dict[str, float]:
        """The mean score of each scorer that gave one, from 0 to 1: over cases, each the mean of its trials."""
        means = ((name, self.mean(name)) for name in self.evaluators)
        return {name: mean for name, mean in means if mean is not None}

    @property
    def cases(self) -> CaseList:
        """The trials, each with `input`, `output`, `expected`, `scores`, `reasons`, `errors` and `status`.

        They are in the order in which they finished. They are read from disk each time; `list(result.cases)` keeps
        them in memory. Of several tasks or a grid search, they are the trials of all `variants`.
        """
        if self.variants:
            count = sum(len(each.columns) for each in self.variants)
            return CaseList(lambda: chain.from_iterable(each.cases for each in self.variants), count)
        return CaseList(self.trials.read, len(self.columns))

    @property
    def failed(self) -> list[CaseResult]:
        """The trials that failed or have an error."""
        return [case for case in self.cases if case.status in _BAD]

    def to_pandas(self) -> Any:
        """The trials as a `pandas.DataFrame`, with a column for each scorer.

        Several variants have a column with their names.

        Raises:
            MissingExtra: pandas is not installed.
        """
        try:
            pandas: Any = import_module("pandas")
        except ImportError:
            raise MissingExtra(
                "to_pandas needs the package pandas, which is not installed", advice="Run: pip install pandas"
            ) from None
        if self.variants:
            results = self.by_variant.items()
            rows = [{"variant": name, **each._to_record(case)} for name, each in results for case in each.cases]
            return pandas.DataFrame(rows)
        return pandas.DataFrame([self._to_record(case) for case in self.cases])

    def _to_record(self, case: CaseResult) -> dict[str, Any]:
        return {
            "id": case.hash,
            "name": case.name,
            "repeat": case.repeat,
            "status": str(case.status),
            "input": _shown_input(case),
            "expected": case.expected,
            "output": case.output,
            "duration_s": None if case.duration_ms is None else case.duration_ms / 1000,
            "tags": list(case.tags),
            **{name: case.scores.get(name) for name in self.evaluators},
        }

    def compare(self, other: SuiteResult) -> ResultComparison:
        """Compare with another result, such as one with another model; cases are paired by their identity.

        Args:
            other: the result to compare with.

        Raises:
            ValueError: one of them is a grid search; compare its `variants`.
        """
        from scoregate.kernel.compare.comparison import compare
        from scoregate.kernel.types.runs.run import Run
        from scoregate.version import __version__

        if self.variants or (isinstance(other, EvalResult) and other.variants):
            raise ValueError("a grid search has several results; compare two of its `variants`")
        base_suite = replace(copy_result(other), id=self.id, params=self.params)
        end, code = RunEnd(0), RunCode(__version__)
        run, base = (Run(name, 0, end, code, suites=(suite,)) for name, suite in (("run", self), ("base", base_suite)))
        comparison = compare(run, base)
        names = {(case.hash, case.repeat): case.name or case.hash for case in self.cases}
        keys = list(zip(self.columns.hashes, self.columns.repeats, strict=True))
        return ResultComparison(
            comparison.rows,
            tuple(names[keys[flip.row]] for flip in comparison.newly_failing),
            tuple(names[keys[flip.row]] for flip in comparison.newly_passing),
        )

    @property
    def by_variant(self) -> dict[str, EvalResult]:
        """The results of several tasks by their names, or of a grid search by the parameters: `model=small, k=3`.

        Empty without tasks by name or parameters.
        """
        from scoregate.kernel.compare.variants import list_names

        variants = self.variants or ((self,) if self.params else ())
        return dict(zip(list_names(variants), variants, strict=True))

    @property
    def rankings(self) -> tuple[VariantRanking, ...]:
        """The ranking of the variants by each scorer, those with a threshold first; empty without variants.

        Printed, a ranking is one line: `contains: a and c can't be distinguished at 60 cases. …`.
        """
        from scoregate.kernel.compare.variants import rank_suites
        from scoregate.kernel.types.runs.policy import Criteria

        return tuple(rank_suites(self.variants, lambda _: Criteria()))

    @property
    def best(self) -> EvalResult | None:
        """The variant that is significantly better than all others by `rankings[0]`; None if there is no such one.

        `rankings[0].candidates` lists the variants that may be the best.
        """
        first = next(iter(self.rankings), None)
        if first is None or first.best is None:
            return None
        return self.by_variant[first.best.name]

    if not TYPE_CHECKING:  # type checkers refuse `await` for a class without this method

        def __await__(self) -> NoReturn:
            raise TypeError("the result of evaluate and run_test_suite is ready when they return; remove `await`")

    def __repr__(self) -> str:
        return f"<EvalResult {one_line(self._describe(), _LONGEST_HTML_TEXT)}>"

    def _describe(self) -> str:
        if self.skipped or self.variants:
            contents = "skipped" if self.skipped else f"{len(self.variants)} variants"
            return f"{self.label}: {contents}"
        counts = {status: self.columns.count(status) for status in Status}
        parts = [f"{count} {status}" for status, count in counts.items() if count] or ["no cases"]
        parts += [f"{name} {mean:.3f}" for name, mean in list(self.scores.items())[:_MOST_SCORES]]
        if self.errors:
            parts.append("1 error of the suite" if len(self.errors) == 1 else f"{len(self.errors)} errors of the suite")
        return f"{self.label}: {', '.join(parts)}"

    def _repr_html_(self) -> str:
        """A table for notebooks: failing cases first."""
        if self.variants:
            return "".join(each._repr_html_() for each in self.variants)
        problems = "".join(f"<p>{_html_text(error.message)}</p>" for error in self.errors)
        table = _html_cases(list(self.cases), list(self.evaluators))
        return f"<p>{_html_text(self._describe())}</p>{problems}{table}"


def make_skipped_result(suite: str) -> EvalResult:
    """The result of a suite that a selection leaves out."""
    return EvalResult(suite, suite, skipped=True)


def copy_result(result: SuiteResult) -> EvalResult:
    """The same result with the methods for users."""
    return EvalResult(**{each.name: getattr(result, each.name) for each in fields(SuiteResult)})


def _shown_input(case: CaseResult) -> Any:
    """The field `input` of a case; without one, the whole case."""
    value = case.input
    return value["input"] if isinstance(value, dict) and "input" in value else value


def _html_cases(cases: Sequence[CaseResult], names: Sequence[str]) -> str:
    """Cases as a table, failing ones first."""
    first = sorted(cases, key=lambda case: case.status not in _BAD)[:_MOST_HTML_ROWS]
    table = _html_table(
        ("", "input", "output", "expected", *names, "reasons"), (_list_cells(each, names) for each in first)
    )
    return f"{table}<p>… and {len(cases) - len(first)} more</p>" if len(cases) > len(first) else table


def _list_cells(case: CaseResult, names: Sequence[str]) -> tuple[str, ...]:
    texts = [_text(each) for each in (_shown_input(case), case.output, case.expected)]
    scores = [_number(case.scores.get(name)) for name in names]
    return (str(case.status), *texts, *scores, "; ".join(f"{name}: {reason}" for name, reason in case.reasons.items()))


def _html_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{_html_text(each)}</th>" for each in heads)
    body = "".join(f"<tr>{''.join(f'<td>{_html_text(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _text(value: Any) -> str:
    value = show_references(value)
    return "" if value is None else value if isinstance(value, str) else repr(value)


def _html_text(text: str) -> str:
    from html import escape

    return escape(one_line(text[: 4 * _LONGEST_HTML_TEXT], _LONGEST_HTML_TEXT))
