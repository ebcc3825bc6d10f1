"""Applications of converted suites: one without an answer is an error, and never passes what it must not contain."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from scoregate import evaluate
from scoregate.evals import EvalResult
from scoregate.evals.providers import call_provider
from scoregate.scorers import assertion

PYTHON = """
def call_api(prompt, options, context):
    return {RESULTS}[prompt]

async def answer_late(prompt, options, context):
    import words_of_bot
    return {"output": words_of_bot.GREETING}
"""
RESULTS: dict[str, Any] = {
    "none": None,
    "usage": {"tokenUsage": {"total": 5}},
    "empty error": {"error": ""},
    "null": {"output": None},
    "empty": {"output": ""},
    "object": {"output": {"a": 0}},
    "zero": 0,
}
BODIES = {
    "null": '{"data": {"text": null}}',
    "missing": '{"data": {}}',
    "empty": '{"data": {"text": ""}}',
    "nothing": "",
}


class Bot(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(BODIES[self.path[1:]].encode())

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bot)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading a Python file adds its folder."""
    monkeypatch.setattr(sys, "path", [*sys.path])


def run(kind: str, folder: Path, *prompts: str, **options: Any) -> EvalResult:
    """Ask an application, whose answers must not contain a word."""

    async def ask(input: str) -> Any:  # noqa: A002
        return await call_provider(kind, input, {}, folder, **options)

    expected = [{"type": "not-contains", "value": "sorry", "metric": "m"}]
    data = [{"id": prompt, "input": prompt, "expected": expected} for prompt in prompts]
    return evaluate("bot", data=data, task=ask, scorers=[assertion("m")])


def errors_of(result: EvalResult) -> dict[str, str]:
    return {case.name: " ".join(each.error.message for each in case.errors) for case in result.cases}


def test_a_function_without_an_output_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(PYTHON.replace("{RESULTS}", repr(RESULTS)))
    errors = errors_of(run("python", tmp_path, *RESULTS, file="bot.py", function="call_api", config={}))
    assert "call_api of bot.py returned None" in errors["none"]
    assert "without an output, with the fields ['tokenUsage']" in errors["usage"]
    assert "without an output, with the fields ['error']" in errors["empty error"]
    assert "without an output, with the fields ['output']" in errors["null"]
    assert {name for name, message in errors.items() if not message} == {"empty", "object", "zero"}


def test_a_function_imports_modules_of_its_folder_when_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(PYTHON.replace("{RESULTS}", "{}"))
    (tmp_path / "words_of_bot.py").write_text("GREETING = 'hello'\n")
    result = run("python", tmp_path, "a", "b", file="bot.py", function="answer_late", config={})
    assert [case.output for case in result.cases] == ["hello", "hello"], errors_of(result)


def test_a_program_that_prints_no_answer_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "bot.sh").write_text(
        'case "$1" in stderr) echo "no key" >&2;; silent) ;; blank) echo;; *) echo "$1";; esac\n'
    )
    result = run("exec", tmp_path, "stderr", "silent", "blank", "hello", command=["sh", "bot.sh"], config={})
    errors = errors_of(result)
    assert "sh printed no answer to its standard output; its errors: no key" in errors["stderr"]
    for name in ("silent", "blank"):
        assert "sh printed no answer to its standard output; its errors: none" in errors[name]
    assert errors["hello"] == ""
    assert not result.passed


def test_an_address_without_an_output_is_an_error(tmp_path: Path, address: str) -> None:
    options: dict[str, Any] = {"url": f"{address}/{{{{prompt}}}}", "method": "GET", "headers": {}}
    errors = errors_of(run("http", tmp_path, *BODIES, **options, path=["data", "text"]))
    assert "the answer has null as its output" in errors["null"]
    assert "the answer has no 'text'" in errors["missing"]
    assert "the answer is empty" in errors["nothing"]
    assert errors["empty"] == ""
    assert "the answer is empty" in errors_of(run("http", tmp_path, "nothing", **options))["nothing"]
