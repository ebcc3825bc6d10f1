"""`scoregate mutate` on a bot whose rules some cases notice, and others don't."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.features.interventions.bot import BOT, PROMPT, read_result, write_bot
from tests.features.interventions.test_tree_copy import digest_tree
from tests.integration.host.conftest import Project
from tests.waiting import wait_until

from scoregate.features.interventions.edited_trees.edited_runs import Contents, EditedRuns
from scoregate.features.interventions.edited_trees.edits import Broken
from scoregate.features.interventions.mutation.budget import Budget
from scoregate.kernel.job.fresh_trials import FailingCase
from scoregate.kernel.types.runs.run import Run

OUTCOMES = {
    "Greet the customer.": "gated",
    "Name prices in euros.": "gated",
    "Refuse refunds.": "better_without",
    "Mention the weather.": "not_noticed",
    "Explain nothing of this.": "not_exercised",
}


def list_outcomes(result: dict[str, Any]) -> dict[str, str]:
    return {each["text"].strip().removeprefix("- "): each["outcome"] for each in result["units"]}


def test_each_rule_of_a_prompt_is_deleted_once(project: Project) -> None:
    write_bot(project)
    before = digest_tree(project.root)
    ran = project.scoregate("mutate")
    assert ran.exit_code == 0, ran.output
    result = read_result(project)
    assert list_outcomes(result) == OUTCOMES, ran.output
    assert (result["noticed"], result["score"]) == (2, pytest.approx(2 / 3))
    greeting = next(each for each in result["units"] if "Greet" in each["text"])
    assert (greeting["file"], greeting["lines"], greeting["operator"]) == ("evals/prompt.md", [3, 3], "delete")
    assert greeting["cases"] == ["greeting"]
    assert greeting["gates"] == ["Broken cases of bot"]
    assert result["blind_cases"] == []
    assert "The evals notice 2 of 3 units" in ran.output
    page = (project.root / "scoregate-out/mutate/mutation.html").read_text(encoding="utf-8")
    assert "Mention the weather." in page
    assert digest_tree(project.root) == before
    assert project.git("worktree", "list").count("\n") == 1

    # A second command reads the results of the first one, and measures nothing but the unedited tree.
    again = project.scoregate("mutate", "--json")
    assert list_outcomes(read_result(project)) == OUTCOMES
    printed = json.loads(again.output[again.output.index("{\n") :])
    assert printed == read_result(project)
    assert " of 5: evals/prompt.md" not in again.output
    printed = json.loads(again.output[again.output.index("{") :])
    assert printed == read_result(project)

    project.write("evals/prompt.md", PROMPT.replace("- Mention the weather.\n", "- Mention the weather!\n"))
    since = project.scoregate("mutate", "--since", "HEAD")
    assert list_outcomes(read_result(project)) == {"Mention the weather!": "not_noticed"}, since.output


def test_reports_show_what_other_edits_write(project: Project) -> None:
    write_bot(project)
    rule = "- Name prices in euros, but never <b>more</b> than 20 of them in one answer of the bot | please.\n"
    project.write("evals/prompt.md", rule)
    ran = project.scoregate("mutate", "--operators", "delete,negate,number")
    units = {each["operator"]: each for each in read_result(project)["units"]}
    assert units["delete"]["new_text"] == ""
    assert units["negate"]["new_text"] == units["negate"]["text"].replace("never", "always"), ran.output
    before, after = units["number"]["text"].split(" than 20 of ")
    assert re.fullmatch(re.escape(before) + r" than (?!20 )\d+ of " + re.escape(after), units["number"]["new_text"])
    out = project.root / "scoregate-out/mutate"
    row = next(line for line in (out / "mutation.md").read_text(encoding="utf-8").splitlines() if "| number |" in line)
    assert ["than 20 of" in part for part in row.split("</code> → <code>")] == [True, False]
    assert ("<b>" in row, row.count(" | ")) == (False, 3)
    page = (out / "mutation.html").read_text(encoding="utf-8")
    assert "always &lt;b&gt;more" in page
    assert " → " in next(line for line in ran.output.splitlines() if " number " in line)


def test_without_a_gate_on_changes_what_is_seen_fails_nothing(project: Project) -> None:
    write_bot(project, "min_pass_rate = 0\n")
    project.write("evals/prompt.md", "- Greet the customer.\n")
    ran = project.scoregate("mutate", "--sample", "1")
    assert list_outcomes(read_result(project)) == {"Greet the customer.": "seen"}, ran.output


def test_a_gate_that_fails_anyway_notices_nothing(project: Project) -> None:
    write_bot(project, "min_pass_rate = 1\n")
    project.write("evals/prompt.md", "- Greet the customer.\n")
    ran = project.scoregate("mutate")
    result = read_result(project)
    assert list_outcomes(result) == {"Greet the customer.": "seen"}, ran.output
    assert result["red_gates"] == ["Pass rate of bot"]
    assert "These gates already fail without an edit, so they notice nothing: Pass rate of bot." in ran.output


def test_a_tree_that_cannot_be_measured_ends_with_exit_code_3(project: Project) -> None:
    write_bot(project)
    project.write("evals/bot.py", "raise RuntimeError('no bot')\n")
    ran = project.scoregate("mutate")
    assert ran.exit_code == 3, ran.output
    assert "Could not be measured: in a copy of the work tree, " in ran.output


def test_an_edit_after_which_nothing_runs_is_broken(project: Project) -> None:
    write_bot(project)
    project.write("evals/prompt.md", "Be kind.\n")
    lines = ("import json, pathlib", "path = pathlib.Path(__file__).with_name('config.json')")
    project.write("evals/bot.py", "\n".join([*lines, "answer = json.loads(path.read_text())['word'].join", ""]))
    project.write("evals/config.json", '{"word": "hello EUR refund granted"}\n')
    ran = project.scoregate("mutate", "--files", "*.json")
    outcomes = [(each["outcome"], each["reason"]) for each in read_result(project)["units"]]
    assert [name for name, _ in outcomes] == ["broken"], ran.output
    assert "KeyError" in outcomes[0][1]


def test_a_killed_command_leaves_the_tree_as_it_was_and_goes_on(project: Project) -> None:
    write_bot(project)
    before = digest_tree(project.root)
    results = project.root / "scoregate-out/mutate/units.jsonl"
    process = project.start("mutate", "--copies", "1")
    wait_until(lambda: results.is_file() and results.read_bytes().count(b"\n") >= 3)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert digest_tree(project.root) == before
    known = results.read_bytes().count(b"\n") - 1
    ran = project.scoregate("mutate")
    assert list_outcomes(read_result(project)) == OUTCOMES, ran.output
    assert sum(" of 5: evals/prompt.md" in line for line in ran.output.splitlines()) <= 5 - known


def test_fresh_trials_of_a_unit_that_the_budget_interrupted_count_later(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_bot(project)
    project.write("evals/prompt.md", "- Greet the customer.\n")
    runs, ends = list[Contents](), iter([""] * 4 + ["the budget is spent"])
    run_once = EditedRuns.run_once

    async def count(self: EditedRuns, contents: Contents, cases: Sequence[FailingCase]) -> Any:
        runs.append(contents)
        return await run_once(self, contents, cases)

    monkeypatch.setattr(EditedRuns, "run_once", count)
    monkeypatch.setattr(Budget, "explain_end", lambda *_: next(ends, ""))
    first = project.scoregate("mutate", "--copies", "1")
    assert (read_result(project)["units"], len(runs)) == ([], 6), first.output  # three rounds in both trees
    second = project.scoregate("mutate", "--copies", "1")
    assert list_outcomes(read_result(project)) == {"Greet the customer.": "gated"}, second.output
    assert [sum(bool(each) is is_edited for each in runs) for is_edited in (True, False)] == [8, 8]


IS_KIND = """
answer = (lambda answer: lambda question: answer(question) if "kind" in prompt else "no")(answer)
"""


def test_earlier_trials_count_in_both_trees_alike(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that only fails from now on makes no unit seen, whatever passed before the command was interrupted."""
    write_bot(project)
    project.write("evals/bot.py", BOT + IS_KIND)
    project.write("evals/prompt.md", "- Greet the customer.\n- Be kind.\n")
    ends, run_once = iter([""] * 11 + ["the budget is spent"]), EditedRuns.run_once
    monkeypatch.setattr(Budget, "explain_end", lambda *_: next(ends, ""))
    first = project.scoregate("mutate", "--copies", "1")
    assert list_outcomes(read_result(project)) == {"Be kind.": "gated"}, first.output

    async def fail(self: EditedRuns, contents: Contents, cases: Sequence[FailingCase]) -> Any:
        outcomes = await run_once(self, contents, cases)
        return outcomes if isinstance(outcomes, Broken) else dict.fromkeys(outcomes, False)

    monkeypatch.setattr(EditedRuns, "run_once", fail)
    second = project.scoregate("mutate", "--copies", "1")
    outcomes = {"Be kind.": "gated", "Greet the customer.": "not_noticed"}
    assert list_outcomes(read_result(project)) == outcomes, second.output


