"""The spans of agents: their receiver, its limits, and files of spans."""

from __future__ import annotations

import http.client
import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest
from tests.unit.kernel.test_otlp import dump

from scoregate.agents import command_agent
from scoregate.agents.receiver import TrialSpans, open_receiver
from scoregate.errors import AgentError
from scoregate.kernel.types.trajectories.otlp import JSON
from scoregate.kernel.types.trajectories.trajectory import Trajectory
from scoregate.scorers import command_passes, never_called, tool_calls

# Sends each argument as a body of its own.
SENDER = """
import json, os, sys, urllib.request
for body in sys.argv[1:]:
    request = urllib.request.Request(os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces", body.encode())
    request.add_header("Content-Type", "application/json")
    try:
        urllib.request.urlopen(request)
    except urllib.error.HTTPError as error:
        print(error.code)
"""
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


@pytest.fixture(autouse=True)
def without_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENDPOINTS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def trial() -> Iterator[TrialSpans]:
    with open_receiver().open_trial() as trial:
        yield trial


def run(script: str, *arguments: str, **options: Any) -> Trajectory:
    return anyio.run(command_agent([sys.executable, "-c", script, *arguments], **options), "go")


def post(trial: TrialSpans, body: Any, path: str = "/v1/traces", **headers: str) -> tuple[int, bytes]:
    address = urlsplit(trial.address)
    connection = http.client.HTTPConnection(address.netloc, timeout=60)
    connection.request("POST", address.path + path, body, {"Content-Type": JSON, **headers})
    response = connection.getresponse()
    return response.status, response.read()


def test_an_agent_that_sends_spans_has_their_steps() -> None:
    result = run(SENDER, dump("search").decode(), dump("fail").decode())
    assert [(call.name, call.error) for call in result.tool_calls] == [("search", None), ("fail", "no")]
    assert result.incomplete == ""
    assert [message.text for message in result.messages] == ["go"]


def test_unread_requests_make_scorers_of_calls_unmeasurable() -> None:
    result = run(SENDER, dump("search").decode(), '{"resourceSpans": [5]}')
    assert result.output == "400"
    assert [call.name for call in result.tool_calls] == ["search"]
    with pytest.raises(ValueError, match=r"some may be missing: spans of the agent are missing: 1 request refused"):
        never_called("delete")(result)
    assert command_passes("true")(result).score == 1  # type: ignore[union-attr]


