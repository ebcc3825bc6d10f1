"""`run --resume`: what a run that did not finish has measured is reused, where it still holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.integration.host.conftest import Project, Ran, clean_environment, start_program, suite
from tests.integration.host.test_crashes import wait_for
from tests.integration.host.test_kills import flushed_cases, kill
from tests.waiting import wait_until

from scoregate.kernel.judge.archive import read_run

# Every call is counted. The sixth case waits or raises until a file exists.
BODY = """
import os, pathlib, time

def fn(case):
    out = pathlib.Path(os.environ["COUNTS"])
    with (out / "calls").open("a") as file:
        file.write(case.input + "\\n")
    if case.input == "good 5" and not (out / "free").exists():
        (out / "began").write_text("x")
        if (out / "raise").exists():
            raise RuntimeError("no answer")
        time.sleep(300)
    return case.input
"""


class Bench:
    """A project whose calls are counted outside of it."""

    def __init__(self, project: Project, counts: Path) -> None:
        self.project, self.counts = project, counts
        self.write()
        project.write(".gitignore", "scoregate-out\n")
        project.commit()

    def write(self, body: str = BODY, **options: str) -> None:
        source = suite(body, fn="fn", good=8, max_test_case_concurrency="1", **options)
        self.project.write("evals/demo.py", source)

    def interrupt(self, *, cases: int = 5) -> None:
        """A run that is killed once these cases have finished."""
        process = self.project.start("run", COUNTS=str(self.counts))
        wait_for(self.counts / "began")
        wait_until(lambda: len(flushed_cases(self.project)) == cases)
        kill(process)
        (self.counts / "free").write_text("x")
        self.forget()

    def forget(self) -> None:
        (self.counts / "calls").write_text("")

    def resume(self, *words: str, **environment: str) -> Ran:
        return self.project.scoregate("run", "--resume", *words, COUNTS=str(self.counts), **environment)

    @property
    def calls(self) -> list[str]:
        return (self.counts / "calls").read_text().splitlines()


@pytest.fixture
def bench(project: Project, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(project, tmp_path_factory.mktemp("counts"))


def test_only_missing_results_are_measured(bench: Bench) -> None:
    bench.interrupt()
    outcome = bench.resume()
    assert outcome.exit_code == 0, outcome.output
    assert bench.calls == ["good 5", "good 6", "good 7"]
    assert outcome.statuses == {"passed": 8}
    assert "5 of 8 results were reused from the run of" in outcome.output
    run = read_run(outcome.out)
    (interrupted,) = (outcome.out / "interrupted").iterdir()
    source = read_run(interrupted)
    assert {case.hash: case.reused for case in run.cases} == {
        f"good {number}": source.id if number < 5 else None for number in range(8)
    }
    stored = {case.hash: (case.output, case.evaluations, case.duration_ms) for case in source.cases}
    merged = {case.hash: (case.output, case.evaluations, case.duration_ms) for case in run.cases if case.reused}
    assert merged == stored
    assert run.suites[0].planned == len(run.suites[0].columns) == 8
    assert run.end.complete is True


def test_every_report_shows_reuse(bench: Bench) -> None:
    bench.interrupt()
    outcome = bench.resume()
    assert outcome.result["run"]["reused_from"]["id"] == outcome.run["reused_from"]["id"]
    assert outcome.result["suites"][0]["reused"] == 5
    message = "5 of 8 results were reused"
    assert message in outcome.comment
    assert message in (outcome.out / "report.html").read_text(encoding="utf-8")
    assert message in " ".join(outcome.result["notices"])


def test_a_finished_run_is_measured_again(bench: Bench) -> None:
    (bench.counts / "free").write_text("x")
    assert bench.resume("--baseline", "none").exit_code == 0
    bench.forget()
    outcome = bench.resume()
    assert len(bench.calls) == 8
    assert "had finished (8 of 8 cases passed), so everything was run again" in " ".join(outcome.output.split())
    assert outcome.run["reused_from"] is None


def test_cases_with_errors_are_measured_again(bench: Bench) -> None:
    (bench.counts / "raise").write_text("x")
    assert bench.resume().exit_code == 3
    (bench.counts / "free").write_text("x")
    bench.forget()
    outcome = bench.resume()
    assert outcome.exit_code == 0, outcome.output
    assert bench.calls == ["good 5"]
    assert "7 of 8 results were reused" in outcome.output
    assert "1 met an error" in " ".join(outcome.output.split())


def test_a_result_reused_twice_keeps_its_origin(bench: Bench) -> None:
    bench.interrupt()
    (bench.counts / "free").unlink()
    (bench.counts / "raise").write_text("x")
    first = bench.resume()
    assert first.exit_code == 3
    run = first.run
    (bench.counts / "free").write_text("x")
    second = bench.resume()
    origins = {case.hash: case.reused for case in read_run(second.out).cases}
    assert origins["good 0"] == run["reused_from"]["id"]
    assert origins["good 7"] == second.run["reused_from"]["id"] == run["id"]
    assert origins["good 5"] is None


CHANGES = {
    "committed": "commit",
    "uncommitted": "evals/demo.py",
    "untracked": "helper.py",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_nothing_runs_once_the_code_has_changed(bench: Bench, change: str) -> None:
    bench.interrupt()
    bench.write(BODY + "\n# another\n") if change == "evals/demo.py" else bench.project.write("helper.py", "x = 1")
    if change == "commit":
        bench.project.commit()
    refused = bench.resume()
    assert (refused.exit_code, bench.calls) == (2, []), refused.output
    text = " ".join(refused.output.split())
    assert "no results of the run of" in text
    assert "the code is not the same" in text
    assert ("evals/demo.py" if change == "evals/demo.py" else "helper.py") in text
    assert "--resume --force" in text
    outcome = bench.resume("--force")
    assert outcome.exit_code == 0, outcome.output
    assert len(bench.calls) == 8
    assert "the code is not the same" in " ".join(outcome.output.split())


def test_logs_and_files_that_output_goes_to_change_no_code(bench: Bench) -> None:
    bench.interrupt()
    bench.project.write("run.log", "the output of the run")
    with (bench.project.root / "second.txt").open("wb") as output:
        environ = {**clean_environment(), "COUNTS": str(bench.counts)}
        process = start_program("run", "--resume", cwd=bench.project.root, environ=environ, output=output)
        code = process.wait(timeout=180)
    text = (bench.project.root / "second.txt").read_text(encoding="utf-8")
    assert code == 0, text
    assert "5 of 8 results were reused" in text
    assert bench.calls == ["good 5", "good 6", "good 7"]


def test_another_run_than_the_last_one_is_resumed(bench: Bench) -> None:
    bench.interrupt()
    assert bench.project.scoregate("report", "--recover").exit_code in (0, 3)
    (interrupted,) = (bench.project.root / "scoregate-out/interrupted").iterdir()
    assert bench.project.scoregate("run", "--baseline", "none", COUNTS=str(bench.counts)).exit_code == 0
    bench.forget()
    outcome = bench.resume(str(interrupted.relative_to(bench.project.root)), "evals")
    assert outcome.exit_code == 0, outcome.output
    assert bench.calls == ["good 5", "good 6", "good 7"]
    bench.forget()
    assert bench.resume("evals").exit_code == 0  # a path of suites is no run
    assert len(bench.calls) == 8


def test_nothing_runs_with_another_model(bench: Bench) -> None:
    bench.interrupt()
    outcome = bench.resume("--model", "gpt-other")
    assert (outcome.exit_code, bench.calls) == (2, [])
    assert "its model, interpreter or environment was another one" in " ".join(outcome.output.split())


def test_output_files_change_no_code(bench: Bench) -> None:
    bench.project.write(".gitignore", "")
    bench.project.commit()
    bench.interrupt()
    assert "5 of 8 results were reused" in bench.resume().output


def test_without_git_nothing_is_reused(bench: Bench) -> None:
    import shutil

    shutil.rmtree(bench.project.root / ".git")
    bench.interrupt()
    outcome = bench.resume("--working-directory", ".")
    assert (outcome.exit_code, bench.calls) == (2, [])
    assert "it is unknown whether the code is the same" in " ".join(outcome.output.split())


DEFINED = """
import json, os
from pathlib import Path
DEFINITION = json.loads((Path(os.environ["COUNTS"]) / "definition.json").read_text())
"""
FROM_OUTSIDE = (
    BODY
    + DEFINED
    + """
