"""What a reviewer sees, what reviews are accepted, and the cost of a refresh."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scoregate.errors import StoreError, UsageError
from scoregate.kernel.types.evaluation import Evaluation
from scoregate.kernel.types.event_values import Choice, EvaluatorInfo, HumanReviewField, PairwiseComparison
from scoregate.kernel.types.runs.cases import CaseResult
from scoregate.kernel.types.runs.run import Run, RunCode, RunEnd, SuiteResult
from scoregate.store import OVERRIDES, VERDICTS, DirectoryStore, Verdict, Winner, add_verdict, open_store, read_verdicts
from scoregate.store.review_records import upsert
from scoregate.web.review_items import Side, find_battles, find_judged_scores
from scoregate.web.review_queue import Queue, build_queue
from scoregate.web.review_session import ReviewSession

CHOICES = (Choice(0, "poor"), Choice(1, "good"), Choice(1, "very good"), Choice(0.5))


def queue(*names: str, battles: bool = True, choices: tuple[Choice, ...] = ()) -> Queue:
    """A queue of cases with these names, each with a pending battle and a judge's score of 0.5."""

    def cases() -> Iterator[CaseResult]:
        for name in names:
            case = CaseResult(0, name, name=name, input=f"ask {name}", output=f"new {name}")
            case.evaluations["tone"] = Evaluation(0.5, None, {"reason": "curt"})
            if battles:
                case.pending, case.contests = ("better",), {"better": PairwiseComparison(f"old {name}", f"new {name}")}
            yield case

    tone = EvaluatorInfo("tone", choices=choices)
    return build_queue(
        Run("1", 1.0, RunEnd(2.0), RunCode("1"), suites=(SuiteResult("s", "s", evaluators={"tone": tone}),), read=cases)
    )


def state(session: ReviewSession, mark: str = "") -> dict[str, Any]:
    page_state = session.state(mark)
    assert page_state is not None
    data: dict[str, Any] = json.loads(page_state)
    return data


def test_reviewers_see_the_fields_of_a_suite() -> None:
    case = CaseResult(0, "a", name="a", input={"q": "raw", "k": 1}, output="raw")
    case.review_inputs = (HumanReviewField("question", "why?"), HumanReviewField("question", "again"))
    case.review_outputs = (HumanReviewField("answer", "so"),)
    case.evaluations["tone"] = Evaluation(0.5, None, {"reason": "curt"})
    case.pending, case.contests = ("better",), {"better": PairwiseComparison("old", "new")}
    assert [battle.input for battle in find_battles(case, "s")] == ["question:\nwhy?\n\nquestion:\nagain"]
    (judged,) = find_judged_scores(case, SuiteResult("s", "s"), ())
    assert [(each.id, each.name, each.value) for each in judged.inputs] == [
        ("question", "question", "why?"),
        ("question-2", "question", "again"),
    ]
    assert [(each.name, each.value) for each in judged.outputs] == [("answer", "so")]
    case.review_inputs = case.review_inputs[:1]
    assert [battle.input for battle in find_battles(case, "s")] == ["why?"]


def test_names_are_in_natural_order(tmp_path: Path) -> None:
    names = ("case 10", "case 2", "case 2b", "b", "case 02", "10", "9", "case " + "9" * 5_000)
    session = ReviewSession(queue(*names), open_store(tmp_path), "Ann")
    found = [row["name"] for row in state(session)["battles"]]
    assert found == ["9", "10", "b", "case 02", "case 2", "case 2b", "case 10", "case " + "9" * 5_000]


