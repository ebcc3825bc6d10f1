"""Which cases a command chooses: nodes, samples, parts, failed cases, and the options that say so."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from scoregate.errors import UsageError
from scoregate.kernel.types.exemptions import AcceptedRegression, Exemptions, QuarantinedCases, matches_case
from scoregate.kernel.types.runs.clusters import find_field, may_name_cluster
from scoregate.kernel.types.selection import (
    CaseChoice,
    CaseLabels,
    CaseSelection,
    Node,
    PartChoice,
    parse_keywords,
)


def test_named_cases_and_words_must_both_match() -> None:
    choice = CaseChoice("fast", (("bot", ""), ("web", "c1")))
    assert [choice.takes_suite(each) for each in ("bot", "web", "other")] == [True, True, False]
    fast = ("fast",)
    assert choice.takes_case("bot", CaseLabels("x", tags=fast))
    assert choice.takes_case("web", CaseLabels("c1", tags=fast))
    assert choice.takes_case("web", CaseLabels("h", "c1", fast))
    assert not choice.takes_case("web", CaseLabels("c2", tags=fast))
    assert not choice.takes_case("other", CaseLabels("c1", tags=fast))
    assert not choice.takes_case("bot", CaseLabels("x"))
    assert choice.takes_case("bot", CaseLabels("x"), label="bot [fast]")
    assert not CaseChoice("bot").takes_case("bot", CaseLabels("x"), label="other")
    assert CaseChoice("bot").takes_case("bot", CaseLabels("x"))
    assert CaseChoice().takes_case("any", CaseLabels("x"))
    assert CaseChoice().takes_suite("any")


def test_a_sample_has_each_tag_by_its_share() -> None:
    cases = [
        CaseLabels(f"c{index}", tags=("a", "b") if index < 6 else ("b", "a", "a") if index < 9 else ())
        for index in range(12)
    ]
    sample = CaseChoice(sample=4).draw_sample(cases)
    assert len(sample) == 4
    assert sum(case.hash in sample for case in cases if case.tags) == 3
    assert CaseChoice(sample=4).draw_sample(cases[::-1]) == sample
    assert CaseChoice(sample=4, seed=1).draw_sample(cases) != sample
    assert CaseChoice(sample=12).draw_sample(cases) == CaseChoice().draw_sample(cases) == {case.hash for case in cases}
    assert len(CaseChoice(sample=11).draw_sample(cases)) == 11
    tagged = [CaseLabels(f"c{index}", tags=(str(index % 3),)) for index in range(9)]
    for size in (1, 2, 4, 5, 7):
        counts = Counter(case.tags for case in tagged if case.hash in CaseChoice(sample=size).draw_sample(tagged))
        assert counts.total() == size
        assert {size // 3, -(-size // 3)} >= set(counts.values())
    # One more case replaces at most one.
    assert len(CaseChoice(sample=4).draw_sample([*cases, CaseLabels("new")]) - sample) <= 1


def test_parts_of_a_process() -> None:
    part = PartChoice.parse({"take": {"bot": [[1, 3], 4]}, "leave": ["web"], "others": True})
    assert part == PartChoice({"bot": ((1, 3), 4)}, ("web",), True)
    assert [part.takes_suite(each) for each in ("bot", "web", "new")] == [True, False, True]
    alone = PartChoice.parse({"take": {"bot": [[1], 2]}, "leave": [], "others": 1})
    assert [alone.takes_suite(each) for each in ("bot", "new")] == [True, False]
    assert PartChoice().takes_suite("any")
    with pytest.raises(KeyError):
        PartChoice.parse({"take": {}})


def test_the_options_that_leave_out_cases() -> None:
    nodes = (Node("evals/a.py", "bot"), Node("my evals/b.py", "", ""), Node("c.py", "s", "c"))
    whole = CaseSelection()
    assert (whole.description, whole.is_filter, whole.has_paths_only) == ("", False, False)
    selection = CaseSelection("a b", nodes, {"x": {}}, sample=3, seed=4, max_cases=5)
    assert selection.description == (
        "evals/a.py::bot 'my evals/b.py' c.py::s::c -k 'a b' --last-failed --sample 3 --seed 4 --max-cases 5"
    )
    assert CaseSelection(sources=("a b.py", "c.py"), paths=("evals",)).description == "'a b.py' c.py"
    changed = CaseSelection(nodes=nodes, sources=("evals/a.py", "d.py"), paths=("d",))
    assert changed.description == "d evals/a.py::bot"
    assert changed.expected_nodes == nodes[:1]
    assert selection.expected_nodes == nodes
    assert CaseSelection(paths=("a b",)).has_paths_only
    assert not CaseSelection("k", paths=("a",)).has_paths_only
    assert [
        CaseSelection(keyword="k").is_filter,
        CaseSelection(nodes=nodes).is_filter,
        CaseSelection(failed={}).is_filter,
    ] == [True] * 3
    assert not CaseSelection(sample=3, paths=("a",)).is_filter


def test_nodes_limit_the_cases_of_their_source() -> None:
    nodes = (Node("evals", "bot"), Node("evals/a.py", "web", "c1"), Node("b.py"), Node("b.py", "s"))
    selection = CaseSelection("k", nodes, sample=2, seed=7)
    assert selection.choice("evals/a.py") == CaseChoice("k", (("bot", ""), ("web", "c1")), 2, 7)
    assert selection.choice("b.py") == CaseChoice("k", (), 2, 7)
    assert selection.choice("evalsx/a.py").named == ()
    assert [nodes[0].holds_source(each) for each in ("evals", "evals/a.py", "evalsx", "x/evals")] == [
        True,
        True,
        False,
        False,
    ]


def test_failed_cases_and_changed_sources_limit_launches() -> None:
    selection = CaseSelection(failed={"l": {"bot": ["c1"], "web": []}, "all": {}}, sources=("a.py",))
    assert [selection.takes_launch(*each) for each in (("a.py", "l"), ("a.py", "x"), ("b.py", "l"))] == [
        True,
        False,
        False,
    ]
    assert CaseSelection().takes_launch("any", "any")
    takes = [
        selection.takes_case("a.py", launch, suite, CaseLabels(case))
        for launch, suite, case in (
            ("l", "bot", "c1"),
            ("l", "bot", "c2"),
            ("l", "web", "c2"),
            ("l", "new", "c1"),
            ("all", "new", "c9"),
        )
    ]
    assert takes == [True, False, True, False, True]


def test_the_environment_of_a_launch_has_its_selection() -> None:
    assert CaseSelection().environment("a.py", "l") == {}
    selection = CaseSelection(
        "k", (Node("a.py", "s"),), {"l": {"s": ["c"]}, "m": {}}, {"l": {"s": ["d"]}, "m": {}}, 2, 7
    )
    both = selection.environment("a.py", "l")
    assert json.loads(both["SCOREGATE_SELECTION"]) == {
        "keyword": "k", "named": [["s", ""]], "sample": 2, "seed": 7, "first": {"s": ["d"]},
    }  # fmt: skip
    assert json.loads(both["SCOREGATE_OVERRIDES_TESTS_AND_HASHES"]) == {"s": ["c"]}
    other = selection.environment("b.py", "m")
    assert json.loads(other.pop("SCOREGATE_SELECTION")) == {"keyword": "k", "sample": 2, "seed": 7}
    assert other == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x" * 2_001, "has 2,001 characters, more than 2,000"),
        ("a b", "expected the end, not 'b'"),
        ("a and", "expected a word, but it ends"),
        ("(a", "expected a closing parenthesis, but it ends"),
        ("a or )", "expected a word, not ')'"),
        ("'a", "a quote is not closed"),
        ("''", "a word is empty"),
        ("(" * 51 + "a", "it is nested deeper than 50 levels"),
        ("not " * 51 + "a", "it is nested deeper than 50 levels"),
    ],
)
def test_expressions_that_are_not_valid(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem.replace("(", r"\(").replace(")", r"\)")):
        parse_keywords(text)


def test_expressions_up_to_their_limits() -> None:
    assert parse_keywords("x" * 2_000)(["x" * 2_000])
    assert parse_keywords("(" * 50 + "a" + ")" * 50)(["A"])
    assert parse_keywords("not " * 50 + "a")(["a"])
    matches = parse_keywords("a and not (b or 'c d') or \"not\"")
    assert [matches(names) for names in (["a"], ["A", "x b"], ["a", "C D"], ["not"], ["a", "c"])] == [
        True,
        False,
        False,
        True,
        True,
    ]


def test_exemptions_have_terms_and_a_last_day() -> None:
    accepted = AcceptedRegression("bot", "2026-12-31", "new parser", "ana", "judge", at_most=0.1)
    assert accepted.terms == "until 2026-12-31 by ana: new parser"
    assert (
        AcceptedRegression("bot", "2026-12-31", "r", "ana", issue="#12").terms
        == "until 2026-12-31 by ana, issue #12: r"
    )
    assert [accepted.allows(drop) for drop in (0.1, 0.3 - 0.2, 0.1001)] == [True, True, False]
    quarantined = QuarantinedCases("ana", "flaky", "2026-12-30", case="c[1]*", tags=("slow*", "net"))
    assert quarantined.terms == "until 2026-12-30, owner ana: flaky"
    assert [
        quarantined.matches(*each)
        for each in ((["c1x"], ["slow-1"]), (["c1x"], []), (["d"], ["net"]), (["c[1]*"], ["net"]))
    ] == [True, False, False, True]
    assert QuarantinedCases("ana", "r", "2026").matches([], [])
    assert quarantined.stable_runs == 25
    assert matches_case("c[1]", ["x", "c[1]"])
    for today, counts in (("2026-12-30", (1, 1)), ("2026-12-31", (1, 0)), ("2027-01-01", (0, 0))):
        entries = Exemptions((accepted,), (quarantined,), today=today)
        assert (len(entries.active_accepted), len(entries.active_quarantine)) == counts
    assert accepted == AcceptedRegression("bot", "2026-12-31", "new parser", "ana", "judge", at_most=0.1, place="x:1")


def test_fields_that_may_name_a_cluster() -> None:
    names = (
        "document",
        "document_ids",
        "docId",
        "Thread-ID",
        "page no",
        "meta.chapter_title",
        "sourceUrls",
        "urls",
        "repo_path",
    )
    assert [name for name in names if may_name_cluster(name)] == [*names[:6], "urls", "repo_path"]
    assert not any(map(may_name_cluster, ("question", "id", "documentation", "ids", "title")))
    for suffix in ("id", "ids", "name", "path", "uri", "url", "title", "key", "hash", "no", "number"):
        assert may_name_cluster(f"book_{suffix}"), suffix
    body = {"a": {"b": 1}, "metadata": {"doc": "m"}, "input": {"doc": "i", "q": "x"}}
    assert [find_field(body, each) for each in ("a.b", "doc", "q", "a.c", "z", "a")] == [
        1,
        "m",
        "x",
        None,
        None,
        {"b": 1},
    ]
    assert find_field("text", "a") is None
    assert find_field({"a.b": 2, "a": {"b": 1}}, "a.b") == 2
