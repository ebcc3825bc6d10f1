"""Unmodified clients of providers: their calls are recorded, then replayed without a key byte for byte."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.docs.project import ROOT
from tests.fakes.openai import OpenAIServer, ToolCall
from tests.fakes.openai.server import KEY
from tests.features.gateway.provider import Prepared, Provider, Received, open_provider
from tests.integration.cached_environments import cached_folder, install, make_python
from tests.warm_program import program_folder

HERE = Path(__file__).parent
PYTHON = ("anthropic==2.12.0", "google-genai==3.4.0", "litellm==1.106.2", "openai==2.54.0")
NODE = ("@ai-sdk/anthropic@3.0.139", "@ai-sdk/openai@3.0.141", "ai@6.0.326", "openai@6.49.0")
SETTINGS = '[gateway.providers.audio]\nbase_url = "{url}/v1"\nkey_env = "AUDIO_KEY"\n'
KEYS = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AUDIO_KEY"), KEY)
SSE = {"content-type": "text/event-stream"}
# A suite in shell around a program whose output it keeps.
SUITE = """
say() {{ printf '{{"suite":"clients","type":"%s"%s}}\\n' "$1" "$2" >> "$SCOREGATE_EVENTS/clients.jsonl"; }}
say suite_started ',"cases":1'
say case_started ',"case":"all"'
{command} > output || exit 1
say case_output ',"case":"all","output":1'
say scored ',"case":"all","evaluator":"runs","score":1,"threshold":{{"gte":1}}'
say case_finished ',"case":"all"'
say suite_finished
"""
PASSED = ("HOME", "LANG", "PATH", "XDG_CACHE_HOME")


def answer_other(request: Received) -> Prepared:
    """Answer as Anthropic's, Gemini's and audio models do."""
    if KEY not in " ".join(request.headers.values()):
        return Prepared(b'{"error": {"message": "no key"}}', 401)
    if "audio/speech" in request.path:
        return Prepared(b"\xff\xf3\x00sound", headers={"content-type": "audio/mpeg"})
    if "audio/transcriptions" in request.path:
        assert b"RIFF\x00\xff" in request.body
        return Prepared(b'{"text": "a transcription"}')
    is_stream = "streamGenerateContent" in request.path or b'"stream":true' in request.body.replace(b" ", b"")
    if "/models/" in request.path:
        return _answer_gemini(is_stream)
    if b'"fail"' in request.body:
        error = {"type": "error", "error": {"type": "invalid_request_error", "message": "not so"}}
        return Prepared(json.dumps(error).encode(), 400)
    return _answer_anthropic(is_stream)


def _answer_gemini(is_stream: bool) -> Prepared:
    parts = []
    for text in ("Bon", "jour"):
        candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10}
        parts.append({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-flash"})
    if is_stream:
        return Prepared(headers=SSE, parts=[b"data: " + json.dumps(part).encode() + b"\r\n\r\n" for part in parts])
    return Prepared(json.dumps(parts[0]).encode())


def _answer_anthropic(is_stream: bool) -> Prepared:
    usage = {"input_tokens": 9, "output_tokens": 4}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
    text = {"type": "text", "text": "Salut"}
    if not is_stream:
        return Prepared(json.dumps({**message, "content": [text], "stop_reason": "end_turn"}).encode())
    events = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Sa"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lut"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
    parts = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]
    return Prepared(headers=SSE, parts=parts)


def run_alone(folder: Path, mode: str, command: list[str], environment: Mapping[str, str]) -> tuple[str, str]:
    """Run a command behind `scoregate gateway`, and return its output and what the gateway prints."""
    outcome = run_scoregate(folder, ["gateway", "--mode", mode, "--", *command], environment)
    return outcome.stdout, outcome.stderr


def run_as_suite(folder: Path, mode: str, command: list[str], environment: Mapping[str, str]) -> tuple[str, str]:
    """The same with a command of a suite that `scoregate exec` runs."""
    (folder / "suite.sh").write_text(SUITE.format(command=shlex.join(command)), encoding="utf-8")
    arguments = ["exec", "--gateway", mode, "--cache", "off", "--baseline", "none", "--", "sh", "suite.sh"]
    outcome = run_scoregate(folder, arguments, environment)
    return (folder / "output").read_text(encoding="utf-8"), outcome.stdout + outcome.stderr


Run: TypeAlias = Callable[[Path, str, list[str], Mapping[str, str]], tuple[str, str]]


def run_scoregate(folder: Path, words: list[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    words = [str(program_folder() / "scoregate"), *words]
    environment = {**environment, "PYTHONPATH": str(ROOT / "src")}
    process = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-3000:]
    return process


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    """OpenAI's API, which takes one key, and refuses a temperature and has no moderations."""
    with OpenAIServer.start(keys=[KEY]) as running:
        running.does_not_take("temperature")
        running.answers("weather", ToolCall("weather", {"city": "Lyon"}))
        running.fail("POST", "*/moderations", status=404, body={"error": {"code": "model_not_found"}}, times=9)
        yield running