def test_a_refresh_reads_nothing_without_new_reviews(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    own = DirectoryStore.read

    def count_reads(self: DirectoryStore, kind: Any, shelf: Any) -> Any:
        read.append(kind.name)
        return own(self, kind, shelf)

    monkeypatch.setattr(DirectoryStore, "read", count_reads)
    session = ReviewSession(queue("a", "b"), open_store(tmp_path), "Ann")
    key, other = (row["key"] for row in state(session)["battles"])
    session.battles.judge(key, Side.LEFT, "")
    known = state(session)
    read.clear()
    assert session.state(known["mark"]) is None
    assert state(session) == known
    assert read == []
    add_verdict(
        open_store(tmp_path),
        "better",
        Verdict(case="a", baseline="old a", challenger="new a", winner=Winner.TIE, by="Bob"),
    )
    now = state(session, known["mark"])
    assert {row["name"]: row["others"] for row in now["battles"]} == {"a": [{"by": "Bob", "decision": "tie"}], "b": []}
    assert session.battles.open_battles([key, other]) == [other]


def test_a_broken_store_is_reported_until_repaired(tmp_path: Path) -> None:
    session = ReviewSession(queue("a"), open_store(tmp_path), "Ann")
    assert state(session)["battles"][0]["decision"] is None
    file = tmp_path / ".scoregate" / "verdicts" / "better.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("no verdict\n")
    for _ in range(2):
        with pytest.raises(StoreError, match=r"better\.jsonl:1"):
            session.state()
    file.unlink()
    assert state(session)["battles"][0]["decision"] is None


def test_a_score_is_hidden_while_its_battle_is_pending(tmp_path: Path) -> None:
    queued = queue("a")
    session = ReviewSession(queued, open_store(tmp_path), "Ann")
    (key,) = queued.judged
    for refused in (
        lambda: session.score_details(key),
        lambda: session.correct(key, 1, ()),
        lambda: session.remove_correction(key),
    ):
        with pytest.raises(UsageError, match="Judge the battle"):
            refused()
    (battle,) = queued.battles
    ReviewSession(queued, open_store(tmp_path), "Bob").battles.judge(battle, Side.TIE, "")
    with pytest.raises(UsageError):
        session.score_details(key)
    session.battles.judge(battle, Side.TIE, "")
    assert session.score_details(key)["score"] == 0.5


def test_choices_of_a_judge_have_names_and_exclude_other_scores(tmp_path: Path) -> None:
    queued = queue("a", battles=False, choices=CHOICES)
    session = ReviewSession(queued, open_store(tmp_path), "Ann")
    (key,) = queued.judged
    data = session.score_details(key)
    assert [(each["value"], each["name"]) for each in data["choices"]] == [
        (1, "good / very good"), (0.5, ""), (0, "poor"),
    ]  # fmt: skip
    assert data["only"] is True
    with pytest.raises(UsageError, match=r"0 \(poor\), 1 \(good\)"):
        session.correct(key, 0.7, ())
    assert session.correct(key, 1, ())["decision"] == 1


def test_without_choices_seen_scores_are_offered_and_any_is_accepted(tmp_path: Path) -> None:
    queued = queue("a", battles=False)
    session = ReviewSession(queued, open_store(tmp_path), "Ann")
    (key,) = queued.judged
    data = session.score_details(key)
    assert ([each["value"] for each in data["choices"]], data["only"]) == ([1, 0.5, 0], False)
    assert session.correct(key, 0.7, ())["decision"] == 0.7


def test_a_verdict_replaces_all_of_its_person_on_the_pair(tmp_path: Path) -> None:
    """Reviews in files have their own ids, and can swap the outputs."""
    store, found = open_store(tmp_path), queue("a")
    own = {"case": "a", "baseline": "new a", "challenger": "old a", "winner": Winner.TIE}
    upsert(store, VERDICTS, ("better",), [Verdict(**own, id="one", by="Ann"), Verdict(**own, id="two", by="Bob")])
    session = ReviewSession(found, store, "Ann")
    (key,) = found.battles
    left = session.battles.details(key)["left"]
    session.battles.judge(key, Side.LEFT, "")
    verdicts = {each.by: each for each in read_verdicts(store, "better")}
    assert len(read_verdicts(store, "better")) == 2
    ann = verdicts["Ann"]
    assert (ann.challenger if ann.winner is Winner.CHALLENGER else ann.baseline) == left
    assert verdicts["Bob"].id == "two"
    session.battles.remove_verdict(key)
    assert [each.by for each in read_verdicts(store, "better")] == ["Bob"]


@pytest.mark.parametrize("side", [Side.LEFT, Side.RIGHT, Side.TIE])
@pytest.mark.parametrize("reviewer", ["Ann", "Bob", "Eve", "Joe"])
def test_reviews_are_shown_unchanged(tmp_path: Path, side: Side, reviewer: str) -> None:
    queued = queue("a", "b", "c")
    session = ReviewSession(queued, open_store(tmp_path), reviewer)
    for key in queued.battles:
        shown = session.battles.judge(key, side, "why")
        assert (shown["decision"], shown["comment"]) == (side.value, "why")
    wins = {"left": "left", "right": "right"}.get(side.value)
    for each in read_verdicts(open_store(tmp_path), "better"):
        key = next(key for key in queued.battles if queued.battles[key].case == each.case)
        winner = {Winner.BASELINE: each.baseline, Winner.CHALLENGER: each.challenger}.get(each.winner)
        assert winner == (session.battles.details(key)[wins] if wins else None)


def test_hand_edits_equal_those_of_the_page(tmp_path: Path) -> None:
    store, found = open_store(tmp_path), queue("a", battles=False)
    session = ReviewSession(found, store, "Ann")
    (key,) = found.judged
    session.correct(key, 1, ())
    assert [each.override_score for each in store.read(OVERRIDES, ("tone",))] == [1]
    session.correct(key, 0, ())
    assert [each.override_score for each in store.read(OVERRIDES, ("tone",))] == [0]
    assert state(session)["agreement"][0]["n"] == 1