def test_trials_that_a_stop_may_have_made_fail_do_not_count(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bot(project)
    project.write("evals/prompt.md", "- Greet the customer.\n")
    open_run = EditedRuns.open_run

    @asynccontextmanager
    async def stop(self: EditedRuns, contents: Contents, *rest: Any, **options: Any) -> AsyncIterator[Run]:
        async with open_run(self, contents, *rest, **options) as run:
            if contents and not options:  # fresh trials of an edit
                self.ports.stop.set()
            yield run

    monkeypatch.setattr(EditedRuns, "open_run", stop)
    ran = project.scoregate("mutate", "--copies", "1")
    assert "not measured: the command was stopped" in ran.output
    (_,) = (project.root / "scoregate-out/mutate/units.jsonl").read_bytes().splitlines()


def test_a_large_file_is_edited_in_part(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoregate.features.interventions.mutation.chosen_units._MOST_OF_FILE", 1)
    write_bot(project)
    project.write("evals/prompt.md", "- Explain nothing.\n- Refuse nothing.\n")
    ran = project.scoregate("mutate")
    assert len(read_result(project)["units"]) == 1, ran.output
    assert "evals/prompt.md has 2 units, of which 1 are edited." in ran.output


RUBRIC_EVAL = """
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from bot import answer

from scoregate import evaluate
from scoregate.scorers import scorer

rubric = (Path(__file__).parent / "rubric.md").read_text(encoding="utf-8")


@scorer(name="grade")
def grade(output):
    return 0.9 if "Points for hello" in rubric and "hello" in output else 0.1


evaluate("graded", data=[{"id": name, "input": name} for name in "abc"], task=answer, scorers=[grade])
"""


def test_files_of_graders_are_no_units_and_a_gate_of_a_few_scores_notices(project: Project) -> None:
    write_bot(project, "min_score = 0.5\n")
    project.write("evals/eval_bot.py", RUBRIC_EVAL)
    project.write("evals/rubric.md", "- Points for hello.\n")
    project.write("evals/prompt.md", "- Greet the customer.\n")
    ran = project.scoregate("mutate")
    result = read_result(project)
    assert list_outcomes(result) == {"Greet the customer.": "gated"}, ran.output
    assert result["units"][0]["gates"] == ["Mean score of graded: grade"]
    assert result["ended"] == "it changes how outputs are scored, and not the outputs"


def test_the_cases_of_two_suites_are_not_edited(project: Project) -> None:
    write_bot(project)
    lines = ["from scoregate import evaluate", "from scoregate.scorers import contains"]
    for name in ("one", "two"):
        rows = "".join(json.dumps({"id": n, "q": f"question {name} {n}", "expected": "a"}) + "\n" for n in range(4))
        project.write(f"evals/{name}.jsonl", rows)
        data = f"[json.loads(line) for line in open('{name}.jsonl')]"
        call = f"evaluate('{name}', data={data}, task=lambda q: 'a', scorers=[contains()])"
        project.write(f"evals/eval_{name}.py", "\n".join(["import json, os", *lines, "os.chdir('evals')", call, ""]))
    project.write("evals/prompt.md", "- Greet the customer.\n")
    ran = project.scoregate("mutate", "--files", "*.jsonl")
    assert read_result(project)["units"] == [], ran.output
