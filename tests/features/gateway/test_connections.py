"""What clients do with connections: compression, pipelining, many calls at once, and streams that they leave."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from tests.features.gateway.conftest import KEY, Client, StartGateway, completion, question
from tests.features.gateway.provider import Prepared, Provider, Received

from scoregate.features.gateway.declare import GatewayMode

SSE = {"content-type": "text/event-stream"}


def post_encoded(client: Client, body: bytes, encoding: str) -> httpx.Response:
    headers = {"authorization": f"Bearer {client.session.token}", "content-type": "application/json"}
    headers["content-encoding"] = encoding
    return client.http.post("/openai/v1/chat/completions", content=body, headers=headers)


def test_compressed_requests_are_forwarded_unchanged(start_gateway: StartGateway, provider: Provider) -> None:
    client = start_gateway()
    body = json.dumps(question("packed")).encode()
    for encoding, packed in (("gzip", gzip.compress(body)), ("Deflate", zlib.compress(body)), ("identity", body)):
        assert post_encoded(client, packed, encoding).content == completion("PACKED")
        assert provider.received[-1].body == body
        assert "content-encoding" not in provider.received[-1].headers
    for encoding, packed, status, code in (
        ("br", body, 415, "unsupported_encoding"),
        ("gzip, gzip", body, 415, "unsupported_encoding"),
        ("gzip", body, 400, "invalid_encoding"),
        ("gzip", gzip.compress(body)[:-9], 400, "invalid_encoding"),
        ("gzip", gzip.compress(body) + b"more", 400, "invalid_encoding"),
        ("gzip", b"", 400, "invalid_encoding"),
        ("gzip", gzip.compress(bytes(200_000_000), 1), 413, "request_too_large"),
    ):
        answer = post_encoded(client, packed, encoding)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert len(provider.received) == 3


def test_pipelined_requests_are_answered_in_order(start_gateway: StartGateway) -> None:
    client = start_gateway()
    host = client.gateway.address.removeprefix("http://")
    requests = []
    for number in range(5):
        body = json.dumps(question(f"number {number}")).encode()
        last = "Connection: close\r\n" * (number == 4)
        head = f"POST /openai/v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n{last}"
        head += f"Authorization: Bearer {client.session.token}\r\nContent-Length: {len(body)}\r\n\r\n"
        requests.append(head.encode() + body)
    answers = b""
    with socket.create_connection(tuple(host.split(":")), timeout=60) as connection:
        connection.sendall(b"".join(requests))
        while part := connection.recv(65536):
            answers += part
    positions = [answers.find(f"NUMBER {number}".encode()) for number in range(5)]
    assert -1 not in positions
    assert positions == sorted(positions)


def test_fifty_calls_at_once_over_kept_connections(start_gateway: StartGateway, provider: Provider) -> None:
    def respond(request: Received) -> Prepared:
        time.sleep(0.05)
        return Prepared(completion(json.loads(request.body)["messages"][0]["content"]))

    provider.respond = respond
    client = start_gateway()
    with ThreadPoolExecutor(50) as pool:
        texts = [f"call {number}" for number in range(150)]
        answers = list(pool.map(lambda text: client.post(data=question(text)), texts))
    assert [answer.content for answer in answers] == [completion(text) for text in texts]
    assert (client.counts().calls, client.counts().failed) == (150, 0)


def stream_slowly(_: Received) -> Prepared:
    def parts() -> list[bytes]:
        return [b'data: {"choices":[{"delta":{"content":"%d"}}]}\n\n' % number for number in range(20)]

    return Prepared(headers=SSE, parts=[*parts(), b"data: [DONE]\n\n"])


def test_an_abandoned_stream_is_recorded_completely(
    start_gateway: StartGateway, provider: Provider, tmp_path: Path
) -> None:
    provider.respond = stream_slowly
    recording = start_gateway(mode=GatewayMode.RECORD, record_to=tmp_path / "tape")
    data = question("x", stream=True, stream_options={"include_usage": True})
    headers = {"authorization": f"Bearer {recording.session.token}"}
    with recording.http.stream("POST", "/openai/v1/chat/completions", json=data, headers=headers) as stream:
        first = next(stream.iter_raw(20))
    recording._stack.close()
    client = start_gateway(mode=GatewayMode.REPLAY, replay_from=(tmp_path / "tape",))
    replayed = client.post(data=data)
    assert replayed.content.startswith(first)
    assert replayed.content == b"".join(stream_slowly(provider.received[0]).parts)


def test_an_abandoned_stream_is_counted(start_gateway: StartGateway, provider: Provider) -> None:
    counted = threading.Event()

    def parts() -> Iterator[bytes]:
        yield b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % (b"a" * 4_000)
        counted.wait(60)  # what is sent until the gateway notices that the client left counts too

    provider.respond = lambda _: Prepared(headers=SSE, parts=parts())
    client = start_gateway()
    data = question("x" * 400, stream=True, stream_options={"include_usage": True})
    headers = {"authorization": f"Bearer {client.session.token}"}
    with client.http.stream("POST", "/openai/v1/chat/completions", json=data, headers=headers) as stream:
        next(stream.iter_raw(20))
    deadline = time.monotonic() + 60
    while not client.counts().cost and time.monotonic() < deadline:
        time.sleep(0.01)
    counted.set()
    assert client.counts().input_tokens > 100  # estimates, as the provider has not reported them
    assert 100 <= client.counts().output_tokens < 150
    assert client.counts().cost > 0


@pytest.mark.parametrize(("status", "replayed"), [(400, 400), (404, 404), (401, 424)])
def test_a_deterministic_error_is_replayed(
    start_gateway: StartGateway, provider: Provider, tmp_path: Path, status: int, replayed: int
) -> None:
    error = b'{"error": {"code": "c", "message": "no"}}'
    provider.respond = lambda _: Prepared(error, status)
    recording = start_gateway(mode=GatewayMode.RECORD, record_to=tmp_path / "tape")
    assert recording.post().status_code == status
    recording._stack.close()
    client = start_gateway(mode=GatewayMode.REPLAY, replay_from=(tmp_path / "tape",))
    answer = client.post()
    assert answer.status_code == replayed
    assert (answer.content == error) == (status == replayed)
    assert (client.counts().replayed, client.counts().failed) == (status == replayed, 1)


def test_a_temporary_error_is_not_recorded(start_gateway: StartGateway, provider: Provider, tmp_path: Path) -> None:
    answers = iter([Prepared(b"{}", 500), Prepared(completion("ok"))])
    provider.respond = lambda _: next(answers)
    recording = start_gateway(mode=GatewayMode.RECORD, record_to=tmp_path / "tape")
    assert [recording.post().status_code for _ in range(2)] == [500, 200]
    recording._stack.close()
    assert start_gateway(mode=GatewayMode.REPLAY, replay_from=(tmp_path / "tape",)).post().content == completion("ok")


def test_an_unexpected_error_is_an_answer_and_a_problem(start_gateway: StartGateway, tmp_path: Path) -> None:
    def fail(_: str) -> str:
        raise RuntimeError(KEY)

    client = start_gateway(mode=GatewayMode.RECORD, record_to=tmp_path / "tape", redact=fail)
    answer = client.post()
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "gateway_failed")
    assert answer.headers["x-should-retry"] == "false"
    assert KEY not in answer.text
    assert any("RuntimeError" in problem for problem in client.gateway.problems()["suite"])


def test_litellm_finds_gemini(start_gateway: StartGateway, provider: Provider) -> None:
    client = start_gateway()
    address = client.environment["GEMINI_API_BASE"] + "/models/gemini-2.5-flash:generateContent"
    headers = {"x-goog-api-key": client.session.token}
    assert client.http.post(address, json={"contents": []}, headers=headers).status_code == 200
    assert provider.received[0].path == "/v1beta/models/gemini-2.5-flash:generateContent"


def test_a_password_in_netrc_is_not_sent(
    start_gateway: StartGateway, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login a password b\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert start_gateway().post().status_code == 200
    assert provider.received[0].headers["authorization"] == f"Bearer {KEY}"


def test_the_proxy_of_the_environment_is_used(
    start_gateway: StartGateway, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", provider.url.replace("//", "//user:pass@"))
    monkeypatch.setenv("no_proxy", "")
    client = start_gateway(custom={"mine": "http://models.example/v1"})
    assert client.post("/mine/v1/chat/completions").status_code == 200
    (request,) = provider.received
    assert request.path == "http://models.example/v1/chat/completions"
    assert request.headers["proxy-authorization"].startswith("Basic ")
