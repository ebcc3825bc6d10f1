"""The checks of the gate: what applies rules, and which rows a relative gate watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeAlias, TypeVar

from scoregate.core.comparison.comparison import Comparison
from scoregate.core.comparison.comparison_rows import Row
from scoregate.core.declarations.rule import Rule
from scoregate.core.gate.families import GateLimit
from scoregate.core.gate.finding import Finding, RunContext, SuiteContext
from scoregate.core.records import record

_Context = TypeVar("_Context", RunContext, SuiteContext)


@record
class WatchedRows:
    """A table of rows that a relative gate watches. All watched rows of a run share one error rate.

    Attributes:
        list_rows: the rows of a comparison.
        list_limits: the limits on the row at a place of the table that can make the run red.
        put_rows: the comparison with other rows in the same places.
    """

    list_rows: Callable[[Comparison], Sequence[Row]]
    list_limits: Callable[[int, Row, SuiteContext], Iterator[GateLimit]]
    put_rows: Callable[[Comparison, Sequence[Row]], Comparison]


@record
class Check(Generic[_Context]):
    """What applies one rule, or several that belong together.

    Attributes:
        find: yields the findings for a run or a suite.
        rules: the rules that these findings are of.
        before: the rule before which a feature's findings are reported; None for the end.
        watches: the rows that it watches; None for none.
        in_arms: whether it applies to an arm without a skill, which only shows what the skill changes.
    """

    find: Callable[[_Context], Iterator[Finding]]
    rules: tuple[Rule, ...]
    before: Rule | None = None
    watches: WatchedRows | None = None
    in_arms: bool = False


SuiteCheck: TypeAlias = Check[SuiteContext]
RunCheck: TypeAlias = Check[RunContext]


def order_checks(kernel: Sequence[SuiteCheck], features: Sequence[SuiteCheck]) -> Iterator[SuiteCheck]:
    """The checks of the kernel, and those of features at their places."""
    for check in kernel:
        yield from (each for each in features if each.before in check.rules)
        yield check
    yield from (each for each in features if each.before is None)
