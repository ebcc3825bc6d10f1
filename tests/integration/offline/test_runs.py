"""`client.offline_tests.run`: what it calls, what it gives back, what it raises and when."""

from __future__ import annotations

import functools
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from tests.fakes.openai import OpenAIServer
from tests.integration.offline import judges

from scoregate import Client
from scoregate.errors import JudgmentTestError, JudgmentValidationError, ScoregateError
from scoregate.offline_tests import OfflineTestResult, OfflineTestsFactory, TestConfig
from scoregate.offline_tests.run import print_result


def answer(input: str) -> str:  # noqa: A002
    return input.replace("question", "answer")


def with_judge(client: Client, judge: Any, name: str = "coded") -> Any:
    client.judges.register(judge)
    client.offline_tests.create_config(name, "golden-set", [judge.__name__])
    return functools.partial(client.offline_tests.run, name)


def test_the_first_documented_snippet_runs(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    client.offline_tests.delete_config("nightly-regression")
    config = client.offline_tests.create_config(
        name="nightly-regression",
        dataset="golden-set",
        judges=["helpfulness", "faithfulness"],
    )
    result = client.offline_tests.run(test_config="nightly-regression")
    assert result is not None
    print(result.ui_results_url)
    assert config.name == "nightly-regression"
    assert [len(row.scorers_data) for row in result.results] == [2, 2, 2, 2]
    assert result.passed is None
    assert result.results[0].success is None
    assert capsys.readouterr().out.endswith("\nNone\n")


def test_the_second_documented_snippet_runs(client: Client, server: OpenAIServer) -> None:
    class agent:  # noqa: N801
        invoke = staticmethod(answer)

    def my_agent(input: str) -> str:  # noqa: A002
        return agent.invoke(input)

    result = client.offline_tests.run(
        test_config="nightly-regression",
        agent_function=my_agent,
        pass_condition_fn=lambda fields, scorers: all(  # noqa: ARG005
            s.value != "No" for s in scorers
        ),
        assert_test=True,
    )  # fmt: skip
    assert result is not None
    assert (result.passed, result.status) == (True, "completed")
    assert any("answer 3" in str(body["messages"]) for body in server.asked()), "judges see what the agent said"
    server.answers("(?s)faithful.*question 3", {"answer": "No", "reason": "made up"})
    with pytest.raises(JudgmentTestError, match=r"failed its pass condition for 1 example\(s\): \[3\]"):
        client.offline_tests.run(
            test_config="nightly-regression",
            agent_function=my_agent,
            pass_condition_fn=lambda fields, scorers: all(s.value != "No" for s in scorers),  # noqa: ARG005
            assert_test=True,
        )


def test_a_row_has_all_judge_results(client: Client, server: OpenAIServer) -> None:
    long = "because " * 100
    server.answers("(?s)helpful.*question 2", {"answer": "No", "reason": long})
    result = client.offline_tests.run("nightly-regression", answer, run_name="by hand")
    assert result is not None
    row = next(row for row in result.results if row.data_object["input"] == "question 2")
    helpfulness, faithfulness = row.scorers_data
    assert (helpfulness.name, helpfulness.value, helpfulness.score, helpfulness.reason) == (
        "helpfulness",
        "No",
        0,
        long,
    )
    assert (helpfulness.version, faithfulness.value, faithfulness.error) == ("0.0", "Yes", None)
    assert helpfulness.additional_metadata["judge_minor_version"] == 0
    assert helpfulness.id == client.judges.get("helpfulness").id  # type: ignore[union-attr]
    assert row.evaluation_cost is not None
    assert row.run_duration is not None
    assert result.name == "by hand"
    assert result.suite.mean("helpfulness") == 0.75
    assert isinstance(client.offline_tests, OfflineTestsFactory)


class Called:
    async def __call__(self, input: str) -> str:  # noqa: A002
        await anyio.lowlevel.checkpoint()
        return answer(input)


async def in_loop(*, input: str, **rest: str) -> str:  # noqa: A002
    assert list(rest) == ["expected"]
    return answer(input)


def mapped(prompt: str, shouting: bool = False) -> str:
    return answer(prompt.upper() if shouting else prompt)


AGENTS: dict[str, tuple[Any, dict[str, str] | None]] = {
    "a function": (answer, None),
    "an async function": (in_loop, None),
    "an object with an async call": (Called(), None),
    "a partial": (functools.partial(mapped, shouting=False), {"prompt": "input"}),
    "a lambda around a coroutine": (lambda input: in_loop(input=input, expected="."), None),  # noqa: A006
    "a mapped function": (mapped, {"prompt": "input", "nothing": "else"}),
}


@pytest.mark.parametrize("kind", AGENTS)
def test_agents_of_every_kind_are_called(client: Client, kind: str) -> None:
    agent, mapping = AGENTS[kind]
    run = with_judge(client, judges.Matches)
    result = run(agent, field_mapping=mapping, pass_condition_fn=lambda _, scorers: scorers[0].value == "Yes")
    assert result.passed is True, result.results


@pytest.mark.anyio
async def test_it_runs_in_a_running_loop(client: Client) -> None:
    result = with_judge(client, judges.Matches)(in_loop, pass_condition_fn=lambda _, scores: scores[0].score == 1)
    assert result.passed is True


def test_an_agent_exception_is_a_row_error(client: Client) -> None:
    def agent(input: str) -> str:  # noqa: A002
        if input == "question 2":
            raise KeyError("nothing known")
        return answer(input)

    result = with_judge(client, judges.Matches)(agent, pass_condition_fn=lambda _, __: True)
    assert sorted((row.success, row.error) for row in result.results)[0] == (False, "KeyError: 'nothing known'")
    assert result.passed is False
    assert result.suite.columns.errored_rows()


def test_a_row_with_a_failed_judge_fails(client: Client) -> None:
    requests: list[str] = []

    def passes(fields: dict[str, Any], scorers: list[Any]) -> bool:
        requests.append(fields["input"])
        return all(scorer.value != "No" for scorer in scorers)

    result = with_judge(client, judges.Broken)(pass_condition_fn=passes)
    (row,) = [row for row in result.results if not row.success]
    assert row.scorers_data[0].error == "ValueError: cannot judge this"
    assert sorted(requests) == ["question 1", "question 3", "question 4"]
    with pytest.raises(JudgmentTestError, match=r"1 example\(s\): \[2\]"):
        client.offline_tests.run("coded", pass_condition_fn=passes, assert_test=True)


def test_an_exception_of_a_pass_condition_is_a_row_error(client: Client) -> None:
    async def passes(fields: dict[str, Any], scorers: list[Any]) -> bool:
        return bool(scorers) and 6 / (int(fields["input"][-1]) - 1) > 0

    result = client.offline_tests.run("nightly-regression", pass_condition_fn=passes)
    assert result is not None
    assert {row.data_object["input"]: row.error for row in result.results if not row.success} == {
        "question 1": "ZeroDivisionError: division by zero"
    }
    assert result.suite.mean("pass_condition") == 1.0


def test_a_run_without_judge_results_is_an_error(client: Client, server: OpenAIServer) -> None:
    server.answers("helpful|faithful|Answer again", "nonsense")
    with pytest.raises(JudgmentTestError, match="finished with status 'error'"):
        client.offline_tests.run("nightly-regression", pass_condition_fn=lambda _, __: True, assert_test=True)


def test_an_unknown_config_returns_none_and_records_an_error(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "events").mkdir()
    monkeypatch.setenv("SCOREGATE_EVENTS", str(tmp_path / "events"))
    assert client.offline_tests.run("nightly-regresion", answer) is None
    (log,) = (tmp_path / "events").iterdir()
    assert "there is no test config 'nightly-regresion'" in log.read_text()


def test_an_unknown_config_is_shown_without_a_host(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    assert client.offline_tests.run("nightly-regresion", answer) is None
    assert capsys.readouterr().out.startswith("there is no test config 'nightly-regresion'. Make it first: ")


def never(**_: Any) -> None:
    raise AssertionError("the agent was called")


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ({"test_config": "unknown", "assert_test": True}, ValueError, "requires a pass_condition_fn"),
        ({"dataset_version": 99}, ValueError, "Dataset version 99 does not exist for the dataset of test config"),
        ({"dataset_version": True}, ValueError, "Dataset version True"),
        ({"dataset_version": "1"}, ValueError, "Dataset version 1 does"),
        (
            {"dataset_version": 9, "judge_versions": [{"name": "helpfulness", "version": "7.0"}]},
            ValueError,
            "version 9",
        ),
        ({"judge_versions": [{"name": "helpfulness", "version": "7.0"}]}, JudgmentValidationError, "no version 7"),
        ({"judge_versions": [{"name": "nobody"}]}, JudgmentValidationError, "Judges not found: nobody"),
        ({"judge_versions": ["prod"]}, ValueError, "entries must be dicts"),
        (
            {"agent_function": lambda z, y, input: never()},  # noqa: ARG005, A006
            TypeError,
            r"Agent entrypoint <lambda>\(\) requires example field\(s\) \['y', 'z'\] that are not present",
        ),
        (
            {"agent_function": answer, "field_mapping": {"input": "quest"}},
            TypeError,
            r"answer\(\) requires example field\(s\) \['quest'\]",
        ),
        ({"agent_function": functools.partial(mapped)}, TypeError, r"mapped\(\) requires .* \['prompt'\]"),
        ({"agent_function": "".join}, TypeError, r"join\(\) requires \['iterable'\] by position"),
        ({"max_concurrency": 0}, ValueError, "max_concurrency"),
        ({"timeout_seconds": 0}, ValueError, "timeout_seconds"),
    ],
)
def test_all_is_checked_before_the_agent_is_called(
    client: Client, server: OpenAIServer, value: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        client.offline_tests.run(**{"test_config": "nightly-regression", "agent_function": never, **value})
    assert server.asked() == []


def test_every_row_is_checked_first(client: Client) -> None:
    schema = {"type": "object", "properties": {"input": {"type": "string"}}}
    client.datasets.create("empty", schema=schema)
    client.offline_tests.create_config("nothing", "empty", ["helpfulness"])
    with pytest.raises(JudgmentValidationError, match="has no rows"):
        client.offline_tests.run("nothing", never, pass_condition_fn=lambda _, __: True)


def test_an_unsuitable_version_is_refused_when_pinned(client: Client) -> None:
    client.judges.tag("helpfulness")
    client.judges.update("helpfulness", prompt="Is it helpful? {{tone}}")
    with pytest.raises(JudgmentValidationError, match="which the dataset 'golden-set' does not have"):
        client.offline_tests.run("nightly-regression", never, [{"name": "helpfulness", "tag": "latest"}])


def test_two_judge_versions_are_separate(client: Client, server: OpenAIServer) -> None:
    client.judges.update("helpfulness", prompt="Is it helpful and short? {{input}}")
    server.answers("short", {"answer": "No"})
    pins: Any = [{"name": "helpfulness", "version": version} for version in ("0.0", "0.1")]
    result = client.offline_tests.run("nightly-regression", judge_versions=pins)
    assert result is not None
    scores = {data.name: (data.value, data.version) for data in result.results[0].scorers_data}
    assert scores == {
        "helpfulness@0.0": ("Yes", "0.0"),
        "helpfulness@0.1": ("No", "0.1"),
        "faithfulness": ("Yes", "0.0"),
    }


def test_an_older_version_of_the_dataset_is_run(client: Client) -> None:
    client.datasets.get("golden-set").add_examples([{"input": "question 5", "expected": "answer 5"}])
    run = functools.partial(with_judge(client, judges.Matches), answer)
    assert len(run().results) == 5
    assert len(run(dataset_version=1).results) == 4
    assert len(run(dataset_version=str(client.datasets.versions("golden-set")[0].version_id)).results) == 5


def test_identical_rows_are_two_cases(client: Client) -> None:
    client.datasets.create("twins", examples=[{"input": "a", "expected": "a"}] * 2)
    client.judges.register(judges.Matches)
    client.offline_tests.create_config("pairs", "twins", ["Matches"])
    result = client.offline_tests.run("pairs", answer)
    assert result is not None
    first, second = sorted(case.hash for case in result.suite.cases)
    assert second == f"{first}#2"


def test_slow_judges_time_out_and_finished_results_are_kept(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in (2, 60):  # on a busy machine, no judge may end in two seconds
        (events := tmp_path / f"events-{limit}").mkdir()
        monkeypatch.setenv("SCOREGATE_EVENTS", str(events))
        start = with_judge(client, judges.Slow, f"slow-{limit}")
        with pytest.raises(TimeoutError, match=rf"did not complete within {limit}s"):
            start(timeout_seconds=limit, pass_condition_fn=lambda _, __: True)
        (log,) = events.iterdir()
        text = log.read_text()
        if text.count('"case_finished"') == 2:
            break
    assert text.count('"case_finished"') == 2
    assert "TimeoutError" in text
    assert '"suite_finished"' in text


def test_agent_time_does_not_count(client: Client) -> None:
    async def agent(input: str) -> str:  # noqa: A002
        await anyio.sleep(1.2 * limit)
        return answer(input)

    for limit in (1, 30):  # on a busy machine, a judge may take longer than a second
        start = with_judge(client, judges.Matches, f"slow-agent-{limit}")
        with suppress(TimeoutError):
            assert start(agent, timeout_seconds=limit, max_concurrency=2).status == "completed"
            return
    pytest.fail("the time of the agent counts")


def test_the_table_shows_failures_first_and_escapes_text(
    client: Client, server: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answers("(?s)helpful.*question 4", {"answer": "No"})
    client.offline_tests.run(
        "nightly-regression", pass_condition_fn=lambda _, scores: scores[0].value == "Yes", run_name="\x1b[2J!"
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[2J!: completed, 4 rows, 3 passed"
    assert lines[1].split() == ["example", "helpfulness", "faithfulness", "result"]
    assert lines[2].split() == ["4", "question", "4", "No", "Yes", "failed"]


def test_the_address_is_of_the_ci_run_or_none(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("ACTIONS", "true"),
        ("SERVER_URL", "https://ghe.example"),
        ("REPOSITORY", "a/b"),
        ("RUN_ID", "7"),
    ):
        monkeypatch.setenv(f"GITHUB_{name}", value)
    result = with_judge(client, judges.Matches)(answer)
    assert isinstance(result, OfflineTestResult)
    assert result.ui_results_url == "https://ghe.example/a/b/actions/runs/7"
    print_result(result)


def test_a_filter_leaves_a_run_out(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_FILTERS_TEST_SUITES", '["other*"]')
    result = client.offline_tests.run(
        "nightly-regression", never, pass_condition_fn=lambda _, __: True, assert_test=True
    )
    assert result is not None
    assert (result.status, result.passed) == ("skipped", None)


def test_a_config_without_judges_is_looked_up(client: Client) -> None:
    stored = client.offline_tests.get_config("nightly-regression")
    assert stored is not None
    for config in (TestConfig(stored.id, "other", "d1"), TestConfig("unknown", "nightly-regression", "d1"), stored):
        result = client.offline_tests.run(config)
        assert result is not None
        assert [len(row.scorers_data) for row in result.results] == [2, 2, 2, 2]
    assert client.offline_tests.run(TestConfig(id="c1", name="gone", dataset_id="golden-set")) is None


def test_configs_are_created_listed_and_deleted(client: Client) -> None:
    tests = client.offline_tests
    new_config = tests.create_config("second", "golden-set", [{"name": "helpfulness"}], "for tests")
    assert tests.get_config(new_config.id) == tests.get_config("second") == new_config
    assert [config.name for config in tests.list_configs(new_config.dataset_id)] == ["nightly-regression", "second"]
    assert tests.delete_config(new_config.id) is True
    assert tests.delete_config(new_config.id) is False
    with pytest.raises(ScoregateError, match="Judges not found: nope"):
        tests.create_config("third", "golden-set", ["nope"])