@pytest.fixture
def other() -> Iterator[Provider]:
    """Anthropic's, Gemini's and the audio API."""
    with open_provider() as running:
        running.respond = answer_other
        yield running


def check_replay(
    folder: Path,
    server: OpenAIServer,
    other: Provider,
    command: list[str],
    environment: Mapping[str, str],
    *,
    run: Run = run_alone,
) -> str:
    """Record the calls of a command, replay them without a key, and return its output."""
    (folder / "scoregate.toml").write_text(SETTINGS.format(url=other.url), encoding="utf-8")
    base = {**{name: os.environ[name] for name in PASSED if name in os.environ}, **environment}
    addresses = {"OPENAI_BASE_URL": server.url, "ANTHROPIC_BASE_URL": other.url, "GOOGLE_GEMINI_BASE_URL": other.url}
    recorded, log = run(folder, "record", command, {**base, **addresses, **KEYS})
    request_count = len(server.requests), len(other.received)
    replayed, replay_log = run(folder, "replay", command, base)
    assert replayed == recorded
    assert (len(server.requests), len(other.received)) == request_count
    assert "replayed" in replay_log
    assert KEY not in recorded + log
    return recorded


def test_python(tmp_path: Path, server: OpenAIServer, other: Provider) -> None:
    def make(folder: Path) -> None:
        make_python(folder, PYTHON, what="clients of providers in Python")

    python = cached_folder("gateway-python", (sys.version, *PYTHON), make) / "bin" / "python"
    environment = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "PYTHONWARNINGS": "ignore"}
    output = check_replay(tmp_path, server, other, [str(python), str(HERE / "suite.py")], environment)
    for text in ("messages stream", '"city', "jour", "Salut", "a transcription", "404", "400"):
        assert text in output, output[-3000:]


def test_node(tmp_path: Path, server: OpenAIServer, other: Provider) -> None:
    def make(folder: Path) -> None:
        folder.mkdir()
        quiet = ("--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
        install(["npm", "install", *quiet, "--prefix", str(folder), *NODE], what="clients of providers in Node.js")

    (tmp_path / "node_modules").symlink_to(cached_folder("gateway-node", NODE, make) / "node_modules")
    (tmp_path / "suite.mjs").write_bytes((HERE / "suite.mjs").read_bytes())
    for run in (run_alone, run_as_suite):
        output = check_replay(tmp_path, server, other, ["node", "suite.mjs"], {}, run=run)
        for text in ("ai anthropic stream", "Salut", '"city"', "error [400"):
            assert text in output, output[-3000:]


def test_curl(tmp_path: Path, server: OpenAIServer, other: Provider) -> None:
    output = check_replay(tmp_path, server, other, ["sh", str(HERE / "suite.sh")], {})
    assert output.count("200 application/json") == 5
    assert output.count("200 text/event-stream") == 1
    assert "400 application/json" in output
    assert "413 application/json" in output
