"""The published schema of partitions is what the code reads and writes, and readers refuse what is not valid."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from pydantic import VERSION, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from tests.contract.test_event_schema import strip_titles

from scoregate.errors import UsageError
from scoregate.kernel.job.shards.partition_file import dump_partition, read_partition
from scoregate.kernel.types.sharding.partition import Assignment, Partition, make_partition

PATH = Path(__file__).parents[2] / "docs" / "partition.schema.json"
PYDANTIC = tuple(int(part) for part in VERSION.split(".")[:2])
PARTITION = make_partition(
    [
        (61.5, (Assignment("evals/a.py"), Assignment("evals/a.py", "long", 1, 2))),
        (60.0, (Assignment("evals/a.py", "long", 2, 2), Assignment("evals/b.py"))),
    ],
    commit="a" * 40,
    code="b" * 32,
    settings={"repeats": "0123456789abcdef"},
)


@pytest.mark.skipif(PYDANTIC < (2, 13), reason="older versions of pydantic leave out descriptions of fields")
def test_the_published_schema_matches_the_code() -> None:
    schema = {
        "$schema": GenerateJsonSchema.schema_dialect,
        **strip_titles(TypeAdapter(Partition).json_schema(mode="serialization")),
        "title": "A partition of a scoregate run",
    }
    text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("SCOREGATE_WRITE_GOLDENS"):
        PATH.write_text(text, "utf-8")
    assert PATH.read_text("utf-8") == text
    Draft202012Validator.check_schema(json.loads(text))


def test_a_partition_matches_it_and_round_trips(tmp_path: Path) -> None:
    path = tmp_path / "partition.json"
    path.write_bytes(dump_partition(PARTITION))
    Draft202012Validator(json.loads(PATH.read_text("utf-8"))).validate(json.loads(path.read_bytes()))
    assert read_partition(path) == PARTITION
    # Part of the protocol: a runner may compare it between versions of scoregate.
    assert PARTITION.fingerprint == "6c5ec7b31ad8b32c"


def test_invalid_partitions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "partition.json"
    text = dump_partition(PARTITION).decode()
    once, twice = Assignment("evals/a.py"), Assignment("evals/a.py", "long", 1, 2)
    wrong = {
        "": "is not JSON",
        "[]": "is not valid",
        text.replace('"schema_version": 1', '"schema_version": 2'): "has version 2",
        text.replace('"long"', '"other"', 1): "does not match its fingerprint",
        text.replace("61.5", "1e300"): "a duration is not valid",
        **{
            dump_partition(make_partition([(1.0, work)], commit=None, code=None, settings={})).decode(): reason
            for work, reason in {
                (once, once): "two shards run the same part",
                (once, twice): "are not complete",
                (twice, Assignment("evals/a.py", "long", 2, 2)): "no shard runs the other suites",
                (once, Assignment("evals/a.py", "x", 3, 2), Assignment("evals/a.py", "x", 1, 2)): "has no part 3",
            }.items()
        },
        dump_partition(make_partition([], commit=None, code=None, settings={})).decode(): "it has 0 shards",
    }
    for content, reason in wrong.items():
        path.write_text(content, encoding="utf-8")
        with pytest.raises(UsageError, match=reason):
            read_partition(path)
    with pytest.raises(UsageError, match="can't be read"):
        read_partition(tmp_path / "missing.json")
