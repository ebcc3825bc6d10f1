"""Tables of dependencies: merged among runs and shards, and checked when they are read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scoregate.kernel.types.runs import dependencies as module
from scoregate.kernel.types.runs.dependencies import (
    ROWS,
    Dependency,
    RunDependencies,
    ScriptDependencies,
    add_earlier_uses,
    check_dependencies,
    is_relative,
    merge_dependencies,
    merge_matrix_dependencies,
    merge_shard_dependencies,
)

A, B, C = (Dependency("file", name, name) for name in "abc")


def make(*scripts: ScriptDependencies, table: tuple[Dependency, ...] = (A, B), shared: str = "x") -> RunDependencies:
    return RunDependencies(table, scripts, {"lock": shared}, {"md": "y"})


def show(dependencies: RunDependencies) -> dict[str, list[str]]:
    """The paths that each script used."""
    return {each.script: [dependencies.table[use].path for use in each.uses] for each in dependencies.scripts}


def test_scripts_of_another_run_are_added_with_what_they_used() -> None:
    own = make(ScriptDependencies("z", "l", (1, 0)))
    other = make(ScriptDependencies("m", "l", (0, 1)), ScriptDependencies("n", "l", (0,)), table=(C, B), shared="other")
    merged = merge_dependencies(own, other, {"m"})
    assert (merged.table, list(show(merged).items())) == ((A, B, C), [("m", ["c", "b"]), ("z", ["b", "a"])])
    assert merged.shared == {"lock": "x"}
    assert merge_dependencies(own, other, set()) == own
    assert (own.is_recorded, RunDependencies().is_recorded) == (True, False)
    assert [each.script for each in merged.find_scripts("m")] == ["m"]


def test_what_an_earlier_run_used_is_added_except_for_rows() -> None:
    rows, newer = Dependency(ROWS, "d", "d"), B._replace(digest="new")
    own = make(ScriptDependencies("s", "l", (0,), ("m",), unknown="why"), ScriptDependencies("t", "l"), table=(newer,))
    known = ScriptDependencies("s", "l", (0, 1, 2, 3), ("k", "m"), native="n", unknown="old")
    earlier = make(known, ScriptDependencies("t", "l", (0,)), table=(A, B, C, rows))
    added = add_earlier_uses(own, earlier, {"s"})
    assert show(added) == {"s": ["b", "a", "c"], "t": []}
    assert added.table == (newer, A, C)
    script = added.scripts[0]
    assert (script.modules, script.native, script.unknown) == (("k", "m"), "n", "why")
    assert add_earlier_uses(own, earlier, set()) == own


def test_a_script_of_several_shards_depends_on_what_it_used_in_each() -> None:
    first, second = make(ScriptDependencies("s", "l", (0,))), make(ScriptDependencies("s", "l", (1,)))
    merged = merge_shard_dependencies([(first, {"s"}), (second, {"s", "t"})])
    assert [(each.script, [merged.table[use].path for use in each.uses]) for each in merged.scripts] == [
        ("s", ["a"]), ("s", ["b"]), ("t", []),
    ]  # fmt: skip
    assert merged.scripts[2].unknown == "a shard did not record it"
    silent = merge_shard_dependencies([(RunDependencies(), {"t"}), (first, {"s"})])
    assert {each.script: each.unknown for each in silent.scripts} == {"s": "", "t": "a shard did not record it"}
    for other in (replace(second, shared={"lock": "z"}), replace(second, data={})):
        assert merge_shard_dependencies([(first, {"s"}), (other, {"s"})]) == RunDependencies()
    assert merge_shard_dependencies([(RunDependencies(), {"s"})]) == merge_shard_dependencies([]) == RunDependencies()


def test_scripts_of_a_matrix_have_the_name_of_their_run() -> None:
    first, second = make(ScriptDependencies("s", "l", (0,))), make(ScriptDependencies("s", "l", (1,)))
    merged = merge_matrix_dependencies([("one", first), ("none", RunDependencies()), ("two", second)])
    assert show(merged) == {"one: s": ["a"], "two: s": ["b"]}
    assert merged.shared == {"lock": "x"}
    assert merge_matrix_dependencies([("one", first), ("two", replace(second, data={}))]) == RunDependencies()
    assert merge_matrix_dependencies([]) == RunDependencies()


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a/b", True), ("", True), ("a..b", True), ("/a", False), ("a/../b", False), ("..", False), ("a\0", False)],
)
def test_a_path_does_not_lead_out_of_its_folder(path: str, expected: bool) -> None:
    assert is_relative(path) is expected


def test_dependencies_that_a_suite_may_have_written_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    good = make(ScriptDependencies("s", "l", (0, 1), ("m",)))
    check_dependencies(good)
    for wrong, problem in (
        (make(ScriptDependencies("s", "l", (2,))), "a script uses an unknown dependency"),
        (make(ScriptDependencies("s", "l", (-1,))), "a script uses an unknown dependency"),
        (make(table=(Dependency("file", "/a", ""),)), "a path is not in the repository"),
        (make(table=(Dependency("file", "a" * 1_001, ""),)), "a path is too long"),
        (make(table=(Dependency("file", "a", "d" * 1_001),)), "a path is too long"),
        (make(ScriptDependencies("s", "l", (), ("m" * 1_001,))), "a path is too long"),
        (replace(good, shared={"s" * 1_001: ""}), "a path is too long"),
        (replace(good, data={"s" * 1_001: ""}), "a path is too long"),
    ):
        with pytest.raises(ValueError, match=problem):
            check_dependencies(wrong)
    check_dependencies(make(table=(Dependency("file", "a" * 1_000, ""),)))
    for name, size in (("MOST_DEPENDENCIES", 2), ("MOST_USES", 2)):
        monkeypatch.setattr(module, name, size)
        check_dependencies(good)
        monkeypatch.setattr(module, name, size - 1)
        with pytest.raises(ValueError, match="it has too many dependencies"):
            check_dependencies(good)
        monkeypatch.undo()
    monkeypatch.setattr(module, "MOST_DEPENDENCIES", 2)
    with pytest.raises(ValueError, match="it has too many dependencies"):
        check_dependencies(replace(good, shared=dict.fromkeys("abc", "")))
