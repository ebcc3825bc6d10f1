"""A merged run counts the retries that one machine would have made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scoregate.kernel.job.shards.merge_runs import read_matrix_runs
from scoregate.kernel.job.shards.merge_shards import find_shards
from scoregate.kernel.judge.archive import RunWriter
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd
from scoregate.kernel.types.runs.run_scope import RunScope, RunShard


@pytest.mark.parametrize("shard", [None, RunShard("p", 1, 2, "s")])
def test_a_run_with_damaged_confirmations_counts_as_missing(shard: RunShard | None, tmp_path: Path) -> None:
    """They are stored by a feature, and read late: the merge would end in the middle."""
    with RunWriter(tmp_path / "leg" / "run") as writer:
        writer.finish(Run("id", 0.0, RunEnd(1.0, complete=True), RunCode("0"), RunScope(shard=shard)))
    file = tmp_path / "leg" / "run" / "run.json"

    def count_runs() -> int:
        found = find_shards([tmp_path / "leg"]) if shard else read_matrix_runs([tmp_path / "leg"], expected=1)
        return len(found)

    assert count_runs() == 1
    file.write_text(json.dumps({**json.loads(file.read_text()), "confirmations": [{"suite": 1}]}))
    assert count_runs() == 0
