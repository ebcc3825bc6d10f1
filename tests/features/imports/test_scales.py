"""Numbers without a scale, in imported results and event logs: the settings give them one, or leave them out."""

from __future__ import annotations

import json

from tests.integration.host.conftest import Project, Ran, project

__all__ = ["project"]


def report(words: str) -> str:
    cases = "".join(
        f'<testcase name="{number}"><properties><property name="words" value="{value}"/></properties></testcase>'
        for number, value in enumerate(words.split())
    )
    return f'<testsuite name="s">{cases}</testsuite>'


def run_junit(project: Project, words: str, settings: str = "", *arguments: str) -> Ran:
    project.write("from.xml", report(words))
    project.write("scoregate.toml", settings)
    options = ["--junit", "out.xml", "--junit-scores", "words", *arguments]
    return project.scoregate("exec", *options, "--", "cp", "from.xml", "out.xml")


def row(ran: Ran, evaluator: str) -> dict[str, object]:
    (found,) = [each for each in ran.result["rows"] if each["evaluator"] == evaluator]
    return found


def test_a_number_without_a_scale_makes_only_its_row_unmeasurable(project: Project) -> None:
    outcome = run_junit(project, "350 120", "")
    assert outcome.exit_code == 0, outcome.output
    assert (row(outcome, "words")["label"], row(outcome, "passed")["label"]) == ("unmeasurable", "new")
    assert outcome.result["totals"]["with_errors"] == 0
    assert "note: s: scores of words are outside [0, 1]. Set `scale` or `ignore` in [evaluators]." in outcome.output
    assert "scores of words are outside" in outcome.comment


def test_scale_threshold_and_ignore_of_the_settings_apply_to_imported_results(project: Project) -> None:
    table = '[evaluators."words"]\nscale = [0, 500]\n'
    outcome = run_junit(project, "350 120", table)
    assert row(outcome, "words")["mean"] == 0.47
    outcome = run_junit(project, "350 120", f"{table}threshold = {{ gte = 200 }}\n")
    assert outcome.exit_code == 1, outcome.output
    assert "words  0.24  needs ≥ 0.4" in outcome.output
    assert run_junit(project, "350 501", table).exit_code == 3
    outcome = run_junit(project, "350 120", '[evaluators."w*"]\nignore = true\n')
    assert [each["evaluator"] for each in outcome.result["rows"]] == ["passed"]


def test_an_event_log_has_the_same_settings_and_can_state_its_scale(project: Project) -> None:
    def lines(value: float, **evaluator: object) -> str:
        events = [
            {"type": "suite_started", "suite": "s", "evaluators": [{"id": "stars", **evaluator}]},
            {"type": "case_started", "suite": "s", "case": "a"},
            {"type": "scored", "suite": "s", "case": "a", "evaluator": "stars", "score": value},
            {"type": "case_finished", "suite": "s", "case": "a"},
            {"type": "suite_finished", "suite": "s"},
        ]
        return "".join(f"{json.dumps(event)}\n" for event in events)

    def run(text: str, settings: str = "") -> Ran:
        project.write("log.jsonl", text)
        project.write("scoregate.toml", settings)
        return project.scoregate("exec", "--", "sh", "-c", 'cp log.jsonl "$SCOREGATE_EVENTS/x.jsonl"')

    outcome = run(lines(4))
    assert outcome.exit_code == 3, outcome.output
    assert "no scale is set" in json.dumps(outcome.result["findings"])
    assert row(run(lines(4), "[evaluators.stars]\nscale = [1, 5]\n"), "stars")["mean"] == 0.75
    assert row(run(lines(4, scale=[0, 5])), "stars")["mean"] == 0.8
    assert row(run(lines(4, scale=[0, 5]), "[evaluators.stars]\nscale = [1, 5]\n"), "stars")["mean"] == 0.75


