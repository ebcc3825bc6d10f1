"""Results that are sent to an OpenTelemetry collector, here a server on loopback."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import CompletedProcess
from threading import Thread
from typing import Any

import pytest
from tests.cli import run_cli
from tests.warm_scripts import READ_AT_START

from scoregate.errors import SettingsError
from scoregate.features.otlp.publisher import parse_headers
from scoregate.kernel.judge.settings import load_settings

SUITE = """
from scoregate import evaluate
from scoregate.kernel.types.evaluation import Evaluation

def lengthy(output):
    if output == "c":
        raise RuntimeError("no")

def exact(output, expected):
    return Evaluation(float(output == expected), metadata={"reason": "same text, not sk-12345678901234567890123456"})

evaluate(
    "bot", data=[{"input": each, "expected": "a"} for each in "abc"], task=lambda input: input, scorers=[exact, lengthy]
)
"""


@dataclass
class Collector:
    """What was received, by path; `answers` are the codes of the next answers, then 200."""

    port: int = 0
    received: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    body: bytes = b"{}"

    def attributes(self) -> list[dict[str, Any]]:
        """The attributes of each event."""
        logs = [each["resourceLogs"][0]["scopeLogs"][0]["logRecords"] for each in self.received.get("/v1/logs", [])]
        return [flatten(record["attributes"]) for batch in logs for record in batch]


def flatten(attributes: list[dict[str, Any]]) -> dict[str, Any]:
    return {each["key"]: next(iter(each["value"].values())) for each in attributes}


@contextmanager
def open_collector() -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            code = collector.answers.pop(0) if collector.answers else 200
            if code == 200:
                collector.received.setdefault(self.path, []).append(json.loads(gzip.decompress(content)))
            collector.headers.append(dict(self.headers))
            self.send_response(code)
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.send_header("Content-Length", str(len(collector.body)))
            self.end_headers()
            self.wfile.write(collector.body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.port = server.server_port
    Thread(target=server.serve_forever, daemon=True).start()
    yield collector
    server.shutdown()
    server.server_close()


def run_suite(project: Path, collector: Collector, **environ: str) -> CompletedProcess[str]:
    (project / "evals").mkdir(exist_ok=True)
    (project / "evals" / "eval_bot.py").write_text(SUITE)
    base = {
        **{name: value for name, value in os.environ.items() if name.startswith(("PATH", "HOME", *READ_AT_START))},
        "SCOREGATE_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.port}",
    }
    return run_cli("run", "--baseline", "none", cwd=project, environ={**base, **environ})


def test_each_score_is_an_event_and_means_are_metrics(tmp_path: Path) -> None:
    with open_collector() as collector:
        outcome = run_suite(tmp_path, collector, OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20word,x-team=evals")
    assert "results" not in outcome.stdout
    assert {each["authorization"] for each in collector.headers} == {"Bearer word"}
    events = collector.attributes()
    assert {event["event.name"] for event in events} == {"gen_ai.evaluation.result"}
    exact = [event for event in events if event["gen_ai.evaluation.name"] == "exact"]
    assert sorted(event["gen_ai.evaluation.score.value"] for event in exact) == [0.0, 0.0, 1.0]
    assert {event["test.suite.name"] for event in events} == {"bot"}
    assert {event["gen_ai.evaluation.explanation"] for event in exact} == {"same text, not ***"}
    (error,) = [event for event in events if "error.type" in event]
    assert (error["gen_ai.evaluation.name"], error["error.type"]) == ("lengthy", "RuntimeError")
    (metrics,) = collector.received["/v1/metrics"]
    (resource,) = metrics["resourceMetrics"]
    assert flatten(resource["resource"]["attributes"])["service.name"] == "scoregate"
    by_name = {each["name"]: each["gauge"]["dataPoints"] for each in resource["scopeMetrics"][0]["metrics"]}
    (mean,) = by_name["scoregate.evaluation.score"]
    assert mean["asDouble"] == pytest.approx(1 / 3)
    assert flatten(mean["attributes"]) == {"test.suite.name": "bot", "gen_ai.evaluation.name": "exact"}
    assert sum(each["asDouble"] for each in by_name["scoregate.cases"]) == 3


def test_a_collector_that_is_down_busy_or_refuses_is_a_warning(tmp_path: Path) -> None:
    with open_collector() as collector:
        expected = run_suite(tmp_path, collector).returncode
        collector.answers = [503]
        assert "answered" not in run_suite(tmp_path, collector).stdout
        for code in (401, 302):
            collector.answers = [code]
            outcome = run_suite(tmp_path, collector)
            assert f"/v1/logs answered {code}: results of this run are not there" in outcome.stdout
            assert outcome.returncode == expected
        collector.body = b'{"partialSuccess": {"rejectedLogRecords": "2"}}'
        assert "/v1/logs rejected 2 of the results" in run_suite(tmp_path, collector).stdout
    outcome = run_suite(tmp_path, collector, OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20word%0a")
    assert "results could not be sent: " in outcome.stdout
    assert "Bearer" not in outcome.stdout + outcome.stderr
    assert outcome.returncode == expected


def test_headers_go_only_to_an_address_that_the_environment_names(tmp_path: Path) -> None:
    with open_collector() as collector:
        (tmp_path / "scoregate.toml").write_text(f'otlp_endpoint = "http://127.0.0.1:{collector.port}"\n')
        environ = {"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20word", "SCOREGATE_OTLP_ENDPOINT": ""}
        run_suite(tmp_path, collector, **environ)
    assert collector.received
    assert [each for each in collector.headers if "authorization" in each] == []


def test_outputs_that_are_not_shown_are_not_sent(tmp_path: Path) -> None:
    with open_collector() as collector:
        run_suite(tmp_path, collector, SCOREGATE_SHOW_OUTPUTS="none")
    assert collector.attributes()
    assert [event for event in collector.attributes() if "gen_ai.evaluation.explanation" in event] == []


def test_addresses_are_checked(tmp_path: Path) -> None:
    for invalid in ("localhost:4318", "file:///etc", "http://user:word@host", "http://host?key=word", "http://"):
        with pytest.raises(SettingsError, match="otlp_endpoint"):
            load_settings(tmp_path, {"SCOREGATE_OTLP_ENDPOINT": invalid})
    assert load_settings(tmp_path, {"SCOREGATE_OTLP_ENDPOINT": "https://h:1/x/"}).otlp_endpoint == "https://h:1/x"
    assert parse_headers("a=b%3D,, c = d ,e") == {"a": "b=", "c": "d"}
