"""The calls of models that the gateway counted: rows by suite, evaluator and model, and their sums."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TypeAlias

from scoregate.kernel.report.text import display_name
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs import number_format
from scoregate.kernel.types.runs.model_calls import CallTotals, ModelCalls, sum_calls
from scoregate.kernel.types.runs.number_format import NONE
from scoregate.kernel.types.runs.run import Run

# The counts that are zero in most runs, with their headings.
_RARE = {
    "cached": "Cached",
    "replayed": "Replayed",
    "retried": "Retried",
    "refused": "Refused",
    "failed": "Failed",
    "recovered": "Recovered",
    "waited_s": "Waited",
}


@record
class CallsRow:
    """The calls of one model by one evaluator of a suite.

    Attributes:
        suite: the label of the suite; the name of the script if that has several suites, or none.
        counts: the counts.
        base: the counts of the baseline; None if it has none.
    """

    suite: str
    counts: ModelCalls
    base: ModelCalls | None = None

    @property
    def evaluator(self) -> str | None:
        """The evaluator; None for the function under test."""
        return self.counts.evaluator or None

    @property
    def model(self) -> str:
        """The provider and the model: `openai/gpt-4o`."""
        return display_name("/".join(filter(None, (self.counts.provider, self.counts.model))))

    @property
    def calls(self) -> str:
        """The number of calls, with its change from the baseline: `1,204 (+4)`."""
        return f"{self.counts.calls:,}{_format_more_calls(self.counts, self.base)}"

    @property
    def cost(self) -> str:
        """The cost, with its change if both runs asked the provider for each answer: `$0.42 (+$0.03)`."""
        return f"{_format_cost(self.counts)}{_format_cost_change(self.counts, self.base)}"

    @property
    def tokens(self) -> str:
        """The input and output tokens of the answers of the provider."""
        return number_format.tokens(self.counts.input_tokens + self.counts.output_tokens)

    @property
    def p50(self) -> str:
        """The median time of a call."""
        return _format_milliseconds(self.counts.p50_ms)

    @property
    def p95(self) -> str:
        """The 95th percentile of the time of a call."""
        return _format_milliseconds(self.counts.p95_ms)

    @property
    def notes(self) -> str:
        """The counts that are zero in most runs, as a text: `160 cached, waited 41.2 s for limits`."""
        return ", ".join(_describe_rare(self.counts))

    def rare(self, name: str) -> str:
        """A count that is zero in most runs, named as in `ModelCalls`; empty for zero."""
        return _format_rare(self.counts, name)


@record
class CallsTable:
    """The calls of a run.

    Attributes:
        rows: the most expensive ones first, then by the number of calls.
        totals: their sums.
        base: the sums of the baseline; None if it has no counts.
        rare: the counts that are not zero everywhere, with their headings.
    """

    rows: tuple[CallsRow, ...] = ()
    totals: CallTotals = field(default_factory=CallTotals)
    base: CallTotals | None = None
    rare: tuple[tuple[str, str], ...] = ()

    @property
    def summary(self) -> str:
        """The sums in a line: `1,204 calls (+4), 181 k tokens, $0.42 (+$0.03), 12 retried`."""
        return ", ".join(describe_totals(self.totals, self.base))


def build_calls_table(run: Run, baseline: Run | None) -> CallsTable:
    """Build the table of the calls that the gateway counted; without rows if there was no gateway."""
    if not run.model_calls:
        return CallsTable()
    before = {_group(calls): calls for calls in baseline.model_calls} if baseline is not None else {}
    labels = _label_scripts(run)
    rows = sorted(
        (CallsRow(labels.get(calls.suite, calls.suite), calls, before.get(_group(calls))) for calls in run.model_calls),
        key=lambda row: (-row.counts.cost, -row.counts.calls, _group(row.counts)),
    )
    rare = tuple((name, heading) for name, heading in _RARE.items() if any(row.rare(name) for row in rows))
    return CallsTable(tuple(rows), sum_calls(run.model_calls), sum_calls(before.values()) if before else None, rare)


def _group(calls: ModelCalls) -> tuple[str, str, str, str]:
    return calls.suite, calls.evaluator, calls.provider, calls.model


def _label_scripts(run: Run) -> dict[str, str]:
    """The label of the suite of each script that has only one."""
    labels: dict[str, list[str]] = {}
    for suite in run.suites:
        if suite.script is not None:
            labels.setdefault(suite.script, []).append(suite.label)
    return {script: names[0] for script, names in labels.items() if len(names) == 1}


def describe_totals(totals: CallTotals, base: CallTotals | None = None) -> Iterator[str]:
    """The sums of calls: `1,204 calls`, `181 k tokens`, `$0.42`, and what else is not zero.

    Args:
        totals: the sums.
        base: the sums of the baseline, from which calls and cost show their change.
    """
    yield number_format.count(totals.calls, "call") + _format_more_calls(totals, base)
    if tokens := totals.input_tokens + totals.output_tokens:
        yield f"{number_format.tokens(tokens)} tokens"
    if (cost := _format_cost(totals)) != NONE:
        yield cost + _format_cost_change(totals, base)
    if totals.unpriced:
        yield f"{totals.unpriced:,} without a known price"
    yield from _describe_rare(totals)


_Counts: TypeAlias = ModelCalls | CallTotals


def _format_more_calls(counts: _Counts, base: _Counts | None) -> str:
    """The change in the number of calls: ` (+4)`; empty without one."""
    change = 0 if base is None else counts.calls - base.calls
    return f" ({'−' if change < 0 else '+'}{abs(change):,})" if change else ""


def _format_cost(counts: _Counts) -> str:
    """The cost; `–` if no price is known."""
    return NONE if counts.unpriced and not counts.cost else number_format.cost(counts.cost)


def _format_cost_change(counts: _Counts, base: _Counts | None) -> str:
    """The change in cost: ` (+$0.03)`; empty if an answer of either run was stored, or has no known price."""
    if base is None or any(each.cached or each.replayed or each.unpriced for each in (counts, base)):
        return ""
    change = number_format.cost_change(counts.cost - base.cost)
    return "" if change == "±0" else f" ({change})"


def _format_milliseconds(value: float | None) -> str:
    return NONE if value is None else number_format.duration(value / 1000)


def _describe_rare(counts: _Counts) -> Iterator[str]:
    for name in _RARE:
        if text := _format_rare(counts, name):
            yield f"waited {text} for limits" if name == "waited_s" else f"{text} {name}"


def _format_rare(counts: _Counts, name: str) -> str:
    value = getattr(counts, name)
    if name == "waited_s":
        return number_format.duration(value) if value >= 0.0005 else ""
    return f"{value:,}" if value else ""
