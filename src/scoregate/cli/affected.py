"""What a changed file affects: the sources of suites that run again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath

from scoregate.cli.file_changes import Change
from scoregate.kernel.run.launch.warm import UNKNOWN, FileUse
from scoregate.kernel.run.plan import SuiteSource

_SETTINGS = {"scoregate.toml", "pyproject.toml", "package.json", "setup.cfg", "setup.py"}
# Some libraries read such files without Python's knowledge, such as Polars and DuckDB.
_DATA = {
    *(".csv", ".tsv", ".parquet", ".arrow", ".feather", ".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".toml"),
    *(".xlsx", ".db", ".sqlite", ".duckdb", ".txt", ".gz", ".zst", ".zip"),
}
_CODE_AND_TEXTS = {".py", ".md", ".jinja", ".jinja2", ".j2", ".prompt", ".xml", ".html"}
_STORE = ".scoregate"


def find_affected(
    root: Path, changes: Iterable[Change], sources: Sequence[SuiteSource], uses: Mapping[str, FileUse]
) -> frozenset[str] | None:
    """The paths of the sources that changes affect; None if they may affect all.

    A change of settings affects all. A source whose use of files is unknown, such as a command, is affected by every
    change. A new file of code, data or text affects all, since an import or a search may find it. Other files affect
    the sources that read them; if none does, data affects all, and a Python file or a text affects none.

    Args:
        root: the project.
        changes: the changed files.
        sources: the sources of the project.
        uses: what sources did with files, by their paths.
    """
    affected: set[str] = set()
    known = {source.path: uses.get(source.path, UNKNOWN) for source in sources}
    for change in changes:
        path = PurePath(change.path).relative_to(root)
        # A suite must not start itself again by what it writes.
        if any(change.path in use.written for use in known.values()):
            continue
        readers = {name for name, use in known.items() if change.path in use.read or path == PurePath(name)}
        suffixes = _DATA | _CODE_AND_TEXTS if change.is_new else _DATA
        is_input = path.suffix.lower() in suffixes and path.parts[0] != _STORE
        if path.name in _SETTINGS or (not readers and is_input):
            return None
        affected |= readers | {name for name, use in known.items() if not use.is_known}
    return frozenset(affected)
