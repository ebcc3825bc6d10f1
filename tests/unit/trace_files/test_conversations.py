"""Rows of one session have the same `conversation`, which doesn't tell the session's id."""

from __future__ import annotations

import json
from pathlib import Path

from scoregate.kernel.types.runs.clusters import find_cluster
from scoregate.trace_files.rows import KnownRows, RowOptions, collect_rows


def test_rows_of_one_session_are_of_one_conversation(tmp_path: Path) -> None:
    runs = [
        {"id": f"r{number}", "run_type": "chain", "name": "shop", "start_time": f"2026-11-02T09:0{number}:00"}
        | {"inputs": {"question": question}, "outputs": {"output": "At nine."}, "extra": {"metadata": metadata}}
        for number, (question, metadata) in enumerate(
            [
                ("When do you open on Sunday?", {"session_id": "ann@example.com"}),
                ("Do you ship to Peru?", {}),
                ("Is there parking near by?", {"session_id": "ann@example.com"}),
                ("What does shipping cost?", {"session_id": "bob"}),
            ]
        )
    ]
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(run) + "\n" for run in reversed(runs)))
    rows = [each.row for each in collect_rows([path], KnownRows(), RowOptions()).candidates]
    clusters = {row["input"]: find_cluster("source.conversation", row, "", "") for row in rows}
    assert [clusters[run["inputs"]["question"]] for run in runs] == ["r0", None, "r0", "r3"]
    assert "ann@example.com" not in json.dumps(rows)