class Named(IsEquals):
    id = "named"
    def __init__(self):
        self.strictness = DEFINITION["strictness"]

class Tagged(Case):
    pass
"""
)


def define(bench: Bench, **values: object) -> None:
    (bench.counts / "definition.json").write_text(json.dumps({"strictness": 1, "expected": "good 0", **values}))


@pytest.fixture
def outside(bench: Bench) -> Bench:
    """A suite whose definitions come from outside of the repository, so no commit records them."""
    define(bench)
    source = suite(FROM_OUTSIDE, fn="fn", good=8, max_test_case_concurrency="1")
    source = source.replace("evaluators=[IsEquals()]", "evaluators=[Named()]")
    source = source.replace("run_test_suite(", "cases[1].expected = DEFINITION['expected']\nrun_test_suite(")
    bench.project.write("evals/demo.py", source)
    bench.project.commit()
    return bench


def test_a_changed_definition_is_measured_again(outside: Bench) -> None:
    outside.interrupt()
    define(outside, expected="something else")
    outcome = outside.resume()
    assert outside.calls == ["good 1", "good 5", "good 6", "good 7"]
    assert "4 of 8 results were reused" in outcome.output
    assert "1 changed in definition" in " ".join(outcome.output.split())


def test_a_changed_evaluator_prevents_reuse(outside: Bench) -> None:
    outside.interrupt()
    define(outside, strictness=2)
    outcome = outside.resume()
    assert len(outside.calls) == 8
    assert "0 of 8 results were reused" in outcome.output
    assert "named: its parameters changed" in " ".join(outcome.output.split())


def test_assert_test_checks_reused_results(bench: Bench) -> None:
    source = suite(BODY, fn="fn", good=8, max_test_case_concurrency="1", assert_test="True")
    bench.project.write("evals/demo.py", source.replace("f'good {i}') for", "f'good {i or 9}') for", 1))
    bench.project.commit()
    bench.interrupt()
    outcome = bench.resume("--min-pass-rate", "0")
    assert bench.calls == ["good 5", "good 6", "good 7"]
    assert outcome.exit_code == 1, outcome.output
    assert "assert_test" in outcome.output
    assert outcome.statuses == {"passed": 7, "failed": 1}


def test_variants_of_a_grid_are_separate(bench: Bench) -> None:
    body = BODY + "\nfrom scoregate.testing.run import grid_search_ctx\nplain = fn\n"
    body += "def fn(case):\n    return plain(case) + '' * grid_search_ctx()['x']\n"
    bench.write(body, grid_search_params="{'x': [1, 2]}")
    bench.project.commit()
    (bench.counts / "raise").write_text("x")
    assert bench.resume().exit_code == 3
    (bench.counts / "free").write_text("x")
    bench.forget()
    outcome = bench.resume()
    assert outcome.exit_code == 0, outcome.output
    assert bench.calls == ["good 5", "good 5"]
    assert [suite["reused"] for suite in outcome.result["suites"]] == [7, 7]


DICTS = """
from scoregate import evaluate

