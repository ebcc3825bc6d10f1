"""Which suites of the base the drift control runs again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.kernel.builders import ExampleSuite, mark_source, run_of, scored

from scoregate.features.drift.control import _list_suites
from scoregate.kernel.types.runs.dependencies import CarriedFrom


@pytest.mark.parametrize(("origin", "number"), [("carried", 0), ("kept", 0), ("", 1)])
def test_only_suites_that_ran_as_a_whole_have_a_control(origin: str, number: int) -> None:
    run = run_of(ExampleSuite(scored(*[1.0] * 12)))
    (suite,) = run.suites
    suite = mark_source(suite, {1, 2}, **({origin: CarriedFrom("base", "main")} if origin else {}))
    assert len(list(_list_suites(replace(run, suites=(suite,)), run, {"evals/demo.py"}))) == number
