"""The base run's outputs, as the host tells them to suites that hold battles: what is written, and how it is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic_core import from_json, to_json

from scoregate.core.record import Run, SuiteResult

# The file of the base's outputs. Where it is set, nothing is made a champion in the store: the record is what stays.
CHAMPIONS_VARIABLE = "SCOREGATE_CHAMPIONS"


def ring(suite: str, params: Mapping[str, Any] | None) -> str:
    """Where battles of a suite take place: its id, and in a grid search the parameters."""
    return suite if not params else f"{suite} {to_json(dict(sorted(params.items())), serialize_unknown=True).decode()}"


def champion_lines(base: Run) -> Iterator[bytes]:
    """A line of JSON for each case of the suites that hold battles; of repeats the first.

    Left out are outputs that were shortened or not kept, and suites that share an id, since no case tells whose it is.
    """
    rings = [ring(suite.id, suite.params) for suite in base.suites]
    for name, suite in zip(rings, base.suites, strict=True):
        if rings.count(name) == 1 and any(info.battles for info in suite.evaluators.values()):
            yield from (to_json([name, *pair]) + b"\n" for pair in _outputs(suite))


def _outputs(suite: SuiteResult) -> Iterator[tuple[str, Any]]:
    for case in suite.cases:
        if case.repeat == 0 and case.output is not None and not case.truncated:
            yield case.hash, case.output


def read_champions(lines: Iterable[bytes]) -> dict[tuple[str, str], Any]:
    """The outputs by ring and case."""
    return {(name, case): output for name, case, output in map(from_json, lines)}
