"""Where a suite starts, and what names such as `module:name` import."""

from __future__ import annotations

import _thread
import json
import sys
from pathlib import Path
from threading import Event
from types import ModuleType
from typing import Any

import pytest

import scoregate
from scoregate.engine.exit_status import is_called_by_script
from scoregate.engine.imports import (
    caller_origin,
    find_caller_file,
    import_target,
    module_name,
    relative_path,
    use_origin,
)
from scoregate.kernel.types.event_values import Origin


def run_in(file: str | Path, text: str, **names: Any) -> Any:
    """The value of `found` after code of this file ran."""
    scope: dict[str, Any] = {"caller_origin": caller_origin, "find_caller_file": find_caller_file, **names}
    exec(compile(text, str(file), "exec"), scope)
    return scope["found"]


def test_the_origin_is_the_line_of_the_users_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCOREGATE_ROOT", raising=False)
    monkeypatch.chdir(tmp_path)
    user, ours = tmp_path / "evals/demo.py", Path(scoregate.__file__).parent / "evals/through.py"
    assert run_in(user, "\n\nfound = caller_origin()") == Origin("evals/demo.py", 3)
    through = {"call": lambda: run_in(ours, "found = caller_origin()")}
    assert run_in(user, "\nfound = caller_origin()", **through) == Origin("evals/demo.py", 2)


def test_frames_of_the_package_are_not_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_ROOT", str(tmp_path))
    ours: dict[str, Any] = {"caller_origin": caller_origin}
    exec(
        compile("def call(): return caller_origin()", str(Path(scoregate.__file__).parent / "through.py"), "exec"), ours
    )
    assert run_in(tmp_path / "a.py", "\n\n\nfound = call()", call=ours["call"]) == Origin("a.py", 4)


def test_a_thread_without_code_of_the_user_has_no_origin() -> None:
    """Such as one that a library in C starts."""
    scope: dict[str, Any] = {
        "find": (caller_origin, find_caller_file, is_called_by_script),
        "found": [],
        "end": Event(),
    }
    text = "def call():\n    try: found.extend(each() for each in find)\n    finally: end.set()"
    exec(compile(text, str(Path(scoregate.__file__).parent / "through.py"), "exec"), scope)
    _thread.start_new_thread(scope["call"], ())
    assert scope["end"].wait(300)
    assert scope["found"] == [None, None, False]


def test_an_origin_can_be_given_where_no_code_starts_the_suite() -> None:
    given = Origin("evals/data.jsonl", 7)
    with use_origin(given):
        assert caller_origin() == given
    assert caller_origin() != given


def test_the_file_of_the_caller_exists(tmp_path: Path) -> None:
    file = tmp_path / "demo.py"
    assert run_in(file, "found = find_caller_file()") is None, "as in a console"
    file.touch()
    assert run_in(file, "found = find_caller_file()") == file


def test_paths_are_relative_to_the_root_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCOREGATE_ROOT", str(tmp_path.parent))
    assert relative_path(str(tmp_path / "a" / "b.py")) == f"{tmp_path.name}/a/b.py"
    monkeypatch.delenv("SCOREGATE_ROOT")
    assert relative_path(str(tmp_path / "a" / "b.py")) == "a/b.py"
    assert relative_path("a/b.py") == "a/b.py"
    assert relative_path("/elsewhere/b.py") == "/elsewhere/b.py"


def test_a_name_imports_an_object_of_a_module() -> None:
    assert import_target("json:dumps") is json.dumps
    assert import_target("json.decoder:JSONDecoder.decode") is json.JSONDecoder.decode
    for name in ("json", "json:", ":dumps", ""):
        with pytest.raises(ValueError, match="it is not written as module:name"):
            import_target(name)
    with pytest.raises(AttributeError):
        import_target("json:nothing")


def test_a_function_of_a_script_has_the_name_of_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert module_name(json.dumps) == "json"

    def task() -> None: ...

    task.__module__ = "__main__"
    main = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert module_name(task) == "__main__", "a prompt has no file"
    main.__file__ = "/home/ana/evals/demo.py"
    assert module_name(task) == "demo"
    assert module_name(json.dumps) == "json"
