"""`fail_on_broken_cases`: what always passed in the base, and fails in fresh trials of the change alone."""

from __future__ import annotations

from typing import Any

import pytest
from tests.features.counted_trials import LIMIT, Change
from tests.integration.host.conftest import Project, Ran


def find_rule(outcome: Ran) -> dict[str, Any] | None:
    return next((each for each in outcome.result["findings"] if each["rule"] == "broken case"), None)


def list_tries(outcome: Ran) -> dict[str, tuple[list[bool], list[bool]]]:
    return {each["case"]: (each["tries"], each["base_tries"]) for each in outcome.run.get("confirmations", ())}


def test_one_case_of_twenty_that_a_change_breaks_fails_the_run(project: Project) -> None:
    change = Change(project)
    change.run_base()
    outcome = change.run(good_3="True")
    assert outcome.exit_code == 1, outcome.output
    assert list_tries(outcome) == {"good 3": ([False] * 5, [True] * 5)}
    finding = find_rule(outcome)
    assert finding is not None
    assert finding["value"] == "good 3 (failed 5 of 5 further trials, the baseline 0 of 5)"
    assert finding["origin"] == "scoregate.toml"
    assert "1 newly failing case ran again, up to 5 times on each side." in outcome.comment
    rejudged = project.scoregate("gate", "--baseline", str(change.base))
    assert rejudged.exit_code == 1, rejudged.output


def test_a_case_that_fails_in_the_base_too_is_not_broken(project: Project) -> None:
    """The provider has changed, for example: the recorded trial passed, and no fresh one does."""
    change = Change(project)
    change.run_base(good_3="n > 0")
    outcome = change.run(good_3="True")
    assert outcome.exit_code == 0, outcome.output
    assert list_tries(outcome)["good 3"][1].count(True) == 0
    assert "fails in the base too" in outcome.output


def test_a_chance_failure_is_not_broken_and_stops_early(project: Project) -> None:
    change = Change(project)
    change.run_base()
    outcome = change.run(good_3="n == 0")
    assert outcome.exit_code == 0, outcome.output
    assert list_tries(outcome) == {"good 3": ([True, True], [True])}
    finding = find_rule(outcome)
    assert finding is not None
    assert finding["value"] == "1 newly failing, and none of them certainly by the change"


def test_two_broken_cases_are_found_among_chance_failures(project: Project) -> None:
    change = Change(project)
    change.run_base()
    outcome = change.run(good_3="True", good_5="n == 0", good_7="n != 2")
    assert outcome.exit_code == 1, outcome.output
    finding = find_rule(outcome)
    assert finding is not None
    assert "good 3" in finding["value"]
    assert "good 7" in finding["value"]
    assert "good 5" not in finding["value"]
    assert len(list_tries(outcome)["good 3"][0]) == 6  # three newly fail, and share the level


def test_a_case_that_failed_once_in_the_base_is_not_stable(project: Project) -> None:
    settings = f"{LIMIT}repeats = 3\n"
    change = Change(project, settings)
    change.run_base(good_3="n == 0")
    outcome = change.run(good_3="True")
    assert list_tries(outcome) == {}
    assert find_rule(outcome) is None
    outcome = change.run("--fail-on-broken-cases", "all", good_3="True")
    assert outcome.exit_code == 1, outcome.output
    assert list_tries(outcome) == {"good 3": ([False] * 5, [True] * 5)}


@pytest.mark.parametrize(
    ("settings", "is_tried"),
    [
        ("min_pass_rate = 0\n", False),
        (f'{LIMIT}fail_on_broken_cases = "off"\n', False),
        (f'{LIMIT}[suites."demo"]\nfail_on_broken_cases = "off"\n', False),
        (f'{LIMIT}[suites."other"]\nfail_on_broken_cases = "off"\n', True),
        ('min_pass_rate = 0\nfail_on_broken_cases = "stable"\n', True),
    ],
)
def test_the_setting_decides_which_cases_run_again(project: Project, settings: str, is_tried: bool) -> None:
    change = Change(project, settings)
    change.run_base()
    outcome = change.run(good_3="True")
    assert (outcome.exit_code, "good 3" in list_tries(outcome)) == (int(is_tried), is_tried), outcome.output


@pytest.mark.parametrize("is_noisy", [False, True])
def test_without_a_base_that_can_run_the_run_is_unmeasurable_unless_a_trial_passes(
    project: Project, is_noisy: bool
) -> None:
    change = Change(project, is_committed=False)
    change.run_base()
    outcome = change.run(good_3="True", good_5="n == 0" if is_noisy else "True")
    assert outcome.exit_code == (0 if is_noisy else 3), outcome.output
    assert "The base did not run again: the base's run is of no commit." in outcome.comment
    finding = find_rule(outcome)
    assert finding is not None
    if not is_noisy:
        cure = "commit the code, so that it can be compared with a commit"
        assert finding["value"].endswith(f"; the base can't run here, which would decide: {cure}")


def test_the_last_commit_decides_where_the_previous_run_had_uncommitted_changes(project: Project) -> None:
    change = Change(project)
    change.run_base()
    project.write(".gitignore", "scoregate-out/\n*.tmp\n")
    assert project.scoregate("run").exit_code == 0
    change.write("head", {"good_3": "True"})
    outcome = project.scoregate("run")
    finding = find_rule(outcome)
    assert finding is not None
    assert (outcome.exit_code, finding["conclusion"]) == (3, "unmeasurable"), outcome.output
    assert finding["value"].endswith(": --baseline rerun:HEAD compares with the last commit, which can")
    decided = project.scoregate("run", "--baseline", "rerun:HEAD")
    assert decided.exit_code == 1, decided.output
    assert list_tries(decided) == {"good 3": ([False] * 5, [True] * 5)}


