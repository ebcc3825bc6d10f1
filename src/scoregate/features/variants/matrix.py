"""The matrix of variants: the values of one parameter in rows, those of another one in columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import sqrt
from typing import Any, TypeAlias

from scoregate.kernel.compare.pairing import Side, case_clusters, score_side, sum_clusters
from scoregate.kernel.compare.statistics.intervals import mean_score_interval, measure_spread
from scoregate.kernel.compare.variants import VariantRanking, VariantScore, VariantState, number_equal
from scoregate.kernel.report.text import display_name
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.kernel.types.suite import TASK

MODEL = "model"
"""The parameter that has the columns, unless tasks have the rows."""
_LONGEST = 60
Params: TypeAlias = Mapping[str, Any]


@record
class MatrixCell:
    """One variant.

    Attributes:
        score: its row in the ranking.
        interval: the 95 % interval of its mean score, in [0, 1]; None without scores.
        cases: the number of cases that the mean is of.
        cost: the cost of all model calls per case, in US dollars; None if unknown.
        is_marked: whether the best variant is among those that are marked, with 95 % confidence. None is marked if all
            may be the best.
    """

    score: VariantScore
    interval: tuple[float, float] | None
    cases: int
    cost: float | None
    is_marked: bool


@record
class MatrixRow:
    """The variants with one value of the parameter of the rows, and with equal values of the parameters without axis.

    Attributes:
        name: the value.
        others: the values of the parameters without axis: `k=3, temperature=0`; empty without any.
        cells: a cell for each column; None where there is no variant.
    """

    name: str
    others: str
    cells: tuple[MatrixCell | None, ...]


@record
class VariantMatrix:
    """All variants of a ranking. With one parameter there is one column, and `column_parameter` is None."""

    row_parameter: str
    column_parameter: str | None
    columns: tuple[str, ...]
    rows: tuple[MatrixRow, ...]


def build_matrix(ranking: VariantRanking, suites: Sequence[SuiteResult]) -> VariantMatrix:
    """Arrange the variants of a ranking in the order of the run.

    Args:
        ranking: the ranking.
        suites: the suites of its run.
    """
    labels = {row.label for row in ranking.rows}
    variants = [suite for suite in suites if suite.label in labels]
    names = _name_values([suite.params or {} for suite in variants])
    row_parameter, column_parameter = choose_axes({name: len(values) for name, values in names.items()})
    others = [name for name in names if name not in (row_parameter, column_parameter)]
    columns = {"": ""} if column_parameter is None else names[column_parameter]
    cells = dict(_build_cells(ranking, variants))
    rows: dict[tuple[str, ...], dict[str, MatrixCell]] = {}
    for suite in variants:
        params = suite.params or {}
        column = _key(params, column_parameter)
        place = tuple(_key(params, name) for name in (row_parameter, *others))
        while column in rows.get(place, ()):  # another variant with the same parameters
            place = (*place, "")
        rows.setdefault(place, {})[column] = cells[suite.label]

    def build_row(place: tuple[str, ...], found: Mapping[str, MatrixCell]) -> MatrixRow:
        values = (f"{_shorten(name)}={names[name][key]}" for name, key in zip(others, place[1:], strict=False))
        return MatrixRow(names[row_parameter][place[0]], ", ".join(values), tuple(map(found.get, columns)))

    return VariantMatrix(
        _shorten(row_parameter),
        None if column_parameter is None else _shorten(column_parameter),
        tuple(columns.values()),
        tuple(build_row(place, found) for place, found in rows.items()),
    )


def choose_axes(varying: Mapping[str, int]) -> tuple[str, str | None]:
    """The parameters of rows and columns: the two with the most values, of equal ones the first.

    Tasks have the rows, and models the columns; else the first parameter has the rows.

    Args:
        varying: the number of values of each parameter that has several.

    Returns:
        Their names; the second is None if there is only one.
    """
    most = sorted(varying, key=lambda name: -varying[name])[:2]
    first, *more = [name for name in varying if name in most]
    if not more:
        return first, None
    (second,) = more
    is_turned = second == TASK or (first == MODEL and second != TASK)
    return (second, first) if is_turned else (first, second)


def _name_values(variants: Sequence[Params]) -> dict[str, dict[str, str]]:
    """The texts of the values of each parameter that has several; of the first one, if all variants are equal."""
    parameters = dict.fromkeys(name for params in variants for name in params)
    texts = {name: _number_values({_key(each, name): _show(each, name) for each in variants}) for name in parameters}
    varying = {name: values for name, values in texts.items() if len(values) > 1}
    return varying or dict(list(texts.items())[:1])


def _key(params: Params, name: str | None) -> str:
    """A value as a key, since values may be lists; empty without one."""
    return "" if name is None or name not in params else repr(params[name])


def _show(params: Params, name: str) -> str:
    return _shorten(str(params[name])) if name in params else number_format.NONE


def _shorten(text: str) -> str:
    return display_name(text, _LONGEST)


def _number_values(texts: Mapping[str, str]) -> dict[str, str]:
    """The texts by key; equal ones get a number."""
    return dict(zip(texts, number_equal(list(texts.values())), strict=True))


def _build_cells(ranking: VariantRanking, variants: Sequence[SuiteResult]) -> Iterator[tuple[str, MatrixCell]]:
    scores = {row.label: row for row in ranking.rows}
    sides = {suite.label: score_side([suite.columns], ranking.evaluator) for suite in variants}
    compared = [label for label in sides if scores[label].state is not VariantState.NOT_COMPARABLE]
    # The means of a ranking are of the cases that all variants share, unless it has none.
    shared: set[str] | None = None
    if ranking.cases:
        shared = set.intersection(*(set(sides[label].means) for label in compared))
    has_losers = any(row.state is VariantState.WORSE for row in ranking.rows)
    for suite in variants:
        score, side = scores[suite.label], sides[suite.label]
        cases = shared if shared is not None and suite.label in compared else side.means.keys()
        yield (
            suite.label,
            MatrixCell(
                score,
                None if score.mean is None else _measure_interval(side, cases, suite.columns),
                len(cases),
                None if score.cost is None else score.cost / max(1, len(set(suite.columns.hashes))),
                score.state is VariantState.BEST or (score.state is VariantState.CANDIDATE and has_losers),
            ),
        )


def _measure_interval(side: Side, cases: Collection[str], columns: Columns) -> tuple[float, float]:
    """The interval of the mean of these cases; a cluster counts as one."""
    means = {case: mean for case, mean in side.means.items() if case in cases}
    spread = measure_spread(tuple(sum_clusters(list(means), list(means.values()), case_clusters(columns))))
    deviation = sqrt(spread.squares / spread.df) if spread.df else 0.0
    return mean_score_interval(min(max(spread.mean, 0.0), 1.0), deviation, spread.clusters)