class Named:
    def __init__(self, input):
        self.input = input

def checks(output):
    return {"polite": True, **({"late": 0.5} if output == "good 7" else {})}

def task(input):
    return fn(Named(input))

scorers = [checks, lambda output: bool(output)]
evaluate("dicts", data=[f"good {n}" for n in range(8)], task=task, scorers=scorers, concurrency=1)
"""


def test_results_of_scorers_that_return_dicts_are_reused(bench: Bench) -> None:
    bench.project.write("evals/demo.py", BODY + DICTS)
    bench.project.commit()
    bench.interrupt()
    outcome = bench.resume()
    assert outcome.exit_code == 0, outcome.output
    assert bench.calls == ["good 5", "good 6", "good 7"]
    assert "5 of 8 results were reused" in outcome.output
    assert sorted(outcome.run["suites"][0]["evaluators"]) == ["bool(output)", "checks.late", "checks.polite"]
    assert outcome.run["suites"][0]["means"]["checks.polite"] == 1


def test_a_retried_case_is_measured_again(bench: Bench) -> None:
    """Confirmations are new evidence: what is reused is not offered to them."""
    body = BODY.replace(
        "    return case.input", "    return 'wrong' if case.input == 'good 1' and flag() else case.input"
    )
    body += "\ndef flag():\n    return (pathlib.Path(os.environ['COUNTS']) / 'bad').exists()\n"
    bench.write(body)
    bench.project.commit()
    (bench.counts / "free").write_text("x")
    base = bench.project.scoregate("run", "--baseline", "none", "--out", "base", COUNTS=str(bench.counts))
    assert base.exit_code == 0, base.output
    (bench.counts / "free").unlink()
    (bench.counts / "bad").write_text("x")
    (bench.counts / "began").unlink(missing_ok=True)
    bench.interrupt()
    outcome = bench.resume("--baseline", "base/run", "--confirm", "all")
    assert bench.calls[:3] == ["good 5", "good 6", "good 7"]
    assert bench.calls[3:] == ["good 1"] * 8  # four rounds: it fails in the base as well, and stops
    assert outcome.exit_code == 1, outcome.output


def test_a_command_that_cannot_choose_its_cases_measures_all(project: Project) -> None:
    program = (
        "import json, os\n"
        "def say(**told):\n"
        "    with open(os.environ['SCOREGATE_EVENTS'] + '/mine.jsonl', 'a') as log:\n"
        "        log.write(json.dumps({'suite': 'mine', 'v': 1, 'seq': 0, 'time': 0, **told}) + '\\n')\n"
        "say(type='suite_started', cases=3, evaluators=[{'id': 'e'}])\n"
        "for case in 'abc':\n"
        "    say(type='case_started', case=case, digest='d')\n"
        "    say(type='scored', case=case, evaluator='e', score=1, threshold={'gte': 1})\n"
        "    say(type='case_finished', case=case)\n"
        "say(type='suite_finished')\n"
        "raise SystemExit(int(os.environ['CODE']))\n"
    )
    project.write("mine.py", program)
    project.write("scoregate.toml", '[[commands]]\nname = "mine"\nrun = "python3 mine.py"\n')
    project.write(".gitignore", "scoregate-out\n")
    project.commit()
    assert project.scoregate("run", CODE="5").exit_code == 3
    outcome = project.scoregate("run", "--resume", CODE="0")
    assert outcome.exit_code == 0, outcome.output
    assert "0 of 3 results were reused" in outcome.output
    assert outcome.statuses == {"passed": 3}
