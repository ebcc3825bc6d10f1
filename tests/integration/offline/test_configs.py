"""Stored test configs that are suites by themselves, under the real command line."""

from __future__ import annotations

import gzip
import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from tests.integration.host.conftest import Project, suite

from scoregate import Client

JUDGES = """
from scoregate.judges import BinaryResponse, Judge


class Matches(Judge[BinaryResponse]):
    def score(self, data):
        return BinaryResponse(value=data["output"] == data["expected"], reason="compared")


class Short(Judge[BinaryResponse]):
    def score(self, data):
        return BinaryResponse(value=len(data["expected"]) < 10)
"""
BOT = """
from my_judges import Matches


def answer(question):
    return question.replace("question", "answer")


def passes(fields, scorers):
    return all(scorer.value == "Yes" for scorer in scorers)


class Bot:
    async def answer(self, question):
        return answer(question)


bot = Bot()
"""
TABLE = {
    "name": "nightly-regression",
    "agent": "bot:answer",
    "pass_condition": "bot:passes",
    "assert_test": True,
    "field_mapping": {"question": "input"},
}
FILE = ".scoregate/configs/nightly-regression.toml"
WRONG = BOT.replace('"answer")', '"answer").replace("7", "8")')


@pytest.fixture
def nightly(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A repository with an agent, a dataset and two test configs; the settings list the first."""
    project.write(".gitignore", "scoregate-out/\nbase/\n.scoregate-cache/\n")
    project.write("my_judges.py", JUDGES)
    project.write("bot.py", BOT)
    configure(project)
    sys.modules.pop("my_judges", None)
    monkeypatch.syspath_prepend(project.root)
    client = Client(store=project.root)
    rows = [{"input": f"question {number}", "expected": f"answer {number}"} for number in range(1, 13)]
    client.datasets.create("golden-set", examples=rows)
    client.judges.register("my_judges:Matches", "matches")
    client.judges.register("my_judges:Short", "short")
    client.judges.create("helpful", "Is {{output}} helpful?")
    client.offline_tests.create_config("nightly-regression", "golden-set", ["matches"])
    client.offline_tests.create_config("as they are", "golden-set", ["short"])
    client.offline_tests.create_config("unanswered", "golden-set", ["helpful"])
    sys.modules.pop("my_judges")
    project.commit()
    return project


def configure(project: Project, **changes: object) -> None:
    table = {key: value for key, value in {**TABLE, **changes}.items() if value is not None}
    lines = [f"{key} = {_toml(value)}" for key, value in table.items()]
    project.write("pyproject.toml", "\n".join(["[[tool.scoregate.configs]]", *lines, ""]))


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {_toml(each)}' for name, each in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)


def keep(project: Project) -> None:
    (project.root / "scoregate-out" / "run").rename(project.root / "base")


def test_a_config_of_the_settings_is_a_suite(nightly: Project) -> None:
    outcome = nightly.scoregate("list")
    assert f"{FILE}:1 [config] nightly-regression (a config in pyproject.toml)" in " ".join(outcome.output.split())
    process = nightly.scoregate("run", "--baseline", "none")
    assert process.exit_code == 0, process.output
    (suite_result,) = process.run["suites"]
    assert (suite_result["id"], suite_result["origin"]["file"], suite_result["script"]) == (
        "nightly-regression",
        FILE,
        FILE,
    )
    assert set(suite_result["evaluators"]) == {"matches", "pass_condition"}
    assert process.statuses == {"passed": 12}


def test_callables_are_agents(nightly: Project) -> None:
    configure(nightly, agent="bot:bot.answer", max_concurrency=2, timeout_seconds=60, dataset_version=1)
    outcome = nightly.scoregate("run", "--baseline", "none")
    assert (outcome.exit_code, outcome.statuses) == (0, {"passed": 12}), outcome.output


def test_a_failed_row_fails_the_job_and_is_in_reports(nightly: Project) -> None:
    assert nightly.scoregate("run", "--baseline", "none").exit_code == 0
    keep(nightly)
    nightly.write("bot.py", WRONG)
    outcome = nightly.scoregate("run", "--baseline", "base")
    assert outcome.exit_code == 1, outcome.output
    assert outcome.statuses == {"passed": 11, "failed": 1}
    assert "question 7" in outcome.comment
    assert "1 newly failing" in outcome.comment
    cases = ET.fromstring((outcome.out / "junit.xml").read_text(encoding="utf-8")).iter("testcase")
    (failed,) = [case for case in cases if case.get("classname") == "nightly-regression" and len(case) > 1]
    assert (failed.get("name"), failed.get("file")) == ("question 7", FILE)
    assert {"assert_test", "pass rate"} <= {
        finding["rule"] for finding in outcome.result["findings"] if finding["conclusion"] == "failed"
    }


def test_a_base_runs_with_its_own_agent(nightly: Project) -> None:
    nightly.write("bot.py", WRONG)
    outcome = nightly.scoregate("run", "--baseline", "rerun:HEAD", "--confirm", "all")
    assert outcome.exit_code == 1, outcome.output
    assert (outcome.result["totals"]["newly_failing"], outcome.result["totals"]["failed"]) == (1, 1), outcome.result[
        "totals"
    ]
    (tried,) = outcome.run["confirmations"]
    assert tried["tries"].count(False) >= 3


def test_a_renamed_config_is_new_and_removed(nightly: Project) -> None:
    (nightly.root / FILE).rename(nightly.root / FILE.replace("nightly", "daily"))
    text = (nightly.root / FILE.replace("nightly", "daily")).read_text(encoding="utf-8")
    nightly.write(FILE.replace("nightly", "daily"), text.replace('"nightly-regression"', '"daily-regression"'))
    configure(nightly, name="daily-regression")
    outcome = nightly.scoregate("run", "--baseline", "rerun:HEAD")
    assert outcome.exit_code == 3, outcome.output
    assert "nightly-regression is gone" in outcome.output
    assert "is new: the base" in json.dumps(json.loads((outcome.out / "base" / "run.json").read_text()))


def test_only_a_named_config_runs(nightly: Project) -> None:
    nightly.write("evals/demo.py", suite())
    assert nightly.scoregate("run", "--baseline", "none").exit_code == 0
    keep(nightly)
    outcome = nightly.scoregate("run", "--config", "nightly-regression", "--baseline", "base", "--repeats", "2")
    assert outcome.exit_code == 0, outcome.output
    assert [each["id"] for each in outcome.run["suites"]] == ["nightly-regression"]
    assert outcome.statuses == {"passed": 24}
    assert outcome.result["base"] is not None


def test_a_named_config_without_a_table_runs(nightly: Project) -> None:
    outcome = nightly.scoregate("run", "--config", "as they are", "--baseline", "none")
    assert outcome.exit_code == 0, outcome.output
    assert outcome.statuses == {"scored": 12}
    assert "as they are has no table [[configs]] in the settings" in " ".join(outcome.output.split())


def test_a_judge_that_needs_an_agent_is_reported(nightly: Project) -> None:
    outcome = nightly.scoregate("run", "--config", "unanswered", "--baseline", "none")
    assert outcome.exit_code == 3, outcome.output
    (error,) = outcome.run["suites"][0]["errors"]
    assert "asks for {{output}}, which comes from an agent" in error["message"]
    assert "[[configs]]" in error["advice"]


@pytest.mark.parametrize("words", [("--config", "nope"), ()])
def test_a_missing_config_is_unmeasurable(nightly: Project, words: tuple[str, ...]) -> None:
    configure(nightly, name="nope")
    process = nightly.scoregate("run", "--baseline", "none", *words)
    assert process.exit_code == 3, process.output
    text = " ".join(process.output.split())
    assert "there is no test config 'nope'" in text
    assert "nightly-regression" in text
    outcome = nightly.scoregate("list", *words)
    assert outcome.exit_code == 3
    assert "cannot run there is no test config 'nope'" in " ".join(outcome.output.split())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"agent": "bott:answer"}, "agent = 'bott:answer' cannot be loaded: ModuleNotFoundError"),
        ({"judge_versions": [{"name": "matches", "version": "7.0"}]}, "Judge 'matches' has no version 7.0"),
    ],
)
def test_a_failed_start_is_an_error_of_its_suite(nightly: Project, changes: dict[str, object], message: str) -> None:
    configure(nightly, **changes)
    outcome = nightly.scoregate("run", "--baseline", "none")
    assert outcome.exit_code == 3, outcome.output
    (suite_result,) = outcome.run["suites"]
    (error,) = suite_result["errors"]
    assert message in error["message"]
    assert error["message"].endswith("(a config in pyproject.toml)")
    assert suite_result["origin"]["file"] == FILE
    assert [script["exit_code"] for script in outcome.run["scripts"]] == [0]


SLOW = "        __import__('time').sleep(20)\n        return BinaryResponse(value=data"


def test_slow_judges_time_out(nightly: Project) -> None:
    nightly.write("my_judges.py", JUDGES.replace("        return BinaryResponse(value=data", SLOW))
    configure(nightly, timeout_seconds=0.5)
    outcome = nightly.scoregate("run", "--baseline", "none")
    assert outcome.exit_code == 3, outcome.output
    assert "took longer than 0.5 s" in outcome.run["suites"][0]["errors"][0]["message"]


def test_it_may_need_a_variable(nightly: Project) -> None:
    settings = nightly.root / "pyproject.toml"
    settings.write_text(settings.read_text() + '[tool.scoregate.suites."nightly-*"]\nneeds = ["THE_KEY"]\n')
    assert "THE_KEY is not set" in " ".join(nightly.scoregate("list").output.split())
    assert nightly.scoregate("list", THE_KEY="1").exit_code == 0


def test_exec_runs_its_command_alone(nightly: Project) -> None:
    nightly.write("demo.py", suite())
    outcome = nightly.scoregate("exec", "--baseline", "none", "--", sys.executable, "demo.py")
    assert [each["id"] for each in outcome.run["suites"]] == ["demo"], outcome.output


def test_a_script_and_the_settings_may_run_one_config(nightly: Project) -> None:
    script = "from scoregate import Client\nClient().offline_tests.run('nightly-regression', lambda input: input)\n"
    nightly.write("evals/eval_nightly.py", script)
    outcome = nightly.scoregate("run", "--baseline", "none")
    assert f"the suite id nightly-regression is used in evals/eval_nightly.py, {FILE}" in " ".join(
        outcome.output.split()
    )
    assert len({each["label"] for each in outcome.run["suites"]}) == 2


def test_it_gets_no_token(nightly: Project) -> None:
    nightly.write("bot.py", f"{BOT}\n\nimport os\n\nassert not [v for v in os.environ.values() if 'ghs_' in v]\n")
    outcome = nightly.scoregate("run", "--baseline", "none", **{"INPUT_GITHUB-TOKEN": "ghs_0123456789abcdefghij"})
    assert (outcome.exit_code, outcome.statuses) == (0, {"passed": 12}), outcome.output


@pytest.mark.parametrize(("mode", "kept"), [("full", True), ("none", False)])
def test_traces_are_hidden_like_outputs(nightly: Project, mode: str, kept: bool) -> None:
    nightly.write("bot.py", f"{BOT}\n\ndef loud(question):\n    return question.upper()\n")
    configure(nightly, agent="bot:loud", assert_test=False)
    outcome = nightly.scoregate("run", "--baseline", "none", "--show-outputs", mode)
    assert outcome.statuses == {"failed": 12}, outcome.output
    cases = gzip.decompress((outcome.out / "run" / "cases.jsonl.gz").read_bytes())
    assert (b"QUESTION" in cases, b"invoke_agent loud" in cases) == (kept, kept)


def test_a_project_in_a_folder_has_its_own_store(nightly: Project) -> None:
    inner = nightly.root / "services" / "bot"
    inner.mkdir(parents=True)
    for name in ("bot.py", "my_judges.py", "pyproject.toml", ".scoregate"):
        (nightly.root / name).rename(inner / name)
    outcome = nightly.scoregate("run", "--working-directory", "services/bot", "--baseline", "none")
    assert outcome.exit_code == 0, outcome.output
    assert Path(inner / "scoregate-out" / "junit.xml").is_file()
