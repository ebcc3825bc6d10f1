"""`measure_again`: before a gate on scores fails, its suites run again on both sides."""

from __future__ import annotations

import pytest
from tests.features.counted_trials import LIMIT, Change
from tests.integration.host.conftest import Project, Ran

SEVEN = range(7)
CHANCE = {f"good_{number}": "n == 0" for number in SEVEN}
WORSE = {f"good_{number}": "True" for number in SEVEN}
LATER = {f"good_{number}": "n == 1" for number in range(10, 14)}
DROP = "min_pass_rate = 0\nmax_drop = 0.05\n"


def count_more(outcome: Ran) -> tuple[int, int]:
    """How many more runs there are here and in the base."""
    found = outcome.result.get("sections", {}).get("measure_again", {"runs": 0, "base_runs": 0})
    return found["runs"], found["base_runs"]


@pytest.mark.parametrize("settings", [LIMIT, DROP])
def test_a_drop_by_chance_is_gone_with_more_trials(project: Project, settings: str) -> None:
    """Seven of forty cases fall, p = .008, and in the base others do so a moment later."""
    change = Change(project, settings, cases=40)
    change.run_base(**LATER)
    outcome = change.run(**CHANCE)
    assert outcome.exit_code == 0, outcome.output
    assert count_more(outcome) == (2, 1)
    assert "demo ran twice more, and once more in the base." in outcome.comment
    (row,) = outcome.result["rows"]
    assert row["delta"] == pytest.approx((-7 / 3 + 4 / 2) / 40)
    rejudged = project.scoregate("gate", "--baseline", str(change.base))
    assert rejudged.exit_code == 0, rejudged.output


def test_a_drop_that_stays_fails_the_run(project: Project) -> None:
    change = Change(project, cases=40)
    change.run_base()
    outcome = change.run(**WORSE)
    assert outcome.exit_code == 1, outcome.output
    assert count_more(outcome) == (2, 1)
    assert outcome.result["title"].endswith("measured again")


def test_without_a_base_that_can_run_only_the_change_runs_again(project: Project) -> None:
    change = Change(project, cases=40, is_committed=False)
    change.run_base()
    outcome = change.run(**WORSE)
    assert count_more(outcome) == (2, 0)
    assert "The base was not measured again: the base's run is of no commit." in outcome.comment


@pytest.mark.parametrize(
    ("settings", "falling"),
    [
        (f"{LIMIT}measure_again = false\n", 7),
        (LIMIT, 12),  # certain: p = .0002
        ("fail_on_regression = true\n", 7),  # min_pass_rate fails anyway
        (LIMIT, 2),
    ],
)
def test_no_more_trials_are_needed(project: Project, settings: str, falling: int) -> None:
    change = Change(project, settings, cases=40)
    change.run_base()
    outcome = change.run(**{f"good_{number}": "n == 0" for number in range(falling)})
    assert count_more(outcome) == (0, 0)
    assert outcome.exit_code == int(falling > 2), outcome.output


def test_few_cases_that_could_not_fail_at_half_of_the_level_are_not_measured_again(project: Project) -> None:
    change = Change(project, cases=6)
    change.run_base()
    outcome = change.run(**{f"good_{number}": "n == 0" for number in range(6)})
    assert count_more(outcome) == (0, 0)
    assert outcome.exit_code == 1, outcome.output


def test_the_last_run_of_a_developer_asks_for_no_more_trials(project: Project) -> None:
    change = Change(project, cases=40)
    change.run_base()
    change.write("head", WORSE)
    outcome = project.scoregate("run")
    assert count_more(outcome) == (0, 0)
    assert outcome.exit_code == 1, outcome.output


def test_more_trials_with_too_many_errors_leave_the_first_ones_to_decide(project: Project) -> None:
    change = Change(project, cases=40)
    change.run_base()
    errors = {f"good_{number}": "1 / 0 if n else False" for number in range(20, 26)}
    outcome = change.run(**WORSE, **errors)
    assert outcome.exit_code == 1, outcome.output
    assert count_more(outcome) == (0, 0)
    assert "Not measured again: it was stopped, a part of it failed, or it has too many errors." in outcome.comment
    assert not list((outcome.out / "run").glob("again-*"))
