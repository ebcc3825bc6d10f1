"""Two suites with one name: where they are reported, and where a suite may run again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scoregate.engine import suite_names
from scoregate.engine.suite_names import claim_name
from scoregate.kernel.types.event_values import Origin


@pytest.fixture(autouse=True)
def new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the suites of other tests."""
    monkeypatch.setattr(suite_names, "_origins", {})


def problems(name: str, folder: Path | None, *params: Mapping[str, Any], is_main: bool = False, line: int = 1) -> str:
    taken = claim_name(name, Origin("evals/x.py", line), folder, is_main=is_main, variants=params or (None,))
    return "; ".join(each.message for each in taken)


def test_a_host_and_a_script_report_the_second_suite(tmp_path: Path) -> None:
    for folder, is_main in ((tmp_path, False), (tmp_path / "other", True), (None, True)):
        assert problems("hours", folder, is_main=is_main) == ""
        for line in (5, 9):
            assert problems("hours", folder, is_main=is_main, line=line) == (
                "suite 'hours': a suite with this name ran before (evals/x.py:1); "
                "give each a name of its own, or pass several tasks to one suite"
            )
        assert problems("days", folder, is_main=is_main) == ""


def test_a_suite_can_run_again_in_a_notebook_or_test() -> None:
    assert problems("hours", None) == problems("hours", None) == ""


def test_other_parameters_make_another_suite(tmp_path: Path) -> None:
    assert problems("hours", tmp_path, {"k": 1, "tools": {"b", "a"}}, {"k": 2}) == ""
    assert problems("hours", tmp_path, {"k": 3}) == ""
    assert problems("hours", tmp_path) == ""
    assert "ran before" in problems("hours", tmp_path, {"k": 4}, {"tools": {"a", "b"}, "k": 1})


def test_a_suite_of_unknown_origin_and_no_parameters_is_reported_too(tmp_path: Path) -> None:
    assert claim_name("hours", None, tmp_path) == ()
    (problem,) = claim_name("hours", None, tmp_path)
    assert problem.message.startswith("suite 'hours': a suite with this name ran before; give each")
    assert claim_name("days", None, None) == claim_name("days", None, None) == ()


def test_the_order_of_parameters_makes_no_other_suite(tmp_path: Path) -> None:
    assert problems("hours", tmp_path, {"b": 1, "a": 1}) == ""
    assert "ran before" in problems("hours", tmp_path, {"a": 1, "b": 1})


def test_the_first_suite_with_one_of_the_parameters_is_named(tmp_path: Path) -> None:
    assert problems("hours", tmp_path, {"k": 1}, line=3) == problems("hours", tmp_path, {"k": 2}, line=5) == ""
    assert "(evals/x.py:3)" in problems("hours", tmp_path, {"k": 1}, {"k": 2}, line=7)
