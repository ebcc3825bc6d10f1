"""The outputs of the baseline, which the host passes to suites with battles in a file of JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic_core import from_json, to_json

from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import Run

# The path of the file. If it is set, the store's baseline outputs don't change; the record of the run replaces them.
BASELINE_OUTPUTS_VARIABLE = "SCOREGATE_CHAMPIONS"
# Autoblocks' SDKs don't declare which of their evaluators are battles; the metadata of a battle has these fields.
_AUTOBLOCKS = "autoblocks-"
_BATTLE_FIELDS = {"baseline", "challenger", "criteria"}


def battle_key(suite: str, params: Mapping[str, Any] | None) -> str:
    """The key of a suite's baseline outputs: its id, in a grid search with the parameters."""
    return suite if not params else f"{suite} {to_json(dict(sorted(params.items())), serialize_unknown=True).decode()}"


def dump_baseline_outputs(base: Run) -> Iterator[bytes]:
    """A JSON line for the first trial of each case in suites with battles; Autoblocks' suites may have some.

    Left out are outputs that were truncated or not kept, and suites with the same key, since their cases can't be
    attributed.
    """
    keys = [battle_key(suite.id, suite.params) for suite in base.suites]
    for key, suite in zip(keys, base.suites, strict=True):
        has_battles = any(info.battles for info in suite.evaluators.values())
        is_autoblocks = (suite.sdk or "").startswith(_AUTOBLOCKS)
        if keys.count(key) > 1 or not (has_battles or is_autoblocks):
            continue
        for case in suite.cases:
            if case.repeat > 0:
                continue
            output = _recorded_output(case) if has_battles else _challenger_text(case)
            if output is not None:
                yield to_json([key, case.hash, output]) + b"\n"


def _recorded_output(case: CaseResult) -> Any:
    return None if case.truncated else case.output


def _challenger_text(case: CaseResult) -> str | None:
    """The output as text: from the metadata of a battle, since only Autoblocks' SDK knows it, else a recorded text."""
    for evaluation in case.evaluations.values():
        metadata = evaluation.metadata
        is_battle = isinstance(metadata, Mapping) and metadata.keys() >= _BATTLE_FIELDS
        if metadata is not None and is_battle and isinstance(metadata["challenger"], str):
            return metadata["challenger"]
    output = _recorded_output(case)
    return output if isinstance(output, str) else None


def read_baseline_outputs(lines: Iterable[bytes]) -> dict[tuple[str, str], Any]:
    """The outputs by `battle_key` and case."""
    return {(key, case): output for key, case, output in map(from_json, lines)}
