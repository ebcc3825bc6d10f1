"""What an agent does is recorded, apart for every call: for judges, for the record, as files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from opentelemetry import trace as api
from tests.fakes.openai import OpenAIServer
from tests.integration.offline import judges

from scoregate import Client
from scoregate.errors import JudgmentValidationError
from scoregate.judges import BinaryResponse, Judge
from scoregate.kernel.types.trace import LONGEST_TEXT, Span, Trace
from scoregate.offline_tests import OfflineTestResult, OfflineTracer, observe


@observe(span_type="tool")
def search(query: str) -> list[str]:
    return [f"found for {query}"]


@observe(span_type="llm", name="gpt")
async def write(found: list[str]) -> str:
    await anyio.sleep(0.01)
    with api.get_tracer("some.library").start_as_current_span("embeddings"):
        return f"written from {found[0]}"


async def my_agent(input: str) -> str:  # noqa: A002
    return await write(search(input))  # type: ignore[no-any-return]


class Searched(Judge[BinaryResponse]):
    """Sees the trace as data."""

    def score(self, data: Any) -> BinaryResponse:
        return BinaryResponse(value=any(span.name == "execute_tool search" for span in data.trace.spans))


def run(client: Client, agent: Any, **more: Any) -> OfflineTestResult:
    client.judges.register(Searched)
    client.offline_tests.create_config("traced", "golden-set", ["Searched", "helpfulness"])
    result = client.offline_tests.run("traced", agent, **more)
    assert result is not None
    return result


def test_every_call_has_its_own_complete_trace(client: Client) -> None:
    result = run(client, my_agent)
    assert set(result.agent_offline_trace_ids) == {1, 2, 3, 4}
    assert len(set(result.agent_offline_trace_ids.values())) == 4
    for row in result.results:
        assert row.trace is not None
        assert result.agent_offline_trace_ids[row.data_object.example_id or 0] == row.trace_id == row.trace.trace_id
        names = [span.name for span in row.trace.spans]
        assert names == ["invoke_agent my_agent", "execute_tool search", "chat gpt", "embeddings"]
        assert f"found for {row.data_object['input']}" in row.trace.text()
        assert row.scorers_data[0].value == "Yes"


def test_prompt_judges_and_the_record_get_the_trace(client: Client, server: OpenAIServer) -> None:
    result = run(client, my_agent)
    asked = [str(body["messages"]) for body in server.asked()]
    assert all("execute_tool search" in text for text in asked)
    cases = list(result.suite.cases)
    assert {case.trace["trace_id"] for case in cases} == set(result.agent_offline_trace_ids.values())
    spans = {span["span_id"]: span for span in cases[0].trace["spans"]}
    parents = {span["name"]: spans.get(span["parent_id"], {}).get("name") for span in spans.values()}
    assert parents["embeddings"] == "chat gpt"
    root = next(span for span in spans.values() if not span["parent_id"])
    assert root["attributes"]["gen_ai.operation.name"] == "invoke_agent"
    assert "written from" in root["attributes"]["gen_ai.output.messages"]


def test_the_same_steps_make_the_same_question(client: Client, server: OpenAIServer) -> None:
    run(client, my_agent)
    client.offline_tests.run("traced", my_agent)
    asked = [str(body["messages"]) for body in server.asked()]
    assert len(asked) == 8
    assert len(set(asked)) == 4


def test_threads_of_sync_agents_are_separate(client: Client) -> None:
    def agent(input: str) -> list[str]:  # noqa: A002
        return search(input)  # type: ignore[no-any-return]

    for row in run(client, agent).results:
        assert row.trace is not None
        assert [span.name for span in row.trace.spans] == ["invoke_agent agent", "execute_tool search"]


def test_a_failed_call_has_its_trace(client: Client) -> None:
    def agent(input: str) -> str:  # noqa: A002
        raise ValueError(search(input)[0])

    result = run(client, agent)
    row = result.results[0]
    assert row.error is not None
    assert {case.trace["trace_id"] for case in result.suite.cases} == {row.trace_id for row in result.results}
    assert row.trace is not None
    assert row.trace.spans[0].error == f"ValueError: found for {row.data_object['input']}"


def test_without_opentelemetry_the_agent_runs_untraced(
    client: Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "opentelemetry"]:
        monkeypatch.setitem(sys.modules, name, None)
    client.judges.register(judges.Matches)
    client.offline_tests.create_config("coded", "golden-set", ["Matches"])
    result = client.offline_tests.run("coded", lambda input: search(input)[0])  # noqa: A006
    assert result is not None
    assert result.agent_offline_trace_ids == {}
    assert "The agent was not traced" in capsys.readouterr().out


PROVIDED = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from scoregate.offline_tests import OfflineTracer, observe

class Foreign(trace.TracerProvider):
    def get_tracer(self, *args, **kwargs):
        return trace.NoOpTracer()

exporter, own = InMemorySpanExporter(), TracerProvider()
own.add_span_processor(SimpleSpanProcessor(exporter))
provider = {provider}
if provider:
    trace.set_tracer_provider(provider)
tracer = OfflineTracer()
for _ in range(2):
    with tracer.recording("bot") as recording:
        observe(str, name="step")(1)
    print(len(recording.trace.spans), len(exporter.get_finished_spans()))
print(provider is None or trace.get_tracer_provider() is provider)
"""


