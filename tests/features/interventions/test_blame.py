"""`scoregate blame` and `explain_regressions`: which part of a change made cases fail."""

from __future__ import annotations

import json
import sys
from typing import Any

from tests.features.interventions.bot import BOT, PROMPT, write_bot
from tests.features.interventions.test_tree_copy import digest_tree
from tests.integration.host.conftest import Project
from tests.integration.host.test_bases import keep_run

AUTO = 'explain_regressions = "auto"\n'
LIMITS = "min_pass_rate = 0\nfail_on_regression = true\n"


def break_greeting(project: Project) -> None:
    """Change three places, one of which makes the case of the greeting fail."""
    project.write("evals/prompt.md", PROMPT.replace("- Greet the customer.\n", "").replace("weather", "weather today"))
    project.write("evals/bot.py", f"{BOT}\nUNUSED = 1\n")


def test_the_hunk_that_made_a_case_fail_is_named(project: Project) -> None:
    write_bot(project)
    project.scoregate("run")
    base = keep_run(project, "base")
    break_greeting(project)
    assert project.scoregate("run", "--baseline", str(base)).exit_code == 1
    before = digest_tree(project.root)
    ran = project.scoregate("blame", "--json")
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.output[ran.output.index("{\n") :])
    assert found["changes"] == [{"file": "evals/prompt.md", "first": 3, "last": 3}]
    assert (found["restored"], found["cases"]) == (1, 1)
    assert digest_tree(project.root) == before


def test_a_gate_that_fails_asks_for_the_cause(project: Project) -> None:
    write_bot(project, f"{LIMITS}{AUTO}")
    project.scoregate("run")
    base = keep_run(project, "base")
    break_greeting(project)
    ran = project.scoregate("run", "--baseline", str(base))
    assert ran.exit_code == 1, ran.output
    cause = "Reverting evals/prompt.md line 3 restores 1 of 1 cases"
    assert ran.comment.index(cause) < ran.comment.index("| Baseline |")  # above the table of scores
    assert "→ Reverting evals/prompt.md line 3 restores 1 of 1 cases" in ran.output
    assert ran.result["sections"]["interventions"]["changes"] == [{"file": "evals/prompt.md", "first": 3, "last": 3}]
    assert not list(ran.out.glob("copy-*"))
    assert ran.comment.split(cause)[1].split("\n")[1] == ""
    stored = project.scoregate("report", "--format", "markdown")
    assert "Reverting evals/prompt.md line 3 restores" in stored.output


def test_a_green_run_asks_for_no_cause(project: Project) -> None:
    write_bot(project, f"{LIMITS}{AUTO}")
    project.scoregate("run")
    base = keep_run(project, "base")
    project.write("evals/bot.py", f"{BOT}\nUNUSED = 1\n")
    ran = project.scoregate("run", "--baseline", str(base))
    assert ran.exit_code == 0, ran.output
    assert "sections" not in ran.result or "interventions" not in ran.result["sections"]


def test_without_the_commit_of_the_baseline_the_cause_is_not_known(project: Project) -> None:
    write_bot(project)
    project.scoregate("run")
    base = keep_run(project, "base")
    break_greeting(project)
    project.scoregate("run", "--baseline", str(base))
    path = base / "run.json" if (base / "run.json").exists() else base / "run" / "run.json"
    path.write_text(path.read_text().replace(project.git("rev-parse", "HEAD").strip(), "0" * 40))
    ran = project.scoregate("blame", "--baseline", str(base))
    assert ran.exit_code == 3, ran.output
    assert "The cause of the drop is not known: the baseline's commit is not in this repository" in ran.output


ASKS_LARGE = """
import os

is_large = os.environ.get("SCOREGATE_MODEL") == "large"
answer = (lambda answer: lambda question: answer(question) if is_large else "no idea")(answer)
"""


