"""Records with fields of wrong types: each is a row, counted, or a problem with its line; nothing raises."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from tests.integration.trace_files.conftest import DATA

from scoregate.trace_files.rows import KnownRows, RowOptions, collect_rows

WRONG = (
    None, "", 0, -1, 1e308, True, [], {}, [[]], [None], {"role": 1}, {"a": {"b": [1]}}, "{", "[1,", "\ud800",
    "x" * 1_000,
    [{"role": "user"}], [{"message": {}}], {"messages": None}, {"messages": [1]}, {"choices": [None]},
    {"generations": [[{}]]}, 10**30, "2026-99-99", {"content": 5, "role": "user"}, [{"type": "function_call"}],
    [{"role": "assistant", "tool_calls": 5}], {"kwargs": {"content": []}, "id": []},
)  # fmt: skip


def mutate(value: Any, rng: random.Random, rate: float) -> Any:
    if rng.random() < rate:
        return rng.choice(WRONG)
    if isinstance(value, dict):
        return {key: mutate(each, rng, rate) for key, each in value.items() if rng.random() > rate / 4}
    return [mutate(each, rng, rate) for each in value] if isinstance(value, list) else value


def test_wrong_types_never_raise_and_every_trace_is_counted(tmp_path: Path) -> None:
    exports = {
        name: [json.loads(line) for line in (DATA / name).read_text().splitlines()]
        for name in ("otlp-node.jsonl", "langsmith.jsonl", "braintrust.jsonl", "phoenix-table.jsonl")
    }
    exports["langfuse.jsonl"] = json.loads((DATA / "langfuse-api.json").read_text())["data"]
    trace = {"id": "t", "timestamp": "2026-11-02", "input": {"a": 1}, "scores": [{"name": "x", "value": 1}]}
    exports["page.jsonl"] = [{"trace": trace, "observations": exports["langfuse.jsonl"][:4]}]
    rng = random.Random(7)
    for name, rows in exports.items():
        kept = wrong = 0
        for number in range(30):
            # Little damage leaves the first parts of some traces, without which there is no row.
            mutated = [mutate(row, rng, 0.12 if number % 2 else 0.01) for row in rows]
            (path := tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in mutated))
            found = collect_rows([path], KnownRows(), RowOptions())
            assert found.traces == found.without_input + found.merged + len(found.candidates), name
            assert all(place.startswith(str(path)) and problem for place, problem in found.problems), name
            kept, wrong = kept + len(found.candidates), wrong + len(found.problems)
        assert kept > 0, name
        assert wrong > 0, name
