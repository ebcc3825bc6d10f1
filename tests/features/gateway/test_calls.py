"""Calls through the gateway: which are forwarded, what the provider gets, and what the suite gets."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
import time
from concurrent.futures import Future
from contextlib import closing
from types import SimpleNamespace

import httpx
import pytest
from tests.features.gateway.conftest import KEY, StartGateway, completion, question
from tests.features.gateway.provider import Prepared, Provider, Received
from tests.waiting import wait_until

from scoregate.features.gateway.proxy import calls
from scoregate.models.rate_limit import Permit

pytestmark = pytest.mark.anyio
SSE = {"content-type": "text/event-stream"}


def test_the_provider_gets_the_key_and_the_suite_the_answer(start_gateway: StartGateway, provider: Provider) -> None:
    client = start_gateway()
    answer = client.post(x_scoregate_case="c1", cookie="a=b", openai_organization="org", x_forwarded_for="1.2.3.4")
    (request,) = provider.received
    assert (answer.status_code, answer.content) == (200, completion("HELLO"))
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert json.loads(request.body) == question("Hello")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["openai-organization"] == "org"
    assert not {"cookie", "x-scoregate-case", "x-forwarded-for"} & set(request.headers)
    assert request.headers["host"] == provider.url.removeprefix("http://")
    counts = client.counts()
    assert (counts.calls, counts.input_tokens, counts.output_tokens, counts.failed) == (1, 10, 5, 0)
    assert counts.cost == pytest.approx((10 * 2.5 + 5 * 10) / 1e6)


def test_each_provider_has_the_token_and_key_in_its_own_header(start_gateway: StartGateway, provider: Provider) -> None:
    client = start_gateway()
    token, seen = client.session.token, []
    for path, headers, expected, header in (
        ("/anthropic/v1/messages", {"x-api-key": token}, "/v1/messages", "x-api-key"),
        ("/anthropic/chat/completions", {"authorization": f"bearer {token}"}, "/v1/chat/completions", "x-api-key"),
        (
            "/gemini/v1beta/models/gemini-2.5-flash:generateContent",
            {"x-goog-api-key": token},
            "/v1beta/models/gemini-2.5-flash:generateContent",
            "x-goog-api-key",
        ),
        (
            f"/gemini/v1beta/models/m:generateContent?alt=sse&key={token}",
            {},
            "/v1beta/models/m:generateContent?alt=sse",
            "x-goog-api-key",
        ),
        (
            "/azure/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21",
            {"api-key": token},
            "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21",
            "api-key",
        ),
    ):
        assert client.http.post(path, json={"messages": [{"content": "x"}]}, headers=headers).status_code == 200, path
        request = provider.received[-1]
        assert request.path == expected
        assert request.headers[header] == KEY
        assert token not in str(request)
        seen.append(request.headers.get("authorization"))
    assert seen == [None] * 5
    models = {group.model for group in client.gateway.counts()}
    assert models == {"", "gemini-2.5-flash", "m", "my-gpt"}


def test_refused_requests(start_gateway: StartGateway, provider: Provider) -> None:
    client = start_gateway()
    token = client.session.token
    other_host = {"host": "evil.example"}
    for method, path, headers, status, code in (
        ("POST", "/openai/v1/chat/completions", {"authorization": ""}, 401, "invalid_token"),
        ("POST", "/openai/v1/chat/completions", {"authorization": "Bearer sk-scoregate-x"}, 401, "invalid_token"),
        ("POST", "/openai/v1/chat/completions", {"authorization": f"Bearer {KEY}"}, 401, "invalid_token"),
        ("POST", "/openai/v1/chat/completions", other_host, 421, "wrong_host"),
        ("POST", "/openai/v1/files", {}, 404, "unknown_path"),
        ("DELETE", "/openai/v1/models/gpt-4o", {}, 404, "unknown_path"),
        ("POST", "/openai/v1/../v1/chat/completions", {}, 404, "unknown_path"),
        ("POST", "/openai/v1/chat%2Fcompletions", {}, 404, "unknown_path"),
        ("POST", "/openai/v1//chat/completions", {}, 404, "unknown_path"),
        ("POST", "/groq/v1/chat/completions", {}, 404, "unknown_provider"),
        ("POST", "/", {}, 404, "unknown_provider"),
        ("GET", "/openai/v1/realtime", {"upgrade": "websocket", "connection": "upgrade"}, 404, "unknown_path"),
        ("GET", "/openai/v1/models", {"upgrade": "websocket", "connection": "upgrade"}, 501, "no_websockets"),
    ):
        raw = http.client.HTTPConnection(client.gateway.address.removeprefix("http://"))
        raw.request(method, path, headers={"authorization": f"Bearer {token}", **headers})  # the path as it is
        answer = raw.getresponse()
        assert (answer.status, json.load(answer)["error"]["code"]) == (status, code), (method, path)
        assert answer.headers["x-should-retry"] == "false"
        raw.close()
    assert provider.received == []


def test_a_token_ends_with_its_suite(start_gateway: StartGateway, provider: Provider) -> None:
    client = start_gateway()
    with client.gateway.open_session("other") as other:
        ended = other.token
    assert client.post(authorization=f"Bearer {ended}").status_code == 401
    assert provider.received == []


def test_invalid_bodies(start_gateway: StartGateway, provider: Provider) -> None:
    client = start_gateway()
    headers = {"authorization": f"Bearer {client.session.token}", "content-type": "application/json"}
    for body, reason in ((b"{", "not valid JSON"), (b"[1]", "not a JSON object"), (b"\xff", "not valid JSON")):
        answer = client.http.post("/openai/v1/chat/completions", content=body, headers=headers)
        assert answer.status_code == 400
        assert reason in answer.json()["error"]["message"]
    large = b" " * 40 * 1024 * 1024
    answer = client.http.post("/openai/v1/chat/completions", content=large, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "request_too_large")
    parts = (b" " * 1024 * 1024 for _ in range(40))
    answer = client.http.post("/openai/v1/chat/completions", content=parts, headers=headers)
    assert answer.status_code == 413
    assert provider.received == []
    assert client.post().status_code == 200
    assert any("not valid JSON" in problem for problem in client.gateway.problems()["suite"])


def test_an_absolute_address_in_a_request_is_not_followed(start_gateway: StartGateway, provider: Provider) -> None:
    client = start_gateway()
    port = int(client.gateway.address.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(
            f"GET http://169.254.169.254/latest HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Authorization: Bearer {client.session.token}\r\nConnection: close\r\n\r\n".encode()
        )
        answer = b""
        while part := connection.recv(65536):
            answer += part
    assert answer.startswith(b"HTTP/1.1 404")
    assert provider.received == []


def test_a_redirect_is_refused(start_gateway: StartGateway, provider: Provider) -> None:
    provider.respond = lambda _: Prepared(b"", 307, {"location": "http://127.0.0.1:1/v1/chat/completions"})
    answer = start_gateway().post()
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "redirect_refused")
    assert len(provider.received) == 1


def test_errors_of_the_provider_are_forwarded(start_gateway: StartGateway, provider: Provider) -> None:
    error = {"error": {"code": "insufficient_quota", "message": "no money"}}
    provider.respond = lambda _: Prepared(json.dumps(error).encode(), 429, {"set-cookie": "a=b", "x-request-id": "r1"})
    client = start_gateway()
    answer = client.post()
    assert (answer.status_code, answer.json(), answer.headers["x-request-id"]) == (429, error, "r1")
    assert "set-cookie" not in answer.headers
    assert len(provider.received) == 1
    assert client.counts().failed == 1


def test_rate_limits_are_retried(
    start_gateway: StartGateway, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def wrap_future(permit: Future[Permit]) -> asyncio.Future[Permit]:
        started = time.monotonic()
        permit.add_done_callback(lambda _: waits.append(time.monotonic() - started))
        return asyncio.wrap_future(permit)

    monkeypatch.setattr(calls, "asyncio", SimpleNamespace(**vars(asyncio) | {"wrap_future": wrap_future}))
    answers = iter([Prepared(b"{}", 429, {"retry-after-ms": "200"}), Prepared(completion("ok"))])
    provider.respond = lambda _: next(answers)
    client = start_gateway()
    started = time.monotonic()
    assert client.post().content == completion("ok")
    elapsed_s = time.monotonic() - started
    assert elapsed_s >= 0.2
    counts = client.counts()
    assert (counts.calls, counts.refused, counts.retried, counts.failed) == (1, 1, 1, 0)
    assert sum(waits) <= counts.waited_s <= elapsed_s


def test_a_call_that_the_client_repeats_with_success_is_recovered(
    start_gateway: StartGateway, provider: Provider
) -> None:
    client, broken = start_gateway(), Prepared(b"{}", 500)
    answers = iter([broken, broken, Prepared(completion("ok")), broken, Prepared(completion("ok"))])
    provider.respond = lambda _: next(answers)
    statuses = [client.post(data=question(text)).status_code for text in ("a", "a", "a", "b", "c")]
    assert statuses == [500, 500, 200, 500, 200]
    counts = client.counts()
    assert (counts.calls, counts.failed, counts.recovered) == (5, 3, 2)


def test_a_content_filter_is_an_answer(start_gateway: StartGateway, provider: Provider) -> None:
    body = json.dumps({"error": {"code": "content_filter", "message": "blocked"}}).encode()
    provider.respond = lambda _: Prepared(body, 400)
    client = start_gateway()
    assert client.post().status_code == 400
    assert (client.counts().calls, client.counts().failed) == (1, 0)
    provider.respond = lambda _: Prepared(b'{"error": {"code": "model_not_found"}}', 404)
    assert client.post().status_code == 404
    assert client.counts().failed == 1


def test_calls_without_a_provider_are_counted_as_failed(start_gateway: StartGateway) -> None:
    client = start_gateway()
    assert client.post("/nobody/v1/chat/completions").status_code == 404
    (row,) = client.gateway.counts().items()
    assert (row[0].provider, row[1].calls, row[1].failed) == ("(no provider)", 1, 1)


def test_no_provider(start_gateway: StartGateway) -> None:
    with socket.socket() as deaf:  # it has a port that no other test gets, and does not listen
        deaf.bind(("127.0.0.1", 0))
        client = start_gateway(custom={"mine": f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"})
        answer = client.post("/mine/v1/chat/completions")
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "provider_unreachable")
    assert client.environment["MINE_BASE_URL"].endswith("/mine/v1")


def test_a_stream_arrives_as_it_was_sent(start_gateway: StartGateway, provider: Provider) -> None:
    chunks = [_chunk({"choices": [{"delta": {"content": text}}]}) for text in "abc"]
    usage = _chunk({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})
    provider.respond = lambda _: Prepared(headers=SSE, parts=[*chunks, usage, b"data: [DONE]\n\n"])
    client = start_gateway()
    answer = client.post(data=question("x", stream=True))
    assert answer.content == b"".join((*chunks, b"data: [DONE]\n\n"))
    assert json.loads(provider.received[0].body)["stream_options"] == {"include_usage": True}
    assert (client.counts().input_tokens, client.counts().output_tokens) == (7, 3)
    question_request = question("x", stream=True, stream_options={"include_usage": True})
    assert client.post(data=question_request).content == b"".join((*chunks, usage, b"data: [DONE]\n\n"))


def test_a_broken_stream_is_an_error_of_the_client(start_gateway: StartGateway, provider: Provider) -> None:
    chunk = _chunk({"choices": [{"delta": {"content": "a"}}]})
    provider.respond = lambda _: Prepared(headers=SSE, parts=[chunk], breaks=True)
    client = start_gateway()
    with pytest.raises(httpx.RemoteProtocolError):
        client.post(data=question("x", stream=True))
    assert any("broke off" in problem for problem in client.gateway.problems()["suite"])
    assert client.counts().failed == 1
    provider.respond = lambda _: Prepared(completion("still here"))
    assert client.post().content == completion("still here")


def test_a_disconnect_ends_the_call(start_gateway: StartGateway, provider: Provider) -> None:
    received, answered = threading.Event(), threading.Event()

    def respond(_: Received) -> Prepared:
        received.set()
        answered.wait(60)
        return Prepared(completion("late"))

    provider.respond = respond
    client = start_gateway()
    address = httpx.URL(client.gateway.address)
    with closing(http.client.HTTPConnection(address.host, address.port, timeout=60)) as left:
        headers = {"authorization": f"Bearer {client.session.token}", "content-type": "application/json"}
        left.request("POST", "/openai/v1/chat/completions", json.dumps(question("x")), headers)
        assert received.wait(60)
    # The provider answers only after the gateway has noticed that the client left, or the call would be a success.
    wait_until(lambda: client.counts().failed == 1)
    answered.set()
    provider.respond = lambda _: Prepared(completion("next"))
    assert client.post().content == completion("next")
    assert (client.counts().calls, client.counts().failed, client.counts().recovered) == (2, 1, 0)


def _chunk(data: object) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def test_malformed_requests_do_not_stop_the_gateway(start_gateway: StartGateway) -> None:
    client = start_gateway()
    port = int(client.gateway.address.rpartition(":")[2])
    for data in (b"\x16\x03\x01garbage\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", b"POST"):
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1000)
    raw = http.client.HTTPConnection("127.0.0.1", port)
    raw.putrequest("POST", "/openai/v1/chat/completions")
    raw.putheader("Authorization", f"Bearer {client.session.token}")
    raw.putheader("Content-Length", "100")
    raw.endheaders()
    raw.send(b"{")
    raw.close()
    assert client.post().status_code == 200