def blame(project: Project, before: dict[str, str], after: dict[str, str], *options: str) -> dict[str, Any]:
    """The cause of the drop after a change of a bot that only knows answers with the model `large`."""
    write_bot(project)
    (project.root / "scoregate.toml").unlink()
    for name, text in {"evals/bot.py": BOT + ASKS_LARGE, **before}.items():
        project.write(name, text)
    project.commit()
    project.scoregate("run", *options)
    base = keep_run(project, "base")
    weather = PROMPT.replace("weather", "weather today")
    for name, text in {"evals/prompt.md": weather, **after}.items():
        project.write(name, text)
    ran = project.scoregate("run", "--baseline", str(base))
    assert ran.exit_code == 3, ran.output  # with another model, the base can't run here to confirm
    found: dict[str, Any] = ran.result["sections"]["interventions"]
    return found


def test_settings_are_hunks_in_the_change_that_asks_for_the_cause(project: Project) -> None:
    before = f'{LIMITS}\nmodel = "large"\n'
    after = f'{LIMITS}{AUTO}\nmodel = "small"\n'
    found = blame(project, {"scoregate.toml": before}, {"scoregate.toml": after})
    assert found["changes"] == [{"file": "scoregate.toml", "first": 5, "last": 5}], found
    assert (found["restored"], found["is_only"], found["not_reverted"]) == (2, True, [])


def test_parts_of_settings_that_cannot_be_read_alone_are_reverted_together(project: Project) -> None:
    before = f'model = "large"\n{LIMITS}{AUTO}'
    after = f'{LIMITS}{AUTO}model = "small"\n'
    found = blame(project, {"scoregate.toml": before}, {"scoregate.toml": after})
    lines = [(each["first"], each["last"]) for each in found["changes"]]
    assert (lines, found["restored"]) == ([(1, 1), (4, 4)], 2), found


def test_settings_in_a_file_of_others_are_hunks_and_its_packages_are_not(project: Project) -> None:
    table = f"\n[tool.scoregate]\n{LIMITS}{AUTO}"
    before = f'[project]\nname = "bot"\nversion = "1"\n{table}model = "large"\n'
    after = f'[project]\nname = "bot"\nversion = "2"\n{table}model = "small"\n'
    found = blame(project, {"pyproject.toml": before}, {"pyproject.toml": after})
    assert found["changes"] == [{"file": "pyproject.toml", "first": 9, "last": 9}], found
    assert found["not_reverted"] == ["pyproject.toml"]


def test_settings_without_which_the_suites_are_gone_stay(project: Project) -> None:
    before = f'{LIMITS}suite = ["other"]\nmodel = "large"\n'
    after = f'{LIMITS}{AUTO}model = "small"\n'
    found = blame(project, {"scoregate.toml": before}, {"scoregate.toml": after}, "--suite", "bot")
    assert (found["changes"], found["not_reverted"]) == ([], ["scoregate.toml"]), found


def test_the_command_of_a_suite_is_a_hunk(project: Project) -> None:
    before = f'{LIMITS}{AUTO}[[commands]]\nname = "bot"\nrun = ["{sys.executable}", "evals/ask.py", "large"]\n'
    asks = 'import os, runpy, sys\n\nos.environ["SCOREGATE_MODEL"] = sys.argv[1]\nrunpy.run_path("evals/eval_bot.py")\n'
    files = {"evals/ask.py": asks, "scoregate.toml": before}
    found = blame(project, files, {"scoregate.toml": before.replace("large", "small")})
    assert found["changes"] == [{"file": "scoregate.toml", "first": 6, "last": 6}], found


def test_packages_that_stay_are_named_where_it_is_recorded_what_suites_read(project: Project) -> None:
    table = f"{LIMITS}{AUTO}affected = true\n"
    before = {"scoregate.toml": table, "requirements.txt": "one\n", "notes.md": "One.\n"}
    after = {"scoregate.toml": table, "requirements.txt": "two\n", "notes.md": "Two.\n"}
    write_bot(project)
    for name, text in before.items():
        project.write(name, text)
    project.commit()
    project.scoregate("run")
    base = keep_run(project, "base")
    break_greeting(project)
    for name, text in after.items():
        project.write(name, text)
    ran = project.scoregate("run", "--baseline", str(base))
    found = ran.result["sections"]["interventions"]
    assert found["changes"] == [{"file": "evals/prompt.md", "first": 3, "last": 3}], ran.output
    assert found["not_reverted"] == ["requirements.txt"]
