"""Labels of a run's suites are unique."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate.kernel.types.event_values import Origin
from scoregate.kernel.types.runs.run import SuiteResult
from scoregate.kernel.types.runs.suite_labels import label_suites


def suite(name: str, script: str | None = None, params: Any = None, origin: str | None = None) -> SuiteResult:
    return SuiteResult(name, "", script=script, params=params, origin=Origin(origin) if origin else None)


@pytest.mark.parametrize(
    ("suites", "expected"),
    [
        ([suite("a", "x.py"), suite("b", "x.py")], ["a", "b"]),
        ([suite("a", "x.py"), suite("a", "y.py")], ["a (x.py)", "a (y.py)"]),
        ([suite("a", "x.py"), suite("a", "x.py")], ["a", "a #2"]),
        ([suite("a", "x.py"), suite("a", "y.py"), suite("a", "x.py")], ["a (x.py)", "a (y.py)", "a (x.py) #2"]),
        ([suite("a", origin="x.py"), suite("a", origin="y.py")], ["a (x.py)", "a (y.py)"]),
        ([suite("a"), suite("a"), suite("b")], ["a", "a #2", "b"]),
        ([suite("a", "x.py", {"t": 0}), suite("a", "x.py", {"t": 1})], ["a [t=0]", "a [t=1]"]),
        ([suite("a", "x.py", {"t": 0}), suite("a", "y.py", {"t": 0})], ["a [t=0] (x.py)", "a [t=0] (y.py)"]),
        ([suite("a", params={"t": 0, "m": "x"})], ["a [t=0, m=x]"]),
        ([], []),
    ],
)
def test_the_file_is_named_only_if_needed(suites: list[SuiteResult], expected: list[str]) -> None:
    assert label_suites(suites) == expected


names = st.sampled_from(["a", "a (?)", "a (x)", "a (x) #2", "a (?) #2", "a #2"])


@given(st.lists(st.builds(suite, names, st.none() | st.just("x")), max_size=8))
def test_labels_are_unique(suites: list[SuiteResult]) -> None:
    labels = label_suites(suites)
    assert len(labels) == len(suites)
    assert len(set(labels)) == len(labels)
