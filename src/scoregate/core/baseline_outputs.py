"""The base run's outputs, as the host tells them to suites that hold battles: what is written, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pydantic_core import from_json, to_json

from scoregate.core.cases import CaseResult
from scoregate.core.run import Run, SuiteResult

# The file of the base's outputs. Where it is set, nothing is made a champion in the store: the record is what stays.
BASELINE_OUTPUTS_VARIABLE = "SCOREGATE_CHAMPIONS"
# Autoblocks' SDKs do not say which of their evaluators hold battles; what they tell of each has these.
_AUTOBLOCKS = "autoblocks-"
_BATTLE = {"baseline", "challenger", "criteria"}


def battle_key(suite: str, params: Mapping[str, Any] | None) -> str:
    """Where battles of a suite take place: its id, and in a grid search the parameters."""
    return suite if not params else f"{suite} {to_json(dict(sorted(params.items())), serialize_unknown=True).decode()}"


def dump_baseline_outputs(base: Run) -> Iterator[bytes]:
    """A line of JSON for each case of the suites that hold battles, or may as Autoblocks' do; of repeats the first.

    Left out are outputs that were shortened or not kept, and suites that share an id, since no case tells whose it is.
    """
    rings = [battle_key(suite.id, suite.params) for suite in base.suites]
    for name, suite in zip(rings, base.suites, strict=True):
        if rings.count(name) == 1 and (champion := _choose_reader(suite)) is not None:
            yield from (to_json([name, *pair]) + b"\n" for pair in _read_outputs(suite, champion))


def _choose_reader(suite: SuiteResult) -> Callable[[CaseResult], Any] | None:
    """How the champion is found in a case of this suite; None where nobody will ask for it."""
    if any(info.battles for info in suite.evaluators.values()):
        return _recorded_output
    return _challenger_text if (suite.sdk or "").startswith(_AUTOBLOCKS) else None


def _read_outputs(suite: SuiteResult, champion: Callable[[CaseResult], Any]) -> Iterator[tuple[str, Any]]:
    for case in suite.cases:
        if case.repeat == 0 and (found := champion(case)) is not None:
            yield case.hash, found


def _recorded_output(case: CaseResult) -> Any:
    return None if case.truncated else case.output


def _challenger_text(case: CaseResult) -> str | None:
    """What fought for the base: the SDK alone knows the text of an output, and tells it of its battles."""
    told = (evaluation.metadata for evaluation in case.evaluations.values())
    fought = (fields["challenger"] for fields in told if isinstance(fields, Mapping) and fields.keys() >= _BATTLE)
    return next((text for text in (*fought, _recorded_output(case)) if isinstance(text, str)), None)


def read_baseline_outputs(lines: Iterable[bytes]) -> dict[tuple[str, str], Any]:
    """The outputs by ring and case."""
    return {(name, case): output for name, case, output in map(from_json, lines)}
