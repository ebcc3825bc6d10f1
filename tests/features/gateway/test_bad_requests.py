"""What a careless or hostile client sends: each is a clear error, and none stops the gateway."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest
from tests.features.gateway.conftest import KEY, Client, StartGateway, completion, question
from tests.features.gateway.provider import Prepared, Provider, Received

from scoregate.features.gateway.proxy import protocol, questions

CHAT = b"/openai/v1/chat/completions"


def connect(client: Client) -> socket.socket:
    host, port = client.gateway.address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=60)


def read_all(connection: socket.socket) -> bytes:
    answer = b""
    try:
        while part := connection.recv(65536):
            answer += part
    except ConnectionError:
        pass
    return answer


def send(client: Client, data: bytes) -> tuple[int, str]:
    """Send bytes, and return the status and the code of the error; empty for none."""
    with connect(client) as connection:
        connection.sendall(data)
        head, _, body = read_all(connection).partition(b"\r\n\r\n")
    assert KEY.encode() not in head + body
    parsed = json.loads(body)
    return int(head.split()[1]), parsed.get("error", {}).get("code", "")


def make_request(
    client: Client,
    *,
    method: bytes = b"POST",
    path: bytes = CHAT,
    more: bytes = b"",
    body: bytes = b'{"model": "m", "messages": [{"content": "x"}]}',
) -> bytes:
    host = client.gateway.address.removeprefix("http://").encode()
    head = method + b" " + path + b" HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\n"
    head += b"Authorization: Bearer " + client.session.token.encode() + b"\r\nContent-Type: application/json\r\n"
    return head + b"Content-Length: %d\r\n" % len(body) + more + b"\r\n" + body


INVALID = (400, "invalid_request")
JSON_ERROR = (400, "invalid_json")


def test_each_bad_request_is_an_error(start_gateway: StartGateway, provider: Provider) -> None:
    client = start_gateway()
    for what, expected in (
        ({"more": b"X-A: a\x01b\r\n"}, INVALID),
        ({"more": b"X-A: a\rb\r\n"}, INVALID),
        ({"more": b"X A: a\r\n"}, INVALID),
        ({"more": b"X-\xff: a\r\n"}, INVALID),
        ({"more": b": a\r\n"}, INVALID),
        ({"more": b"Transfer-Encoding: chunked\r\n"}, INVALID),
        ({"more": b"Content-Length: 3\r\n"}, INVALID),
        ({"more": b"Host: evil.example\r\n"}, (421, "wrong_host")),
        ({"more": b"X-A: " + b"a" * 900_000 + b"\r\n"}, (431, "headers_too_large")),
        ({"path": CHAT + b"?a=\xff"}, INVALID),
        ({"path": CHAT + b"?a= b"}, INVALID),
        ({"path": CHAT + b"?" + b"a" * 100_000}, INVALID),
        ({"path": b"http://169.254.169.254" + CHAT}, (200, "")),
        ({"path": b"http://169.254.169.254/latest/meta-data"}, (404, "unknown_provider")),
        ({"path": b"*", "method": b"OPTIONS"}, (404, "unknown_provider")),
        ({"path": b"127.0.0.1:80", "method": b"CONNECT"}, INVALID),
        ({"method": b"TRACE"}, (404, "unknown_path")),
        ({"method": b"post"}, INVALID),
        ({"more": b"Connection: upgrade\r\nUpgrade: websocket\r\n"}, (501, "no_websockets")),
        ({"body": b"[" * 100_000}, JSON_ERROR),
        ({"body": b'{"a":' * 100_000}, JSON_ERROR),
        ({"body": b"null"}, JSON_ERROR),
        ({"body": b""}, JSON_ERROR),
        ({"body": b"\xef\xbb\xbf{}"}, JSON_ERROR),
        ({"body": b'{"model": "\\ud800"}'}, JSON_ERROR),
    ):
        assert send(client, make_request(client, **what)) == expected, what
    for request in provider.received:  # an address in the request line is not where the call goes
        assert (request.path, request.headers["host"]) == ("/v1/chat/completions", provider.url[7:])
    assert len(provider.received) == 1
    assert client.post().status_code == 200


def test_odd_values_are_left_to_the_provider(start_gateway: StartGateway, provider: Provider) -> None:
    provider.respond = lambda _: Prepared(completion())
    client = start_gateway(max_tokens=1_000_000)
    for body in (
        b'{"model": 5}',
        b'{"model": null, "stream": "x"}',
        b'{"model": "m", "stream": true, "stream_options": 5}',
        b'{"n": 1e999, "max_tokens": -5}',
        b'{"max_tokens": true, "n": -1, "generationConfig": []}',
        b'{"a": 1, "a": 2}',
        b'{"messages": "\\u0000"}',
        b'{"model": "' + b"a" * 100_000 + b'"}',
    ):
        assert send(client, make_request(client, body=body)) == (200, ""), body[:60]
    refusal = send(client, make_request(client, body=b'{"max_tokens": 99999999999999999999999999999}'))
    assert refusal == (429, "budget_spent")
    for header in (b"a\tb", b"\x80\xff", b"\xc3\xa9", b"", b"a" * 10_000):
        assert send(client, make_request(client, more=b"X-A: " + header + b"\r\n")) == (200, "")
    assert not [problem for problem in client.gateway.problems()["suite"] if "report this" in problem]


def test_a_slow_client_is_cut(start_gateway: StartGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    client = start_gateway()
    complete = make_request(client)
    with monkeypatch.context() as short:
        short.setattr(protocol, "_HEAD_TIMEOUT_S", 0.3)
        short.setattr(questions, "_CHUNK_TIMEOUT_S", 0.3)
        for data in (b"", b"POST", complete[: complete.index(b"Content-Length")], complete[:-3]):
            started = time.monotonic()
            assert send(client, data) == (408, "request_timeout"), data
            assert time.monotonic() - started < 50
    assert client.post().status_code == 200


def test_endless_headers_are_refused(start_gateway: StartGateway) -> None:
    client = start_gateway()
    with connect(client) as connection:
        try:
            for _ in range(2_000):
                connection.sendall(b"X-A: " + b"a" * 65_536)
        except OSError:  # closed long before all of it was sent
            pass
        else:
            pytest.fail("131 MB of headers were taken")
    assert client.post().status_code == 200


def test_idle_connections_are_limited(start_gateway: StartGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "find_connection_limit", lambda: 20)
    client = start_gateway()
    with ExitStack() as stack:
        held = [stack.enter_context(connect(client)) for _ in range(20)]
        with connect(client) as connection:
            answer = read_all(connection)
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"20 connections are open" in answer
        held[0].sendall(make_request(client))
        assert read_all(held[0]).startswith(b"HTTP/1.1 200")
    deadline = time.monotonic() + 60
    while client.post().status_code == 503 and time.monotonic() < deadline:  # it has not seen that they are closed
        time.sleep(0.05)
    assert client.post().status_code == 200


def test_a_client_that_reads_no_answer(start_gateway: StartGateway, provider: Provider) -> None:
    """It waits without filling the memory, and others are answered meanwhile."""
    sent = []

    def parts() -> Iterator[bytes]:
        for _ in range(2_000):
            sent.append(1)
            yield b"data: " + b"a" * 65_536 + b"\n\n"

    def respond(request: Received) -> Prepared:
        is_stream = b'"stream"' in request.body
        return Prepared(headers={"content-type": "text/event-stream"}, parts=parts()) if is_stream else Prepared()

    provider.respond = respond
    client = start_gateway()
    with connect(client) as connection:
        body = json.dumps(question("x", stream=True)).encode()
        connection.sendall(make_request(client, body=body))
        time.sleep(1)
        assert len(sent) < 1_000
        assert client.post().status_code == 200
    with httpx.Client(base_url=client.gateway.address, trust_env=False, timeout=60) as second:
        assert second.get("/").status_code == 401


def test_a_token_of_another_run(start_gateway: StartGateway, provider: Provider) -> None:
    first, second = start_gateway("one"), start_gateway("two")
    answer = first.post(authorization=f"Bearer {second.session.token}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_token")
    assert provider.received == []
    other = first.other("another suite")
    assert first.post(authorization=f"Bearer {other.session.token}").status_code == 200
    assert {group.suite for group in first.gateway.counts()} == {"another suite"}  # it pays, not the suite that asked