def test_a_suite_whose_means_fail_already_runs_nothing_again(project: Project) -> None:
    change = Change(project)
    change.run_base()
    outcome = change.run(**{f"good_{number}": "True" for number in range(12)})
    assert outcome.exit_code == 1, outcome.output
    assert list_tries(outcome) == {}
    assert find_rule(outcome) is None


def test_a_run_that_was_made_without_the_limit_has_no_fresh_trials(project: Project) -> None:
    change = Change(project, "min_pass_rate = 0\n")
    change.run_base()
    change.run(good_3="True")
    judged = project.scoregate("gate", "--baseline", str(change.base), "--fail-on-broken-cases", "stable")
    assert judged.exit_code == 3, judged.output
    assert "1 newly failing, which did not run again" in " ".join(judged.output.split())
    judged = project.scoregate("gate", "--baseline", str(change.base), "--fail-on-regression")
    assert judged.exit_code == 0, judged.output


def test_a_change_of_the_settings_that_decide_results_is_not_run_in_the_base(project: Project) -> None:
    """Otherwise the base would use the new ones, fail as well, and clear the case."""
    change = Change(project)
    change.run_base()
    project.write("requirements.txt", "example==2\n")
    project.git("add", "-A")
    outcome = change.run(good_3="True")
    assert outcome.exit_code == 3, outcome.output
    assert "requirements.txt changed, and the base would run with this change" in outcome.comment


@pytest.mark.parametrize("what", ['case = "good 3"', 'evaluator = "*"\nat_most = 0.1'])
def test_accepted_cases_do_not_run_again(project: Project, what: str) -> None:
    change = Change(project)
    change.run_base()
    terms = 'by = "ana"\nreason = "new wording"\nuntil = 2999-12-31\n'
    project.write(".scoregate/accepted.toml", f'[[accepted]]\nsuite = "demo"\n{what}\n{terms}')
    outcome = change.run(good_3="True")
    assert list_tries(outcome) == {}, outcome.output
    assert outcome.exit_code == 0, outcome.output


def test_critical_cases_are_left_to_their_own_gate(project: Project) -> None:
    """One pass of two trials must not clear a case that `fail_on_critical` watches without `confirm`."""
    change = Change(project, f"{LIMIT}fail_on_critical = true\nconfirm = 'off'\n")
    place, text = project.root / "evals/demo.py", '["critical"]'
    imported = "from scoregate.testing.models import TestCaseConfig"
    tagged = f"\n{imported}\nCase.test_case_config = TestCaseConfig(tags={text})\ncases = "
    project.write("evals/demo.py", place.read_text().replace("\ncases = ", tagged, 1))
    change.run_base()
    outcome = change.run(good_3="n == 0")
    assert list_tries(outcome) == {}
    assert outcome.exit_code == 1, outcome.output


@pytest.mark.parametrize("accepts", [True, False])
def test_evaluators_that_do_not_count_clear_no_trial_and_fail_none(project: Project, accepts: bool) -> None:
    """The drop of `is-short` is accepted, so that trials that fail in it alone have passed."""
    change = Change(project)
    body = (project.root / "evals/demo.py").read_text()
    short = (
        "class IsShort(IsEquals):\n    id = 'is-short'\n"
        "    def evaluate_test_case(self, test_case, output):\n"
        "        from scoregate.testing.models import Evaluation, Threshold\n"
        "        return Evaluation(score=float(not LONG or test_case.input != 'good 3'), threshold=Threshold(gte=1))\n"
        "LONG = pathlib.Path(__file__).with_name('long').exists()\n"
    )
    body = body.replace("\ncases = ", f"\n{short}\ncases = ", 1).replace("[IsEquals()]", "[IsEquals(), IsShort()]")
    project.write("evals/demo.py", body)
    change.run_base()
    if accepts:
        terms = 'suite = "demo"\nevaluator = "is-short"\nat_most = 0.1\nby = "ana"\nreason = "x"\nuntil = 2999-12-31\n'
        project.write(".scoregate/accepted.toml", f"[[accepted]]\n{terms}")
    project.write("evals/long", "")
    outcome = change.run(good_3="n == 0")  # `is-short` fails in every trial, `is-equals` by chance
    assert outcome.exit_code == int(not accepts), outcome.output
    assert list_tries(outcome)["good 3"][0] == ([True, True] if accepts else [False] * 5)


def test_the_first_cases_of_each_suite_are_tried(project: Project) -> None:
    """Eighteen newly fail: fifteen run again, and the notice says so."""
    change = Change(project, "min_pass_rate = 0\nfail_on_broken_cases = 'stable'\n", cases=40)
    change.run_base()
    outcome = change.run(**{f"good_{number}": "n == 0" for number in range(18)})
    assert len(list_tries(outcome)) == 15
    assert (
        "15 newly failing cases ran again (of 18, the others did not), up to 7 times on each side." in outcome.comment
    )
    finding = find_rule(outcome)
    assert finding is not None
    assert finding["value"] == "18 newly failing, and none of them certainly by the change"
