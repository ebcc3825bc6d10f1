"""The file of a partition, which `scoregate plan` writes and shards read."""

from __future__ import annotations

from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from scoregate.errors import UsageError
from scoregate.kernel.types.sharding.partition import PARTITION_VERSION, Partition, find_partition_problem

PARTITION_FILE = "partition.json"
_MOST_BYTES = 32 * 1024 * 1024
_ADVICE = "Write it again: scoregate plan --shards auto --output FILE"


def dump_partition(partition: Partition) -> bytes:
    """The text of the file. Its schema is docs/partition.schema.json."""
    return to_json(partition, indent=2) + b"\n"


def read_partition(path: Path) -> Partition:
    """Read a partition and check it.

    Raises:
        UsageError: there is no such file, or it holds no valid partition.
    """
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"the partition {path} can't be read: {error.strerror}", advice=_ADVICE) from None
    if len(text) > _MOST_BYTES:
        raise UsageError(f"the partition {path} has more than {_MOST_BYTES:,} bytes", advice=_ADVICE)
    try:
        data = from_json(text)
        version = data.get("schema_version") if isinstance(data, dict) else None
        if isinstance(version, int) and version > PARTITION_VERSION:
            raise UsageError(
                f"the partition {path} has version {version}; this scoregate reads versions up to {PARTITION_VERSION}",
                advice="Use the same version of scoregate in all jobs.",
            )
        partition = TypeAdapter(Partition).validate_python(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))[:100]
        raise UsageError(f"the partition {path} is not valid: {place}: {first['msg']}", advice=_ADVICE) from None
    except ValueError as error:
        raise UsageError(f"the partition {path} is not JSON: {error}", advice=_ADVICE) from None
    if problem := find_partition_problem(partition):
        raise UsageError(f"the partition {path} is not valid: {problem}", advice=_ADVICE)
    return partition