def test_missing_spans_make_scorers_of_calls_unmeasurable(monkeypatch: pytest.MonkeyPatch) -> None:
    child = json.loads(dump("search"))
    child["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["parentSpanId"] = "c" * 16
    result = run(SENDER, json.dumps(child))
    with pytest.raises(ValueError, match=r"the parent of the span .* did not arrive"):
        never_called("delete")(result)
    monkeypatch.setenv("TRACEPARENT", f"00-{'a' * 32}-{'C' * 16}-01")
    assert run(SENDER, json.dumps(child)).incomplete == ""


def test_a_repeated_span_counts_once() -> None:
    body = dump("search").decode()
    assert len(run(SENDER, body, body).tool_calls) == 1
    script = f"open('spans.json', 'w').write(sys.argv[1])\n{SENDER}"
    assert len(run(f"import sys\n{script}", body, trace_file="spans.json").tool_calls) == 1


def test_an_agent_without_calls_has_no_score_for_them() -> None:
    result = run("print('done')")
    for scorer in (never_called("delete"), tool_calls([])):
        with pytest.raises(ValueError, match="it prints no events, and sends no spans"):
            scorer(result)


def test_an_endpoint_of_the_user_stays_unless_otlp_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    show = "import json, os; print(json.dumps({k: v for k, v in os.environ.items() if k.startswith('OTEL')}))"
    own = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}
    assert json.loads(run(show, env=own).output) == own
    with pytest.raises(ValueError, match=r"OTEL_EXPORTER_OTLP_ENDPOINT is set, .* command_agent\(…, otlp=True\)"):
        never_called("delete")(run(show, env=own))
    redirected = json.loads(run(show, env=own, otlp=True).output)
    assert redirected.pop("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").startswith("http://127.0.0.1:")
    assert redirected.pop("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") in ("http/protobuf", "http/json")
    assert redirected == own
    assert json.loads(run(show, otlp=False).output) == {}
    # The host's own endpoint is replaced by that of the trial.
    monkeypatch.setenv("SCOREGATE_OTLP_ADDRESS", "http://127.0.0.1:9/host")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9/host")
    assert json.loads(run(show).output)["OTEL_EXPORTER_OTLP_ENDPOINT"] != "http://127.0.0.1:9/host"
    assert json.loads(run(show, otlp=False).output) == {}
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:9/host/v1/traces")
    content = json.loads(run(show).output)
    assert content["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://collector:4318"
    assert "/host/" not in content["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]
    with pytest.raises(ValueError, match="otlp=True needs the network"):
        command_agent(["x"], otlp=True, network=False)


def test_metrics_and_logs_are_accepted_and_ignored(trial: TrialSpans) -> None:
    assert post(trial, b"anything", "/v1/metrics") == (200, b"{}")
    assert post(trial, b"anything", "/v1/logs", **{"Content-Type": "application/x-protobuf"}) == (200, b"")
    assert post(trial, dump("a"), "/v1/other")[0] == 404
    assert post(trial, dump("a"), "x/v1/traces")[0] == 404
    assert post(trial, dump("a")) == (200, b"{}")
    trial.wait_for_requests()
    assert (len(trial.buffer.spans), trial.buffer.losses) == (1, {})


def test_chunked_bodies_are_read(trial: TrialSpans) -> None:
    body = dump("a", "b")
    assert post(trial, iter([body[:100], body[100:]]))[0] == 200
    assert len(trial.buffer.spans) == 2


def test_hostile_requests_are_refused_and_counted(trial: TrialSpans) -> None:
    address = urlsplit(trial.address)
    head = f"POST {address.path}/v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: {JSON}\r\n"
    for rest, status in (
        ("Content-Length: 99999999\r\n\r\n", b"413"),
        ("Content-Length: -5\r\n\r\n", b"411"),
        ("\r\n", b"411"),
        ("Content-Length: 100\r\n\r\n{}", b"400"),
        ("Transfer-Encoding: chunked\r\n\r\nzz\r\n", b"400"),
        ("Transfer-Encoding: chunked\r\n\r\nfffffff\r\n", b"413"),
        ("Transfer-Encoding: chunked\r\n\r\n5\r\nab", b"400"),
    ):
        with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
            connection.sendall((head + rest).encode())
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1_000).split()[1] == status, rest
    trial.wait_for_requests()
    assert (trial.buffer.spans, sum(trial.buffer.losses.values())) == ([], 7)


def test_an_unfinished_request_times_out(trial: TrialSpans, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoregate.agents.receiver._LATE_S", 2.0)
    address = urlsplit(trial.address)
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall(f"POST {address.path}/v1/traces HTTP/1.1\r\nContent-Length: 100\r\n\r\n".encode())
        trial.wait_for_requests()
    assert trial.buffer.losses["requests that did not end in time"] == 1


def test_a_file_of_spans_that_the_agent_writes_is_read(tmp_path: Path) -> None:
    write = "import sys; open('spans.jsonl', 'w').write(sys.argv[1])"
    result = run(write, dump("search").decode(), trace_file="./spans.jsonl")
    assert ([call.name for call in result.tool_calls], result.changed_files) == (["search"], [])
    secret = tmp_path / "outside.json"
    secret.write_bytes(dump("search"))
    for script, message in (
        ("pass", "No such file"),
        (f"import os; os.symlink({str(secret)!r}, 'spans.jsonl')", "outside of the workspace"),
        ("import os; os.mkfifo('spans.jsonl')", "not a regular file"),
        ("import os; os.mkdir('spans.jsonl')", "directory|not a regular file"),
        ("open('spans.jsonl', 'w').write('{')", "not OTLP JSON"),
    ):
        with pytest.raises(AgentError, match=rf"trace file spans\.jsonl can't be read: .*({message})"):
            run(script, trace_file="spans.jsonl")
