"""Which names of fields may name a cluster, what patterns match, and paired names of evaluators."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from scoregate.kernel.types.evaluation import Evaluation, Label
from scoregate.kernel.types.event_values import ErrorInfo, EvaluatorInfo
from scoregate.kernel.types.runs.case_columns import Columns
from scoregate.kernel.types.runs.cases import CaseError, CaseResult
from scoregate.kernel.types.runs.clusters import check_cluster, find_cluster, find_field, match_name, may_name_cluster
from scoregate.kernel.types.runs.evaluator_names import pair_names, rename_base_evaluators
from scoregate.kernel.types.runs.evidence import Trials
from scoregate.kernel.types.runs.past_runs import History, PastRun, Score, SuiteHistory, SuiteMetrics
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult

WORDS = [
    "article",
    "book",
    "chapter",
    "chat",
    "cluster",
    "conv",
    "conversation",
    "dialog",
    "dialogue",
    "doc",
    "document",
    "email",
    "episode",
    "file",
    "filename",
    "group",
    "page",
    "paper",
    "paragraph",
    "parent",
    "passage",
    "repo",
    "repository",
    "section",
    "session",
    "source",
    "story",
    "thread",
    "ticket",
    "url",
    "webpage",
]
SUFFIXES = ("_id", "_ids", "_name", "_path", "_uri", "_url", "_title", "_key", "_hash", "_no", "_number", "id", "s")


def test_words_for_what_cases_share_may_name_a_cluster() -> None:
    for word in WORDS:
        assert may_name_cluster(word), word
    for suffix in SUFFIXES:
        assert may_name_cluster(f"page{suffix}"), suffix
    for name in ("pageId", "PAGE-ID", "page id", "meta.page", "meta.page-no"):
        assert may_name_cluster(name), name
    for name in ("", "id", "pages_x", "x_page", "page_text", "page.text", "name"):
        assert not may_name_cluster(name), name


@pytest.mark.parametrize(
    ("body", "field", "value"),
    [
        ({"a": 1, "metadata": {"a": 2}}, "a", 1),
        ({"metadata": {"a": 2}, "input": {"a": 3}}, "a", 2),
        ({"metadata": "x", "input": {"a": 3}}, "a", 3),
        ({"a": {"b": {"c": 4}}}, "a.b.c", 4),
        ({"a": {"metadata": {"b": 5}}}, "a.b", 5),
        ({"metadata": {"b": 5}}, "a.b", None),
        ({"a": "text"}, "a.b", None),
        ({}, "a", None),
        (["a"], "a", None),
        (None, "a", None),
    ],
)
def test_a_field_is_found_in_the_input_or_its_parts(body: Any, field: str, value: Any) -> None:
    assert find_field(body, field) == value


@pytest.mark.parametrize(
    ("name", "pattern", "cluster"),
    [
        ("doc-7", "doc-{cluster}", "7"),
        ("doc-", "doc-{cluster}", None),
        ("x-doc-7", "doc-{cluster}", None),
        ("7.md", "{cluster}.md", "7"),
        ("7.txt", "{cluster}.md", None),
        ("a/b/c-1", "*/{cluster}-*", "b/c"),
        ("a-b-c", "*-{cluster}", "b-c"),
        ("a-b-c", "{cluster}-*", "a-b"),
        ("abc", "ab{cluster}bc", None),
        ("abbc", "ab{cluster}bc", None),
        ("abxbc", "ab{cluster}bc", "x"),
        ("a", "*-{cluster}", None),
        ("a", "{cluster}-*", None),
        ("a-b", "{cluster}*-b*c*", None),
        ("x 7 y", "x{cluster}y", "7"),
        ("x y", "x{cluster}y", None),
        ("any", "{cluster}", "any"),
    ],
)
def test_a_pattern_finds_the_text_in_its_place(name: str, pattern: str, cluster: str | None) -> None:
    assert match_name(name, pattern) == cluster


def test_a_pattern_reads_the_name_before_the_hash() -> None:
    assert find_cluster("a-{cluster}", {"a-{cluster}": "x"}, "a-1", "a-2") == "1"
    assert find_cluster("a-{cluster}", None, "b-1", "a-2") == "2"
    assert find_cluster("a-{cluster}", None, "b-1", "b-2") is None
    for value, cluster in ((" a\n b ", "a b"), (0, "0"), (False, "false"), ({}, None), ([], None), (" ", None)):
        assert find_cluster("k", {"k": value}, "n", "h") == cluster


def test_a_setting_is_a_field_or_a_pattern_with_one_place() -> None:
    for setting in ("document", "a.b", "{cluster}-*", "*[{cluster}]", "a{cluster}"):
        assert check_cluster(setting) == setting
    for setting in ("tag", "tags", "*", "a*", "{doc}", "{cluster}{cluster}-", "{cluster}", "*{cluster}*", "{cluster}*"):
        with pytest.raises(ValueError, match=r"can't be the tags|must be a field such as"):
            check_cluster(setting)


@pytest.mark.parametrize(
    ("base", "head", "is_same"),
    [
        ("len(output)>3", "len( output ) > 3", True),
        ("'a' in output", '"a" in output', True),
        ("len(output) > 3", "len(output) > 4", False),
        ("not code (", "not code  (", False),
        ("x" * 20 + "…", "x" * 25, True),
        ("x" * 25, "x" * 20 + "…", True),
        ("x" * 19 + "…", "x" * 25, False),
        ("(x) ," + "y" * 20 + "…", "x" + "y" * 30, True),
        ("x" * 24 + "y…", "x" * 30, False),
        ("a" * 58 + "+1", "a" * 58 + " +1", False),
        ("a" * 57 + "+1", "a" * 57 + " +1", True),
        ("a" * 58 + " +1", "a" * 58 + "+1", False),
    ],
)
def test_names_are_paired_if_they_are_the_same_expression(base: str, head: str, is_same: bool) -> None:
    assert pair_names([head], [base]) == ({base: head} if is_same else {})


def test_names_of_both_runs_and_ambiguous_names_stay() -> None:
    assert pair_names(["a+b", "a + b"], ["a+b"]) == {}
    assert pair_names(["a + b"], ["a+b", "a +b"]) == {}
    assert pair_names(["a + b", "a  +  b"], ["a+b"]) == {}
    assert pair_names(["a + b", "c"], ["a+b", "c"]) == {"a+b": "a + b"}


def make_run(name: str, *suites: str) -> Run:
    made = []
    for index, label in enumerate(suites):
        errors = [CaseError(ErrorInfo("E", "m"), evaluator) for evaluator in (name, None)]
        case = CaseResult(
            index, "c", evaluations={name: Evaluation(1.0)}, errors=errors,
            unscored=(name, "other"), pending=(name,), labels={name: Label("x")},
        )  # fmt: skip
        columns = Columns()
        columns.add(case)
        trials = Trials(columns, read=partial(list, [case]))
        made.append(SuiteResult(label, label, evaluators={name: EvaluatorInfo(name)}, trials=trials))
    took = SuiteMetrics()
    past = {label: SuiteHistory((took,), {name: (Score(0.5, 1),)}) for label in (*suites, "gone")}
    history = History((PastRun("p", 1.0, took),), past)
    cases = [case for suite in made for case in suite.cases]
    return Run("r", 0, RunEnd(0), RunCode("1"), suites=tuple(made), history=history, read=lambda: cases)


def test_evaluators_of_a_baseline_are_renamed_everywhere() -> None:
    head, base = make_run("a + b", "s"), make_run("a+b", "s", "t")
    renamed = rename_base_evaluators(head, base)
    first, second = renamed.suites
    assert (list(first.evaluators), first.evaluators["a + b"].id) == (["a + b"], "a + b")
    assert second is base.suites[1]
    assert list(first.columns.scores) == list(first.columns.errored) == list(first.columns.labels) == ["a + b"]
    for case in (next(first.cases), next(renamed.cases)):
        assert (list(case.evaluations), case.unscored, case.pending) == (["a + b"], ("a + b", "other"), ("a + b",))
        assert [error.evaluator for error in case.errors] == ["a + b", None]
        assert list(case.labels) == ["a + b"]
    assert [list(case.evaluations) for case in renamed.cases] == [["a + b"], ["a+b"]]
    assert {label: list(each.scores) for label, each in renamed.history.suites.items()} == {
        "s": ["a + b"], "t": ["a+b"], "gone": ["a+b"],
    }  # fmt: skip
    assert rename_base_evaluators(base, base) is base
    unread = rename_base_evaluators(head, replace(base, read=None))
    assert unread.read is None
