"""A run in which something was not measured is never green."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.integration.host.conftest import SUITE, Project, Ran, suite

# Any language may write these lines; this one writes bytes, valid or not.
WRITER = """
import os, pathlib
folder = pathlib.Path(os.environ["SCOREGATE_EVENTS"])
(folder / "log.jsonl").write_bytes(pathlib.Path("log.jsonl").read_bytes())
"""
EVALUATOR = {"id": "exact"}


def line(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, "suite": "bot", **fields}).encode() + b"\n"


def suite_started(**fields: Any) -> bytes:
    return line("suite_started", evaluators=[EVALUATOR], **fields)


def case(name: str, score: bytes = b"1", *, more: bytes = b"") -> bytes:
    """One case with a threshold; its line contains `score` and `more`."""
    scored = b'{"type":"scored","suite":"bot","case":"%b","evaluator":"exact","threshold":{"gte":1},"score":%b%b}\n'
    return line("case_started", case=name) + scored % (name.encode(), score, more) + line("case_finished", case=name)


def twenty_cases(score: bytes, *, more: bytes = b"") -> bytes:
    """Twenty cases: the first passes, the others have this score."""
    cases = [case("c0"), *(case(f"c{number}", score, more=more) for number in range(1, 20))]
    return suite_started(cases=20) + b"".join(cases) + line("suite_finished")


def command(project: Project, log: bytes, *arguments: str) -> Ran:
    """Run a command that leaves this log behind."""
    project.write("writer.py", WRITER)
    (project.root / "log.jsonl").write_bytes(log)
    run = json.dumps([sys.executable, "writer.py"])
    project.write("scoregate.toml", f'[[commands]]\nname = "writer"\nrun = {run}\n')
    return project.scoregate("run", *arguments)


def test_valid_events_are_green(project: Project) -> None:
    assert command(project, twenty_cases(b"1.0")).exit_code == 0


def test_a_score_without_a_number_is_a_case_error(project: Project) -> None:
    outcome = command(project, twenty_cases(b"null"))
    assert outcome.exit_code == 3
    assert outcome.statuses == {"passed": 1, "errored": 19}
    assert "19 of 20 cases (95.0%)" in outcome.output


def test_each_invalid_score_is_a_case_error(project: Project) -> None:
    scores = (b"null", b"NaN", b'"1.0"', b"true", b"[1]", b"2", b"1" * 400)
    cases = b"".join(case(f"bad {number}", score) for number, score in enumerate(scores))
    outcome = command(project, suite_started(cases=8) + case("good") + cases + line("suite_finished"))
    assert (outcome.exit_code, outcome.statuses) == (3, {"passed": 1, "errored": 7})


def test_an_unknown_threshold_key_is_a_case_error(project: Project) -> None:
    log = twenty_cases(b"0").replace(
        b'"c7","evaluator":"exact","threshold":{"gte":1}', b'"c7","evaluator":"exact","threshold":{"ge":1}'
    )
    outcome = command(project, log, "--max-error-rate", "0")
    assert outcome.statuses == {"passed": 1, "failed": 18, "errored": 1}
    assert "threshold.ge" in (outcome.out / "comment.md").read_text("utf-8") + outcome.output


def test_true_is_a_score_of_a_boolean_evaluator(project: Project) -> None:
    log = (
        twenty_cases(b"true")
        .replace(b'{"id": "exact"}', b'{"id": "exact", "boolean": true}')
        .replace(b'"score":1}', b'"score":true}')
    )
    outcome = command(project, log)
    assert (outcome.exit_code, outcome.statuses) == (0, {"passed": 20})


DROPPED = {
    "broken UTF-8": (b"0", b',"metadata":"\xff"'),
    "unescaped quote": (b"0", b',"metadata":"a "quoted" word"'),
    "no value": (b"", b""),
    "newer version": (b"0", b',"v":2'),
    "too long": (b"0", b',"metadata":"' + b"x" * (8 << 20) + b'"'),
    "too deep": (b"0", b',"metadata":' + b"[" * 300 + b"]" * 300),
    "too many digits": (b"0", b',"metadata":' + b"7" * 5_000),
}


@pytest.mark.parametrize(("score", "more"), DROPPED.values(), ids=DROPPED)
def test_an_unreadable_line_makes_the_script_unmeasurable(project: Project, score: bytes, more: bytes) -> None:
    log = suite_started(cases=2) + case("c0") + case("c1", score, more=more) + line("suite_finished")
    outcome = command(project, log)
    assert outcome.exit_code == 3
    assert "1 line of its event logs can't be read" in outcome.output


@pytest.mark.parametrize("end", [b'{"type":"scored","suite":"bot","case":"c9","evalu', b"\xff"])
def test_a_partial_last_line_is_unmeasurable(project: Project, end: bytes) -> None:
    assert command(project, twenty_cases(b"1") + end).exit_code == 3


def test_a_last_line_that_is_complete_needs_no_line_feed(project: Project) -> None:
    assert command(project, twenty_cases(b"1").removesuffix(b"\n")).exit_code == 0


def test_a_mistyped_event_makes_it_unmeasurable(project: Project) -> None:
    outcome = command(
        project,
        twenty_cases(b"0").replace(
            b'"type":"scored","suite":"bot","case":"c4"', b'"type":"score","suite":"bot","case":"c4"'
        ),
    )
    assert outcome.exit_code in (1, 3)
    assert command(project, twenty_cases(b"1").replace(b'"type":"scored"', b'"type":"score"', 1)).exit_code == 3


def test_an_optional_event_of_a_newer_version_is_skipped_with_a_notice(project: Project) -> None:
    newer = line("tool_called", name="search", v=2, optional=True) * 3
    outcome = command(project, suite_started() + newer + case("c0") + line("suite_finished"))
    assert outcome.exit_code == 0
    assert "3 optional events of a newer version are skipped" in outcome.comment


def test_an_sdk_that_is_newer_than_the_host_is_unmeasurable(project: Project) -> None:
    """A real suite whose SDK writes events of the next schema, read by the host of this version."""
    newer = "import scoregate.kernel.types.event_json, scoregate.engine.event_log\n"
    newer += "scoregate.kernel.types.event_json.SCHEMA_VERSION = scoregate.engine.event_log.SCHEMA_VERSION = 2\n"
    project.write("evals/demo.py", newer + suite())
    outcome = project.scoregate("run")
    assert outcome.exit_code == 3
    assert "events of schema 2 cannot be read" in outcome.output


def test_fewer_cases_than_planned_are_incomplete(project: Project) -> None:
    outcome = command(project, suite_started(cases=1000) + case("c0") + line("suite_finished"))
    assert outcome.exit_code == 3
    assert "1 of 1,000 planned cases finished" in outcome.output


def test_an_unfinished_case_makes_its_suite_incomplete(project: Project) -> None:
    cases = b"".join(case(f"c{number}") for number in range(99))
    outcome = command(
        project, suite_started(cases=100) + cases + line("case_started", case="last") + line("suite_finished")
    )
    assert outcome.exit_code == 3
    assert "99 of 100 planned cases finished" in outcome.output


def test_a_second_score_never_replaces_a_failing_one(project: Project) -> None:
    twice = case("c1", b"0").splitlines(keepends=True)
    log = suite_started() + case("c0") + twice[0] + twice[1] + twice[1].replace(b":0}", b":1}") + twice[2]
    outcome = command(project, log + line("suite_finished"))
    assert (outcome.exit_code, outcome.statuses) == (1, {"passed": 1, "failed": 1})


def test_a_case_that_is_reported_again_makes_its_suite_unmeasurable(project: Project) -> None:
    outcome = command(project, suite_started() + case("c0") * 20 + line("suite_finished"))
    assert outcome.exit_code == 3
    assert outcome.statuses == {"passed": 1}
    assert "case 'c0', repeat 0, was reported again after it had finished" in outcome.output


@pytest.mark.parametrize("damage", ["", "(folder / 'log.jsonl').unlink()", "(folder / 'log.jsonl').write_bytes(b'')"])
def test_a_deleted_or_truncated_log_is_unmeasurable(project: Project, damage: str) -> None:
    """The suite waits until the host has read the log, which its live file shows."""
    wait = (
        "import time\n"
        "for _ in range(600):\n"
        "    live = pathlib.Path('scoregate-out/run/.live.json')\n"
        "    if live.exists() and '\"done\":20' in live.read_text().replace(' ', ''):\n"
        "        break\n"
        "    time.sleep(0.05)\n"
    )
    project.write("writer.py", WRITER + (wait + damage if damage else ""))
    (project.root / "log.jsonl").write_bytes(twenty_cases(b"1"))
    run = json.dumps([sys.executable, "writer.py"])
    project.write("scoregate.toml", f'[[commands]]\nname = "writer"\nrun = {run}\n')
    assert project.scoregate("run").exit_code == (3 if damage else 0)


def run_relaxed(project: Project, rule: str) -> Ran:
    """The verdict with a rule that only warns."""
    project.write("scoregate.toml", f"[severity]\n{rule} = 'warn'\n")
    return project.scoregate("gate", "scoregate-out")


NOTHING = "class Nothing(IsEquals):\n    id = 'nothing'\n    def evaluate_test_case(self, *_):\n        return None\n"


def test_a_suite_whose_evaluators_all_return_none_is_unmeasurable(project: Project) -> None:
    project.write("evals/demo.py", suite(NOTHING, good=20).replace("[IsEquals()]", "[Nothing()]"))
    outcome = project.scoregate("run")
    assert outcome.exit_code == 3
    assert "Nothing was evaluated in demo: 0 evaluations: every scorer returned None" in outcome.output
    assert run_relaxed(project, "cases_were_evaluated").exit_code == 0


def test_a_suite_that_only_waits_for_people_is_pending(project: Project) -> None:
    body = "from scoregate.testing.models import CreateHumanReviewJob\n"
    job = "CreateHumanReviewJob(['ann@example.org'], 'Look at these')"
    project.write("evals/demo.py", suite(body, human_review_job=job).replace("[IsEquals()]", "[]"))
    outcome = project.scoregate("run")
    assert outcome.exit_code == 3
    assert "Evaluations wait for people in demo" in outcome.output
    assert run_relaxed(project, "evaluations_pending").exit_code == 0


TWO = "run_test_suite(id='first', test_cases=cases, fn=lambda case: case.input, evaluators=[IsEquals()])\n"
LEAVE = {
    "os._exit": "import os\nos._exit(0)\n",
    "sys.exit": "import sys\nsys.exit()\n",
    "exception": "try:\n    raise ValueError\nexcept ValueError:\n    raise SystemExit\n",
    "no folder": "import os\ndel os.environ['SCOREGATE_EVENTS']\n",
    "other folder": "import os, tempfile\nos.environ['SCOREGATE_EVENTS'] = tempfile.mkdtemp()\n",
    "fork": "import os\nif pid := os.fork():\n    os.waitpid(pid, 0)\n    os._exit(0)\nos._exit(0)\n",
}


@pytest.mark.parametrize("leave", LEAVE.values(), ids=LEAVE)
def test_a_suite_in_the_source_without_results_is_unmeasurable(project: Project, leave: str) -> None:
    source = suite(bad=3)
    project.write(
        "evals/demo.py",
        source.replace("run_test_suite(id=", f"{TWO.replace('cases,', 'cases[:3],')}{leave}run_test_suite(id="),
    )
    outcome = project.scoregate("run")
    assert outcome.exit_code == 3
    assert "A suite didn't report: demo in evals/demo.py" in outcome.output
    assert run_relaxed(project, "suites_report").exit_code == 0


def test_a_suite_under_a_condition_need_not_report(project: Project) -> None:
    project.write("evals/demo.py", f"{suite()}\nimport os\nif os.environ.get('NIGHTLY'):\n    {TWO}")
    assert project.scoregate("run").exit_code == 0


def test_filtered_suites_need_not_report(project: Project) -> None:
    project.write("evals/demo.py", suite() + TWO)
    assert project.scoregate("run", "--suite", "demo").exit_code == 0


def junit(project: Project, xml: str) -> Ran:
    project.write("results.xml", xml)
    project.write("take.py", "import shutil\nshutil.copyfile('results.xml', 'junit.xml')\n")
    return project.scoregate("exec", "--junit", "junit.xml", "--", sys.executable, "take.py")


@pytest.mark.parametrize(
    ("counts", "code", "words"),
    [
        ('tests="1"', 0, ""),
        ('tests="1" failures="0" errors="0" skipped="4"', 0, ""),
        ('tests="0"', 0, ""),
        ("", 0, ""),
        ('tests="500" failures="20"', 3, "counts 500 tests and holds 1"),
        ('tests="1" failures="1"', 3, "counts 1 failures and errors and holds 0"),
        ('tests="1" errors="2"', 3, "counts 2 failures and errors and holds 0"),
    ],
)
def test_a_junit_file_with_too_few_cases_is_unmeasurable(project: Project, counts: str, code: int, words: str) -> None:
    outcome = junit(project, f'<testsuites><testsuite name="s" {counts}><testcase name="a"/></testsuite></testsuites>')
    assert outcome.exit_code == code, outcome.output
    assert words in outcome.output


def test_cases_of_inner_suites_count_for_outer_suites(project: Project) -> None:
    inner = '<testsuite name="{0}" tests="1" failures="{1}"><testcase name="a">{2}</testcase></testsuite>'
    both = inner.format("one", 0, "") + inner.format("two", 1, '<failure message="no"/>')
    assert junit(project, f'<testsuites tests="2" failures="1">{both}</testsuites>').exit_code == 1


def change_record(folder: Path, old: bytes, new: bytes) -> None:
    """Change the cases of a record in a valid format."""
    path = folder / "cases.jsonl.gz"
    text = gzip.decompress(path.read_bytes())
    assert old in text
    path.write_bytes(gzip.compress(text.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"score":0.0', b'"score":1.0'),
        (b'"threshold":{"gte":1.0}', b'"threshold":{}'),
        (b'"hash":"bad 1"', b'"hash":"good 1"'),
    ],
    ids=["scores flipped", "thresholds stripped", "a case repeated"],
)
def test_a_changed_record_is_unmeasurable(project: Project, old: bytes, new: bytes) -> None:
    project.write("evals/demo.py", suite(bad=3))
    outcome = project.scoregate("run")
    assert outcome.exit_code == 1
    change_record(outcome.out / "run", old, new)
    assert project.scoregate("gate", "scoregate-out", "--min-pass-rate", "0").exit_code == 3


@pytest.mark.parametrize(
    ("field", "value"), [("cases", 0), ("cases", 3), ("statuses", {"passed": 6})], ids=["none", "fewer", "statuses"]
)
def test_a_record_with_wrong_counts_is_unmeasurable(project: Project, field: str, value: Any) -> None:
    project.write("evals/demo.py", suite(bad=3))
    outcome = project.scoregate("run")
    head = outcome.run
    head["suites"][0][field] = value
    if field == "cases":
        head["cases"] = value
    (outcome.out / "run" / "run.json").write_text(json.dumps(head), "utf-8")
    assert project.scoregate("gate", "scoregate-out", "--min-pass-rate", "0").exit_code == 3


def test_a_run_is_not_merged_with_itself(project: Project) -> None:
    project.write("evals/demo.py", SUITE + suite().removeprefix(SUITE))
    outcome = project.scoregate("run")
    for leg in ("one", "two"):
        subprocess.run(["cp", "-r", os.fspath(outcome.out / "run"), os.fspath(project.root / leg)], check=True)
    merged = project.scoregate("merge", "one", "two", "--expect", "2", "--out", "merged")
    assert merged.exit_code == 2
    assert "one and two hold the same run" in merged.output
