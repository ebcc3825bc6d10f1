"""Clusters by the setting `cluster`: fields, patterns of names, who wins, and the gate that checks the setting."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.stats import f_oneway
from tests.unit.kernel.builders import ExampleSuite, run_of, scored

from scoregate.kernel.compare.comparison import compare
from scoregate.kernel.compare.statistics.joint_test import test_groups as compare_groups
from scoregate.kernel.gate import evaluate_gates
from scoregate.kernel.types.amounts import Conclusion
from scoregate.kernel.types.event_values import Setup
from scoregate.kernel.types.events import CaseFinished, CaseStarted, SuiteStarted
from scoregate.kernel.types.runs.clusters import check_cluster, find_cluster, match_name, may_name_cluster
from scoregate.kernel.types.runs.policy import Limits, Policy, policy_differences
from scoregate.kernel.types.runs.reducer import RunReducer


@pytest.mark.parametrize(
    ("name", "pattern", "cluster"),
    [
        ("test_chat[refund-3]", "*[{cluster}-*]", "refund"),
        ("tests.a::test_chat[refund-fr-3]", "*[{cluster}-*]", "refund-fr"),
        ("refund-fr-3", "{cluster}-*", "refund-fr"),
        ("refund-fr-3", "{cluster}-*-*", "refund"),
        ("test_chat[gpt-4-q1]", "*[*-{cluster}]", "4-q1"),
        ("refund / turn 3", "{cluster} / turn *", "refund"),
        ("case doc7", "case {cluster}", "doc7"),
        ("a > b > c", "{cluster} > * > *", "a"),
        ("refund-3", "{cluster}_*", None),
        ("[-3]", "[{cluster}-*]", None),
        ("xaby", "xab{cluster}aby", None),
        ("a-", "a-{cluster}", None),
        ("", "{cluster}-*", None),
    ],
)
def test_a_pattern_takes_as_much_as_it_can(name: str, pattern: str, cluster: str | None) -> None:
    assert check_cluster(pattern) == pattern
    assert match_name(name, pattern) == cluster


def test_a_hostile_name_takes_linear_time() -> None:
    name = "-" * 200_000
    assert match_name(name, "*-*-*-{cluster}-*-*-*x") is None
    assert match_name(name, "*-*-*-{cluster}-*-*-*-") is not None


@pytest.mark.parametrize(
    "setting", ["tag", "tags", "{cluster}", "*{cluster}*", "a-*", "{name}-*", "{cluster}-{cluster}"]
)
def test_a_setting_that_is_neither_a_field_nor_a_pattern_is_refused(setting: str) -> None:
    with pytest.raises(ValueError, match=r"can't be the tags|must be a field"):
        check_cluster(setting)


@pytest.mark.parametrize(
    ("case_input", "field", "cluster"),
    [
        ({"document": "a.md"}, "document", "a.md"),
        ({"input": "Who?", "metadata": {"document": 7}}, "document", "7"),
        ({"source": {"conversation": "t1"}}, "source.conversation", "t1"),
        ({"documents": ["a", "b"]}, "documents", '["a","b"]'),
        ({"document": ""}, "document", None),
        ({"document": None}, "document", None),
        ("Who?", "document", None),
    ],
)
def test_a_field_names_the_cluster(case_input: Any, field: str, cluster: str | None) -> None:
    assert find_cluster(field, case_input, "a name", "c1") == cluster


def test_long_values_that_differ_at_their_end_are_different_clusters() -> None:
    found = {find_cluster("passage", {"passage": "x" * 5_000 + end}, "", "c") for end in "ab"}
    assert len(found) == 2
    assert all(cluster is not None and len(cluster) <= 200 for cluster in found)


def test_fields_that_may_name_a_cluster() -> None:
    names = (
        "document",
        "document_id",
        "docId",
        "Source",
        "metadata.thread-id",
        "sessions",
        "file path",
        "conversation",
    )
    assert all(map(may_name_cluster, names))
    assert not any(map(may_name_cluster, ("id", "question", "language", "topic", "input", "expected", "dog")))


def record(policy: Policy, *cases: CaseStarted, setup: Setup | None = None) -> dict[str, str]:
    """The clusters of recorded cases, by hash."""
    reducer = RunReducer.for_policy(policy)
    events = [SuiteStarted(suite="bot", setup=setup), *cases]
    events += [CaseFinished(suite="bot", case=case.case) for case in cases]
    found = {}
    for event in events:
        if (case := reducer.apply("log", None, event)) is not None and case.cluster is not None:
            found[case.hash] = case.cluster
    (suite,) = reducer.results()
    assert {suite.columns.hashes[row]: cluster for row, cluster in suite.columns.clusters.items()} == found
    return found


def test_the_setting_wins_over_the_suite_where_it_finds_a_value() -> None:
    cases = [
        CaseStarted(suite="bot", case="c1", input={"document": "a"}, cluster="own"),
        CaseStarted(suite="bot", case="c2", input={}, cluster="own"),
        CaseStarted(suite="bot", case="c3", input={}),
    ]
    assert record(Policy(), *cases) == {"c1": "own", "c2": "own"}
    assert record(Policy(Limits(cluster="document")), *cases) == {"c1": "a", "c2": "own"}
    assert record(Policy(suites={"other": Limits(cluster="document")}), *cases) == {"c1": "own", "c2": "own"}


def test_a_pattern_reads_the_name_else_the_hash() -> None:
    cases = [CaseStarted(suite="bot", case="a-1", name="Who?"), CaseStarted(suite="bot", case="x", name="b-1")]
    assert record(Policy(Limits(cluster="{cluster}-*")), *cases) == {"a-1": "a", "x": "b"}


def test_a_table_of_an_evaluation_applies_to_each_of_its_models() -> None:
    policy = Policy(Limits(cluster="topic"), {"capitals": Limits(cluster="document")})
    case = CaseStarted(suite="bot", case="c", input={"document": "a", "topic": "t"})
    assert record(policy, case, setup=Setup("capitals", "results.json")) == {"c": "a"}
    assert record(policy, case) == {"c": "t"}


def test_a_changed_setting_is_a_change_of_the_policy() -> None:
    old, new = Policy(Limits(), {"bot": Limits(cluster="document")}), Policy(Limits(cluster="a{cluster}"))
    assert list(policy_differences(old, new)) == [
        "cluster for all suites: not set → a{cluster}",
        "cluster for suites 'bot': document → not set",
    ]
    assert old.cluster_settings == {"bot": "document"}
    assert new.cluster_settings == {"": "a{cluster}"}


@pytest.mark.parametrize(
    "policy", [Policy(Limits(cluster="docment")), Policy(suites={"demo": Limits(cluster="docment")})]
)
def test_a_setting_that_finds_no_cluster_is_unmeasurable(policy: Policy) -> None:
    run = run_of(ExampleSuite(scored(1, 1)))
    (finding,) = [each for each in evaluate_gates(compare(run, None), policy).findings if each.rule == "limits apply"]
    assert finding.conclusion is Conclusion.UNMEASURABLE
    assert finding.value == "no case has a cluster by docment"
    run.suites[0].columns.clusters[1] = "a"
    assert all(each.rule != "limits apply" for each in evaluate_gates(compare(run, None), policy).findings)


def test_groups_are_compared_as_by_scipy() -> None:
    groups = {"a": [1.0, 0.0, -1.0, 0.5], "b": [0.0, 0.25], "c": [1.0, 1.0, 0.75], "d": [-1.0]}
    found = compare_groups((name, value) for name, values in groups.items() for value in values)
    assert found.p == pytest.approx(f_oneway(*groups.values()).pvalue, rel=1e-9)
    assert (found.groups, found.n) == (4, 10)


def test_groups_that_are_all_alike_are_certain_and_single_values_tell_nothing() -> None:
    alike = compare_groups((name, value) for name, value in zip("aabbcc", (1, 1, 0, 0, -1, -1), strict=True))
    assert (alike.p, alike.correlation, alike.design_effect) == (0.0, 1.0, 2.0)
    assert compare_groups(zip("abc", (1.0, 2.0, 3.0), strict=True)).p == 1.0
    assert compare_groups(zip("aabb", (1.0, 1.0, 1.0, 1.0), strict=True)).p == 1.0