def test_contradictory_settings_fail(project: Project) -> None:
    for table, expected in (
        ("scale = [5, 1]", "must be the lowest and the highest score, as in [0, 500]"),
        ("scale = [1]", "evaluators.words.scale"),
        ("threshold = {}", "must have a bound, as in { gte = 0.5 }"),
        ("threshold = 0.5", "must be a table"),
        ("threshold = { ge = 1 }", "there is no setting 'ge'"),
        ("ignore = 3", "evaluators.words.ignore"),
    ):
        outcome = run_junit(project, "1", f"[evaluators.words]\n{table}\n")
        assert outcome.exit_code == 2, table
        assert expected in outcome.output.replace("\n", " "), outcome.output


def test_a_wildcard_for_scores_leaves_verdicts_of_every_format_as_they_are(project: Project) -> None:
    failing = range(1)
    cases = "".join(f'<testcase name="c{n}">{"<failure/>" if n in failing else ""}</testcase>' for n in range(40))
    assertions = [
        {"name": f"c{n}", "inputs": n, "assertions": {"right": {"value": n not in failing}}} for n in range(40)
    ]
    files = {
        "junit": f'<testsuite name="s">{cases}</testsuite>',
        "pydantic-evals": json.dumps({"name": "n", "dataset_name": "d", "cases": assertions, "failures": []}),
        "deepeval": json.dumps({"testCases": [{"name": f"c{n}", "success": n not in failing} for n in range(40)]}),
    }
    for form, text in files.items():
        project.write("from.txt", text)
        for table in ("scale = [1, 5]", "ignore = true", "threshold = { lte = 0.5 }", "scale = [0, 500]"):
            project.write("scoregate.toml", f'[evaluators."*"]\n{table}\n')
            option = ["--junit", "out.txt"] if form == "junit" else ["--import", f"{form}:out.txt"]
            outcome = project.scoregate("exec", *option, "--", "cp", "from.txt", "out.txt")
            assert outcome.exit_code == 1, (form, table, outcome.output)
            assert outcome.statuses == {"passed": 39, "failed": 1}, (form, table)


def test_one_score_above_1_does_not_switch_off_the_gates_of_its_evaluator(project: Project) -> None:
    def log(first: float, rest: float) -> str:
        values = [first, *[rest] * 39]
        samples = [
            {"id": f"s{n}", "epoch": 1, "input": f"q{n}", "scores": {"similarity": {"value": value}}}
            for n, value in enumerate(values)
        ]
        return json.dumps({"status": "success", "eval": {"task": "t"}, "samples": samples})

    def run(text: str, *arguments: str) -> Ran:
        project.write("from.json", text)
        options = ["--import", "inspect:out.json", *arguments]
        return project.scoregate("exec", *options, "--", "cp", "from.json", "out.json")

    gates = "max_drop = { similarity = 0.02 }\n"
    for first, base_first in ((1.0000000000000002,) * 2, (0.9, 1.0000000000000002), (1.5, 1.5), (0.9, 1.5)):
        project.write("scoregate.toml", "")
        assert run(log(base_first, 0.9), "--out", "base").exit_code in (0, 3)
        for settings in (gates, "fail_on_regression = true\n", gates + "fail_on_regression = true\n"):
            project.write("scoregate.toml", settings)
            outcome = run(log(first, 0.1), "--baseline", "base", "--out", "head")
            assert outcome.exit_code == 1, (first, base_first, outcome.output)


def test_a_huge_scale_in_metadata_is_none(project: Project) -> None:
    events = [
        {"type": "suite_started", "suite": "s", "evaluators": [{"id": "stars"}]},
        {"type": "case_started", "suite": "s", "case": "a"},
        {"type": "scored", "suite": "s", "case": "a", "evaluator": "stars", "score": 0.5}
        | {"metadata": {"value": 1, "scale": [0, 10**400]}},
        {"type": "case_finished", "suite": "s", "case": "a"},
        {"type": "suite_finished", "suite": "s"},
    ]
    project.write("log.jsonl", "".join(f"{json.dumps(event)}\n" for event in events))
    project.write("scoregate.toml", "[evaluators.stars]\nscale = [0, 5]\n")
    outcome = project.scoregate("exec", "--", "sh", "-c", 'cp log.jsonl "$SCOREGATE_EVENTS/x.jsonl"')
    assert outcome.exit_code == 0, outcome.output