@pytest.mark.parametrize(("provider", "counts"), [("None", "2 0\n2 0"), ("own", "2 1\n2 2"), ("Foreign()", "1 0\n1 0")])
def test_a_tracer_provider_of_the_user_still_works(provider: str, counts: str) -> None:
    script = PROVIDED.replace("{provider}", provider)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"{counts}\nTrue\n", "")


@pytest.fixture
def recorded_trace(client: Client) -> Trace:
    """A recorded trace."""
    with OfflineTracer().recording("bot", {"q": 1}) as recording:
        search("the past")
    assert recording.trace is not None
    assert client.traces.add(recording.trace) == recording.trace_id
    return recording.trace


def test_without_an_agent_the_trace_of_an_example_is_judged(
    client: Client, server: OpenAIServer, recorded_trace: Trace
) -> None:
    schema = {"properties": {"input": {"type": "string"}, "run": {"type": "trace"}}, "type": "object"}
    rows = [{"input": "a", "run": recorded_trace.trace_id}, {"input": "b", "run": "f" * 32}]
    client.datasets.create("seen", schema, rows)
    client.judges.register(Searched)
    client.offline_tests.create_config("past", "seen", ["Searched", "helpfulness"])
    result = client.offline_tests.run("past", pass_condition_fn=lambda _, scores: scores[0].value == "Yes")
    assert result is not None
    good, bad = sorted(result.results, key=lambda row: row.data_object["input"])
    assert (good.success, good.trace_id, bad.success) == (True, recorded_trace.trace_id, False)
    assert bad.error == f"there is no trace '{'f' * 32}'"
    assert result.agent_offline_trace_ids == {}
    assert "the past" in str(server.asked()[0]["messages"])


def test_traces_are_exported_as_otlp_json(client: Client, recorded_trace: Trace, tmp_path: Path) -> None:
    path = client.traces.save_as_otlp([recorded_trace.trace_id], tmp_path / "traces.json")
    span = json.loads(path.read_text())["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    assert (span["traceId"], span["status"]) == (recorded_trace.trace_id, {})
    other = Client(store=tmp_path / "other")
    assert other.traces.add_from_otlp(path) == [recorded_trace.trace_id]
    assert other.traces.get(recorded_trace.trace_id) == client.traces.get(recorded_trace.trace_id)
    path.write_text(path.read_text() + path.read_text().replace(recorded_trace.trace_id, "a" * 32))
    assert other.traces.add_from_otlp(path) == [recorded_trace.trace_id, "a" * 32]


def test_run_traces_are_exported(client: Client, recorded_trace: Trace, tmp_path: Path) -> None:
    stranger = Trace("b" * 32, recorded_trace.spans)
    path = client.traces.save_as_otlp([stranger, recorded_trace.trace_id], tmp_path / "traces.json")
    path.write_text(path.read_text(), encoding="utf-8-sig")
    assert Client(store=tmp_path / "other").traces.add_from_otlp(path) == ["b" * 32, recorded_trace.trace_id]
    with pytest.raises(JudgmentValidationError, match="no trace 'cc' in the store"):
        client.traces.save_as_otlp(["cc"], path)


def test_values_of_every_type_survive(client: Client, tmp_path: Path) -> None:
    attributes = {"a": 1, "b": 2.5, "c": True, "d": ["x", 1], "e": {"f": "g"}, "h": 2**62}
    events = ({"name": "e", "time_ns": 5, "attributes": {"k": "v"}},)
    trace = Trace("b" * 32, (Span("c" * 16, "n", "d" * 16, 1, 2, 3, attributes, events, "bad"),))
    client.traces.add(trace)
    client.traces.add_from_otlp(client.traces.save_as_otlp([trace.trace_id], tmp_path / "t.json"))
    assert client.traces.get(trace.trace_id) == trace


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "zz"}]}]}]}']
)
def test_invalid_otlp_is_refused(client: Client, tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(JudgmentValidationError, match=r"bad\.json is not OTLP JSON"):
        client.traces.add_from_otlp(path)


def test_a_long_trace_is_cut_for_judges() -> None:
    spans = tuple(
        Span(f"{n:016x}", "step", f"{n - 1:016x}" if n else "", attributes={"x": "y" * 9_000}) for n in range(99)
    )
    text = Trace("a" * 32, spans).text()
    assert len(text) < LONGEST_TEXT + 100
    assert "characters left out" in text
