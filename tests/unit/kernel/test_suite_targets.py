"""Which suites of a baseline are those of the run, if suites of one name run against several targets."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.kernel.builders import ExampleSuite, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.runs.suite_labels import label_suites, suite_label
from scoregate.kernel.types.runs.suite_targets import match_base_targets


def make_run(*targets: str | None, script: str = "evals/a.py", suite: str = "hours") -> Run:
    params = [None if each is None else {"target": each} for each in targets]
    return run_of(*(ExampleSuite(scored(1.0), id=suite, params=each, script=script) for each in params))


def pairs(run: Run, base: Run) -> list[tuple[str, str]]:
    base = match_base_targets(run, base)
    found = compare(run, base).pairs
    return [(run.suites[one].label, base.suites[other].label) for one, other in found]


def test_suites_are_paired_by_target() -> None:
    assert pairs(make_run("b", "a"), make_run("a", "b")) == [
        ("hours [target=a]", "hours [target=a]"),
        ("hours [target=b]", "hours [target=b]"),
    ]
    assert pairs(make_run("c", "a"), make_run("a")) == [("hours [target=a]", "hours")]
    assert pairs(make_run("a", "c"), make_run("a", "b")) == [("hours [target=a]", "hours [target=a]")]


def test_the_only_suite_of_a_name_is_compared_whatever_its_target() -> None:
    for run, base in (("b", "a"), ("a", None), (None, "a"), (None, None)):
        assert pairs(make_run(run), make_run(base)) == [("hours", "hours")], (run, base)
    assert pairs(make_run("a", "b"), make_run(None)) == []
    assert pairs(make_run("a"), make_run("a", suite="other")) == []


def test_files_are_told_apart() -> None:
    one, two = make_run("a", script="evals/one.py"), make_run("b", script="evals/two.py")
    run = replace(one, suites=(*one.suites, *two.suites))
    base = replace(
        run, suites=(make_run("x", script="evals/two.py").suites[0], make_run("y", script="evals/one.py").suites[0])
    )
    matched = match_base_targets(run, base)
    assert [(suite.script, dict(suite.params or {})) for suite in matched.suites] == [
        ("evals/two.py", {"target": "b"}),
        ("evals/one.py", {"target": "a"}),
    ]


def test_nothing_to_match_is_the_same_run() -> None:
    run = make_run("a")
    assert match_base_targets(run, run) is run
    other = make_run("a", suite="other")
    assert match_base_targets(run, other) is other


def test_a_label_has_the_target_only_among_several() -> None:
    assert suite_label("hours", {"target": "a"}) == "hours"
    assert suite_label("hours", {"target": "a", "n": 1}) == "hours [n=1]"
    assert label_suites(make_run("a").suites) == ["hours"]
    assert label_suites(make_run("a", "b").suites) == ["hours [target=a]", "hours [target=b]"]
    assert label_suites(make_run("a", "a").suites) == ["hours [target=a]", "hours [target=a] #2"]
    two_files = (*make_run("a").suites, *make_run("b", script="evals/b.py").suites)
    assert label_suites(two_files) == ["hours (evals/a.py)", "hours (evals/b.py)"]
