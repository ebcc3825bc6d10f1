"""Which sources a changed file affects."""

from __future__ import annotations

from pathlib import Path

from scoregate.cli.affected import find_affected
from scoregate.cli.file_changes import Change
from scoregate.kernel.run.launch.warm import FileUse
from scoregate.kernel.run.plan import SourceKind, SuiteSource

ROOT = Path("/project")
SOURCES = [SuiteSource(f"evals/{name}.py", SourceKind.PYTHON) for name in ("a", "b")]
COMMAND = SuiteSource("shell", SourceKind.COMMAND)


def use(*read: str, written: str = "", is_known: bool = True) -> FileUse:
    files = frozenset(f"/project/{name}" for name in read)
    return FileUse(files, frozenset([f"/project/{written}"] if written else []), is_known)


USES = {
    "evals/a.py": use("evals/a.py", "helper.py", "data/cases.csv", written="log.json"),
    "evals/b.py": use("evals/b.py", "prompts/system.md"),
}


def affected(*names: str, new: bool = False, sources: list[SuiteSource] = SOURCES) -> set[str] | None:
    found = find_affected(ROOT, [Change(f"/project/{name}", new) for name in names], sources, USES)
    return None if found is None else set(found)


def test_a_file_affects_the_sources_that_read_it() -> None:
    a, b = "evals/a.py", "evals/b.py"
    for names, expected in (
        (["evals/a.py"], {a}),
        (["helper.py"], {a}),
        (["data/cases.csv"], {a}),
        (["prompts/system.md"], {b}),
        (["helper.py", "prompts/system.md"], {a, b}),
        (["README.md", "tests/test_bot.py", "log.json"], set()),
        ([".scoregate/overrides.jsonl"], set()),
        (["data/more.csv"], None),  # a library may read it without Python's knowledge
        (["scoregate.toml"], None),
        (["helper.py", "pyproject.toml"], None),
    ):
        assert affected(*names) == expected, names


def test_a_new_file_can_affect_all() -> None:
    assert affected("json.py", new=True) is None
    assert affected("prompts/new.md", new=True) is None
    assert affected("picture.png", new=True) == set()
    assert affected("helper.py", new=True) == {"evals/a.py"}  # it was deleted and is there again


def test_every_change_affects_unknown_sources() -> None:
    assert affected("README.md", sources=[*SOURCES, COMMAND]) == {"shell"}
    assert affected("helper.py", sources=[*SOURCES, COMMAND]) == {"evals/a.py", "shell"}
    assert affected("log.json", sources=[*SOURCES, COMMAND]) == set()
