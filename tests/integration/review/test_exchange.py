"""Battles judged elsewhere, in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.integration.review.conftest import Maker, Reviewed


def sheets(run: Reviewed) -> tuple[Path, list[dict[str, Any]]]:
    file = run.project.root / "battles.jsonl"
    outcome = run.project.scoregate("review", str(run.run), "--export", str(file))
    assert outcome.exit_code == 0, outcome.output
    return file, [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def import_file(run: Reviewed, file: Path, lines: list[dict[str, Any]], *arguments: str) -> tuple[int, str]:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    outcome = run.project.scoregate("review", str(run.run), "--import", str(file), *arguments)
    return outcome.exit_code, outcome.output


def test_a_blind_file_is_imported_as_scores(reviewed: Maker) -> None:
    run = reviewed("a", "b", "c")
    file, lines = sheets(run)
    assert [line["case"] for line in lines] == ["a", "b", "c"]
    assert all({"baseline", "challenger", "winner"}.isdisjoint(line) for line in lines)
    for line, winner in zip(lines, ("new", "old"), strict=False):
        line |= {"decision": "left" if line["left"].startswith(winner) else "right", "by": "Ann"}
    code, output = import_file(run, file, lines)
    assert code == 0, output
    assert "2 added, 0 changed, 0 unchanged, 1 not reviewed" in output
    reviews = {each["case"]: (each["winner"], each["by"]) for each in run.words("verdicts", "better")}
    assert reviews == {"a": ("challenger", "Ann"), "b": ("baseline", "Ann")}
    assert "2 unchanged" in import_file(run, file, lines)[1]
    code, output = run.gate(SCOREGATE_MIN_PASS_RATE="0.9")
    assert code == 1, output
    assert "1 evaluation waiting" in output


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decision": "both"}, "decision"),
        ({"key": "0" * 16}, "no open battle"),
        ({"left": "something else"}, "left, right"),
        ({"left": "old a", "right": "old a"}, "left, right"),
        ({"decision": "tie", "by": ""}, "by:"),
        ({"winner": "left"}, "winner"),
    ],
)
def test_an_invalid_file_is_refused_with_lines(reviewed: Maker, change: dict[str, str], message: str) -> None:
    run = reviewed("a", "b", "c")
    file, lines = sheets(run)
    lines[0] |= {"decision": "tie", "by": "Ann"}
    lines[1] |= change
    code, output = import_file(run, file, lines)
    assert code == 2
    assert f"{file.name}:2: " in output.replace("\n", "")
    assert message in output
    assert run.words("verdicts", "better") == []


def test_a_flag_names_the_reviewer(reviewed: Maker) -> None:
    run = reviewed("a", "b", "c")
    file, lines = sheets(run)
    code, output = import_file(run, file, [lines[0] | {"decision": "tie"}], "--by", "Bob")
    assert code == 0, output
    assert [each["by"] for each in run.words("verdicts", "better")] == ["Bob"]


def export_file(run: Reviewed, *arguments: str) -> tuple[Path, list[dict[str, Any]], str]:
    """A file for people elsewhere, its lines, and what was printed."""
    file = run.project.root / "elsewhere.jsonl"
    outcome = run.project.scoregate("review", str(run.run), "--export", str(file), *arguments)
    assert outcome.exit_code == 0, outcome.output
    return file, [json.loads(line) for line in file.read_text("utf-8").splitlines()], outcome.output


def test_no_file_has_a_battle_and_its_score(reviewed: Maker) -> None:
    run = reviewed("a", "b", "c")
    file, lines, message = export_file(run)
    assert [line["kind"] for line in lines] == ["battle"] * 3
    assert "3 scores are skipped until the battles" in message.replace("\n", " ")
    assert import_file(run, file, [line | {"decision": "tie", "by": "Ann"} for line in lines[:2]])[0] == 0
    _, lines, _ = export_file(run, "--by", "Ann")
    assert [(line["kind"], line["case"]) for line in lines] == [("battle", "c"), ("score", "a"), ("score", "b")]
    _, lines, _ = export_file(run, "--by", "Bob")
    assert [line["kind"] for line in lines] == ["battle"] * 3


def scores(run: Reviewed) -> tuple[Path, list[dict[str, Any]]]:
    file, lines, _ = export_file(run)
    assert import_file(run, file, [line | {"decision": "tie", "by": "Ann"} for line in lines])[0] == 0
    file, lines, _ = export_file(run, "--by", "Ann")
    assert [line["kind"] for line in lines] == ["score"] * 3
    return file, lines


def test_judge_scores_are_imported_as_overrides(reviewed: Maker) -> None:
    run = reviewed("a", "b", "c")
    file, lines = scores(run)
    first = lines[0]
    assert (first["score"], first["reason"], first["decision"]) == (0.5, "a little curt a", None)
    assert [each["value"] for each in (*first["inputs"], *first["outputs"])] == ["a", "new a"]
    first |= {"decision": 1, "comment": "short is good"}
    lines[1] |= {"decision": 0.5}
    code, output = import_file(run, file, lines, "--by", "Ann")
    assert code == 0, output
    assert "2 added, 0 changed, 0 unchanged, 1 not reviewed" in output
    overrides = {each["input_fields"][0]["value"]: each for each in run.words("overrides", "tone")}
    assert {name: (each["override_score"], each["by"]) for name, each in overrides.items()} == {
        "a": (1, "Ann"), "b": (0.5, "Ann"),
    }  # fmt: skip
    assert [each["comment_text"] for each in overrides["a"]["comments"]] == ["short is good"]
    assert "2 unchanged" in import_file(run, file, lines, "--by", "Ann")[1]
    assert "0.500" in run.project.scoregate("agreement").output


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decision": 2}, "decision"),
        ({"decision": "left"}, "decision"),
        ({"score": 0.25}, "score, inputs, outputs"),
        ({"outputs": []}, "score, inputs, outputs"),
        ({"key": "0" * 16}, "no judge's score"),
        ({"kind": "verdict"}, "kind"),
        ({"decision": 1, "by": ""}, "by:"),
    ],
)
def test_invalid_scores_are_refused_with_lines(reviewed: Maker, change: dict[str, Any], message: str) -> None:
    run = reviewed("a", "b", "c")
    file, lines = scores(run)
    lines[0] |= {"decision": 1, "by": "Ann"}
    lines[1] |= change
    code, output = import_file(run, file, lines)
    assert code == 2
    assert f"{file.name}:2: " in output.replace("\n", "")
    assert message in output
    assert run.words("overrides", "tone") == []
