"""Pins: the versions that a test runs, resolved before any call."""

from __future__ import annotations

from typing import Any

import pytest

from scoregate.errors import JudgmentValidationError
from scoregate.judges import JudgesFactory
from scoregate.judges.versions import JudgeVersion

ENTRY = 'judge_versions entries must be dicts like {"name": "my-judge", "tag": "prod"}'


@pytest.fixture
def two_judges(judges: JudgesFactory) -> JudgesFactory:
    """`helpfulness` 0.0, 0.1 and 1.0, of which 0.1 is prod, and `tone` 0.0."""
    judges.create("helpfulness", "a")
    judges.update("helpfulness", prompt="b")
    judges.update("helpfulness", prompt="c", major=True)
    judges.tag("helpfulness", version="0.1")
    judges.create("tone", "t")
    return judges


def labels(versions: Any) -> list[str]:
    return [version.label for version in versions]


@pytest.mark.parametrize(
    ("pins", "expected"),
    [
        (None, ["helpfulness 0.1", "tone 0.0"]),
        ([], ["helpfulness 0.1", "tone 0.0"]),
        ([{"name": "helpfulness", "tag": "prod"}], ["helpfulness 0.1", "tone 0.0"]),
        ([{"name": "helpfulness", "tag": "latest"}], ["helpfulness 1.0", "tone 0.0"]),
        ([{"name": "helpfulness", "version": "0.0"}], ["helpfulness 0.0", "tone 0.0"]),
        ([{"name": "helpfulness", "version": "0"}], ["helpfulness 0.1", "tone 0.0"]),
        ([{"name": "helpfulness", "major": 0, "minor": 0}], ["helpfulness 0.0", "tone 0.0"]),
        ([{"name": "helpfulness", "judge_major_version": 1}], ["helpfulness 1.0", "tone 0.0"]),
        ([{"name": "helpfulness", "major_version": 0, "minor_version": 0}], ["helpfulness 0.0", "tone 0.0"]),
        ([{"name": "helpfulness", "major_version": 1, "minor_version": None}], ["helpfulness 1.0", "tone 0.0"]),
        ([{"name": "helpfulness", "tag": None, "version": "1.0"}], ["helpfulness 1.0", "tone 0.0"]),
        ([{"name": "helpfulness"}], ["helpfulness 0.1", "tone 0.0"]),
        (
            [{"name": "helpfulness", "version": "1.0"}, {"name": "helpfulness", "tag": "prod"}],
            ["helpfulness 1.0", "helpfulness 0.1", "tone 0.0"],
        ),
        (
            [{"name": "helpfulness", "version": "0.1"}, {"name": "helpfulness", "tag": "prod"}],
            ["helpfulness 0.1", "tone 0.0"],
        ),
    ],
)
def test_a_pin_chooses_the_version(two_judges: JudgesFactory, pins: Any, expected: list[str]) -> None:
    assert labels(two_judges.resolve(["helpfulness", "tone"], pins)) == expected


def test_judges_and_pins_can_be_ids(two_judges: JudgesFactory) -> None:
    found = two_judges.get("helpfulness")
    assert isinstance(found, JudgeVersion)
    pins = [{"judge_id": found.id, "version": "1.0"}, {"name": "helpfulness", "version": "0.0"}]
    assert labels(two_judges.resolve([found.id, "helpfulness"], pins)) == ["helpfulness 1.0", "helpfulness 0.0"]


@pytest.mark.parametrize(
    ("pins", "message"),
    [
        (["helpfulness"], ENTRY),
        ([None], ENTRY),
        ("helpfulness", "judge_versions is a list of dicts"),
        ({"name": "helpfulness"}, "judge_versions is a list of dicts"),
        ([{}], "judge_versions entries require a 'name' (or 'judge_id') key"),
        ([{"tag": "prod"}], "judge_versions entries require a 'name' (or 'judge_id') key"),
        ([{"name": 1}], "judge_versions entries require a 'name' (or 'judge_id') key"),
        (
            [{"name": "helpfulness", "verion": "1.0"}],
            "no key 'verion', only name, judge_id, tag, version, major, minor",
        ),
        ([{"name": "helpfulness", "version": 1.0}], 'a version is written as a string, "1.2", not 1.0'),
        ([{"name": "helpfulness", "version": "1.0", "tag": "prod"}], "give one of them"),
        ([{"name": "helpfulness", "version": "1.0", "major": 1}], "give a version, or major and minor"),
        ([{"name": "helpfulness", "version": "1.0", "major_version": 1}], "give a version, or major and minor"),
        ([{"name": "helpfulness", "major": 0, "major_version": 1}], "major is given twice, as 0 and 1"),
        ([{"name": "helpfulness", "minor_version": 1}], "a minor needs a major"),
        ([{"name": "helpfulness", "minor": 1}], "a minor needs a major"),
        ([{"name": "helpfulness", "major": True}], "whole numbers, not True"),
        ([{"name": "helpfulness", "tag": 3}], "must be a string"),
    ],
)
def test_an_invalid_pin_is_refused(two_judges: JudgesFactory, pins: Any, message: str) -> None:
    with pytest.raises(ValueError, match="judge_versions") as exc_info:
        two_judges.resolve(["helpfulness"], pins)
    assert message in str(exc_info.value)


@pytest.mark.parametrize(
    ("names", "pins", "message"),
    [
        (["nope", "tone", "nada"], None, "Judges not found: nope, nada\nThere are helpfulness, tone."),
        (["tone"], [{"name": "nope"}], "Judges not found: nope"),
        (["tone"], [{"name": "helpfulness"}], "'helpfulness' is pinned, but it is none of the judges tone"),
        (["tone"], [{"name": "tone", "version": "9.9"}], "Judge 'tone' has no version 9.9\nIt has 0.0."),
        (["tone"], [{"name": "tone", "version": "../0"}], "has no version ../0"),
        (["tone"], [{"name": "tone", "tag": "prod"}], "Judge 'tone' has no tag 'prod'"),
        (["tone"], [{"name": "tone", "major": 0, "minor": 7}], "has no version 0.7"),
    ],
)
def test_unknown_pins_fail(two_judges: JudgesFactory, names: list[str], pins: Any, message: str) -> None:
    with pytest.raises(JudgmentValidationError) as exc_info:
        two_judges.resolve(names, pins)
    assert message in str(exc_info.value)
