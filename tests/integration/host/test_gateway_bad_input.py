"""A suite that sends bad requests of all kinds: each is an error, none stops the gateway, and none leaks the key."""

from __future__ import annotations

import base64
import gzip
import json

from tests.features.gateway.conftest import KEY, completion
from tests.features.gateway.provider import Prepared, Received, open_provider
from tests.integration.host.conftest import Project

SUITE = r"""
import contextlib, json, os, socket
from urllib.parse import urlsplit

from scoregate import evaluate

GATEWAY = urlsplit(os.environ["SCOREGATE_GATEWAY_URL"])
TOKEN = os.environ["OPENAI_API_KEY"]
HOST = f"{GATEWAY.hostname}:{GATEWAY.port}"
CHAT = "/openai/v1/chat/completions"

def make(content="x", *, path=CHAT, host=HOST, token=TOKEN, more="", body=None, length=None):
    body = json.dumps({"model": "gpt-4o", "messages": [{"content": content}]}) if body is None else body
    length = len(body) if length is None else length
    return (f"POST {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{more}Connection: close\r\n"
            f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}")

REQUESTS = {
    "oversized body": make(length=40_000_000),
    "invalid JSON": make(body="{"),
    "unknown path": make(path="/openai/v1/files"),
    "unknown provider": make(path="/groq/v1/chat/completions"),
    "header injection": make(more="X-A: a\rAuthorization: b\r\n"),
    "absolute form": make(path="http://169.254.169.254/latest/meta-data"),
    "another host": make(host="evil.example"),
    "another suite's token": make(token="sk-scoregate-" + "x" * 43),
    "a token of none": make(token=""),
    "redirect": make("redirect"),
    "half a stream": make("half a stream"),
    "error": make("error"),
    "echo": make("echo"),
    "fine": make("fine"),
}

def send(text):
    answer = b""
    with socket.create_connection((GATEWAY.hostname, GATEWAY.port), timeout=60) as connection:
        connection.sendall(text.encode())
        with contextlib.suppress(ConnectionError):
            while part := connection.recv(65536):
                answer += part
    return answer.decode("latin-1")

def ask(input):
    if input == "half a request":
        with socket.create_connection((GATEWAY.hostname, GATEWAY.port)) as connection:
            connection.sendall(make(length=100).encode())
        return "left"
    return send(REQUESTS[input])

def answers(output):
    return float(bool(output))

names = ["half a request", *REQUESTS]
evaluate("bad", data=[{"input": name} for name in names], task=ask, scorers=[answers])
with open("answers.json", "w") as file:
    json.dump({name: ask(name) for name in names}, file)
"""
EXPECTED = {
    "oversized body": "request_too_large",
    "invalid JSON": "invalid_json",
    "unknown path": "unknown_path",
    "unknown provider": "unknown_provider",
    "header injection": "invalid_request",
    "absolute form": "unknown_provider",
    "another host": "wrong_host",
    "another suite's token": "invalid_token",
    "a token of none": "invalid_token",
    "redirect": "redirect_refused",
}


def respond(request: Received) -> Prepared:
    """Answer with the key, wherever a provider could."""
    text, sent = request.body.decode(), json.dumps(request.headers)
    if "redirect" in text:
        return Prepared(sent.encode(), 307, {"location": f"http://127.0.0.1:1/?key={KEY}", "x-key": KEY})
    if "half a stream" in text:
        parts = [b"data: {}\n\n", f"data: {sent[:-3]}".encode()]
        return Prepared(headers={"content-type": "text/event-stream"}, parts=parts, breaks=True)
    if "fine" in text:
        return Prepared(completion("fine"))
    error = json.dumps({"error": {"message": sent}}).encode()
    return Prepared(error, 400) if "error" in text else Prepared(completion(sent))


def test_bad_requests_of_a_suite_leak_nothing(project: Project) -> None:
    project.write("evals/bad.py", SUITE)
    project.write("scoregate.toml", 'gateway = "record"\ncassettes = ".scoregate/cassettes"\n')
    with open_provider() as provider:
        provider.respond = respond
        environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{provider.url}/v1"}
        outcome = project.scoregate("run", "--baseline", "none", **environ)
    assert outcome.exit_code == 3, outcome.output
    answers = json.loads((project.root / "answers.json").read_text(encoding="utf-8"))
    for name, code in EXPECTED.items():
        assert json.loads(answers[name].partition("\r\n\r\n")[2])["error"]["code"] == code, name
    assert "fine" in answers["fine"]
    assert "***" in answers["error"]
    assert "***" in answers["echo"]
    assert "200 OK" in answers["half a stream"]
    assert not answers["half a stream"].endswith("0\r\n\r\n")  # the client sees that it broke off
    assert {request.path for request in provider.received} == {"/v1/chat/completions"}
    text = " ".join(outcome.output.split())
    for notice in (
        "Most model calls failed: 10 of 14 calls of evals/bad.py through the gateway got no answer",
        "the body is larger than 33,554,432 bytes",
        "the body is not valid JSON",
        "no provider is at '/groq/v1/chat/completions'",
        "redirects to another address; the gateway never follows with a key",
        f"a stream of {provider.url[7:]} broke off",
        f"an answer of {provider.url[7:]} contained the key; it was replaced by ***",
    ):
        assert notice in text, notice
    check_no_key(project, outcome.output)


def check_no_key(project: Project, output: str) -> None:
    """Check that the key is in no file of the project and not in the output, as it is or encoded."""
    forms = [KEY.encode(), KEY.encode().hex().encode()]
    forms += [base64.b64encode(bytes(offset) + KEY.encode())[4:-4] for offset in range(3)]
    files = [path for path in project.root.rglob("*") if path.is_file()]
    assert any(path.name == "bad.jsonl.gz" or "cassettes" in path.parts for path in files)
    for path in files:
        data = path.read_bytes()
        content = gzip.decompress(data) if path.suffix == ".gz" else data
        assert not [form for form in forms if form in content], path
    assert not [form for form in forms if form in output.encode()]
