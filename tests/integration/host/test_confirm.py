"""`--confirm`: newly failing cases are run again before they count."""

from __future__ import annotations

import pytest
from tests.integration.host.conftest import SUITE, Project, Ran
from tests.integration.host.test_bases import keep_run

CRITICAL = f"""{SUITE}
from pathlib import Path
from dataclasses import field
from scoregate.testing.models import TestCaseConfig

calls = Path(__file__).with_name("calls.txt")


@dataclass
class Tagged(Case):
    test_case_config: TestCaseConfig = field(default_factory=lambda: TestCaseConfig(tags=["critical"]))


def fn(case):
    if case.input != "good 3":
        return case.input
    seen = calls.read_text() if calls.exists() else ""
    calls.write_text(seen + "x")
    return case.input if PASSES(len(seen)) else "wrong"


cases = [Tagged(f"good {{i}}", f"good {{i}}") for i in range(20)]
run_test_suite(id="demo", test_cases=cases, fn=fn, evaluators=[IsEquals()], max_test_case_concurrency=1)
"""


def run_confirmed(project: Project, passes: str, *flags: str, config: str = "") -> Ran:
    """A run whose case `good 3` passed in the base; now its nth call, from 0, passes if `passes` is true of n.

    `config` is more of each case's TestCaseConfig.
    """
    script = CRITICAL.replace('tags=["critical"]', f'tags=["critical"]{config}')
    project.write("scoregate.toml", "min_pass_rate = 0\nfail_on_critical = true\n")
    project.write("evals/demo.py", script.replace("PASSES(len(seen))", "True"))
    project.scoregate("run")
    base = keep_run(project, "base")
    (project.root / "evals" / "calls.txt").unlink()
    project.write("evals/demo.py", script.replace("PASSES(len(seen))", f"(lambda n: {passes})(len(seen))"))
    return project.scoregate("run", "--baseline", str(base), *flags)


def test_a_critical_case_that_keeps_failing_fails_the_gate(project: Project) -> None:
    outcome = run_confirmed(project, "False", "--confirm")
    assert outcome.exit_code == 1, outcome.output
    assert outcome.run["confirmations"] == [
        {"suite": "demo", "case": "good 3", "tries": [False, False, False], "base_tries": [], "level": None}
    ]
    assert "confirmed" in outcome.output


def test_a_chance_failure_is_cleared(project: Project) -> None:
    outcome = run_confirmed(project, "n > 0", "--confirm")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.run["confirmations"][0]["tries"] == [True, True, True]
    assert (outcome.out / "confirm-1" / "run.json").is_file()


def test_a_fourth_try_decides_a_tie(project: Project) -> None:
    outcome = run_confirmed(project, "n in (2, 4)", "--confirm", "all")
    assert outcome.run["confirmations"][0]["tries"] == [False, True, False, True]
    assert outcome.exit_code == 0


def test_a_case_with_repeats_is_tried_until_it_is_decided(project: Project) -> None:
    outcome = run_confirmed(project, "n == 2", "--confirm", config=", repeat_num_times=1")
    assert outcome.run["confirmations"][0]["tries"] == [False, True, False, False]
    assert outcome.exit_code == 1
    assert "confirmed: failed 3 of 4 further tries" in " ".join(outcome.output.split())


def test_a_critical_case_is_confirmed_by_default(project: Project) -> None:
    outcome = run_confirmed(project, "n > 0")
    assert outcome.run["confirmations"][0]["tries"] == [True, True, True]
    assert outcome.exit_code == 0


def test_a_case_with_only_errors_is_not_decided(project: Project) -> None:
    outcome = run_confirmed(project, "False if n == 0 else 1 / 0", "--confirm")
    assert outcome.run["confirmations"][0]["tries"] == []
    assert outcome.exit_code == 3, outcome.output


def test_without_confirmation_the_first_failure_counts(project: Project) -> None:
    outcome = run_confirmed(project, "n > 0", "--confirm", "off")
    assert outcome.exit_code == 1
    assert "not run again" in outcome.output


@pytest.mark.parametrize(("broken_base", "exit_code"), [(False, 1), (True, 0)])
def test_both_sides_run_again_if_the_base_can_run(project: Project, broken_base: bool, exit_code: int) -> None:
    project.write("scoregate.toml", "min_pass_rate = 0\nfail_on_critical = true\n")
    # Each tree counts its own calls: the base's first call passes, its later ones do not where it is broken.
    project.write("evals/demo.py", CRITICAL.replace("PASSES(len(seen))", f"{not broken_base} or first_in_tree()"))
    marker = project.root.parent / f"{project.root.name}-marker"
    helper = (
        "def first_in_tree():\n"
        f"    marker = Path({str(marker)!r})\n"
        "    if marker.exists():\n        return False\n"
        "    marker.write_text('x')\n    return True\n\n\ndef fn(case):"
    )
    text = (project.root / "evals/demo.py").read_text().replace("def fn(case):", helper)
    project.write("evals/demo.py", text)
    project.commit("base")
    project.git("checkout", "-qb", "change")
    project.write("evals/demo.py", text.replace(f"{not broken_base} or first_in_tree()", "False"))
    project.commit("change")
    outcome = project.scoregate("run", "--baseline", "rerun", "--confirm")
    assert outcome.exit_code == exit_code, outcome.output
    confirmation = outcome.run["confirmations"][0]
    rounds = 4 if broken_base else 8  # four failures in the base are too many for any difference
    assert confirmation["tries"] == [False] * rounds
    assert confirmation["base_tries"] == [not broken_base] * rounds
    assert confirmation["level"] == pytest.approx(0.025 if broken_base else 1 / 12870)
