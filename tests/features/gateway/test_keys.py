"""The key of a provider doesn't reach a suite, whatever the provider answers, and isn't kept."""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.features.gateway.conftest import KEY, StartGateway, completion, question
from tests.features.gateway.provider import Prepared, Provider, Received

from scoregate.features.gateway.declare import GatewayMode
from scoregate.features.gateway.proxy import upstream
from scoregate.models.settings import CacheMode

SSE = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}


def echo(request: Received) -> Prepared:
    """Answer with the headers of the request, in the way that its text names."""
    way = json.loads(request.body)["messages"][0]["content"]
    sent = json.dumps(request.headers).encode()
    pieces = [sent[index : index + 7] for index in range(0, len(sent), 7)]
    return {
        "body": Prepared(sent),
        "bytes": Prepared(b"\xff" + sent, headers={"content-type": "application/octet-stream"}),
        "base64": Prepared(base64.b64encode(sent), headers={"content-type": "text/plain"}),
        "hex": Prepared(sent.hex().encode(), headers={"content-type": "text/plain"}),
        "header": Prepared(completion(), headers={**JSON, "x-sent": sent.decode(), f"x-{KEY}": "1"}),
        "stream": Prepared(headers=SSE, parts=[b"data: ", *pieces, b"\n\n"]),
        "cut off": Prepared(headers=SSE, parts=[b"data: ", f"Bearer {KEY}".encode()[:-1], KEY[-1:].encode()]),
        "error": Prepared(json.dumps({"error": {"message": sent.decode()}}).encode(), 400),
        "error in pieces": Prepared(status=422, headers=JSON, parts=[b'{"sent": ', *pieces, b"}"]),
        "quota": Prepared(
            json.dumps({"error": {"code": "insufficient_quota", "message": sent.decode()}}).encode(), 429
        ),
    }[way]


WAYS = ("body", "bytes", "base64", "hex", "header", "stream", "cut off", "error", "error in pieces", "quota")


@pytest.mark.parametrize("mode", [GatewayMode.ON, GatewayMode.RECORD])
def test_an_answer_never_has_the_key(
    start_gateway: StartGateway, provider: Provider, tmp_path: Path, mode: GatewayMode
) -> None:
    provider.respond = echo
    recording = {"record_to": tmp_path / "tape"} if mode is GatewayMode.RECORD else {}
    client = start_gateway(mode=mode, cache_mode=CacheMode.ON, cache_folder=tmp_path / "cache", **recording)
    encoded = [KEY.encode(), KEY.encode().hex().encode()]
    encoded += [base64.b64encode(bytes(offset) + KEY.encode())[4:-4] for offset in range(3)]
    for way in WAYS:
        answer = client.post(data=question(way, stream="stream" in way or way == "cut off"))
        received = str(answer.headers).encode() + answer.content
        assert KEY not in str(answer.headers), way
        for form in encoded:
            assert form not in received, way
        assert b"***" in received or way == "header", way
    assert all(request.headers["authorization"] == f"Bearer {KEY}" for request in provider.received)
    assert len(provider.received) == len(WAYS)
    problems = client.gateway.problems()["suite"]
    assert problems == (f"an answer of {provider.url[7:]} contained the key; it was replaced by ***",)
    client._stack.close()
    for path in tmp_path.rglob("*"):
        assert KEY.encode() not in (path.read_bytes() if path.is_file() else b""), path


def test_an_error_is_complete(start_gateway: StartGateway, provider: Provider) -> None:
    parts = [
        json.dumps({"error": {"message": "x" * 100_000}}).encode()[index : index + 999]
        for index in range(0, 101_000, 999)
    ]
    provider.respond = lambda _: Prepared(status=400, headers=JSON, parts=filter(None, parts))
    answer = start_gateway().post()
    assert answer.json()["error"]["message"] == "x" * 100_000


def test_an_endless_answer_is_refused(
    start_gateway: StartGateway, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upstream, "MAX_ANSWER_BYTES", 1_000_000)

    def forever() -> Iterator[bytes]:
        while True:
            yield b" " * 65536

    for status in (200, 400):
        provider.respond = lambda _, status=status: Prepared(status=status, headers=JSON, parts=forever())
        answer = start_gateway().post()
        assert (answer.status_code, answer.json()["error"]["code"]) == (502, "answer_too_large")


def test_a_path_never_leaves_the_calls_of_models(start_gateway: StartGateway, provider: Provider) -> None:
    client = start_gateway()
    headers = {"authorization": f"Bearer {client.session.token}"}

    def get(path: str) -> tuple[int, bytes]:
        with closing(http.client.HTTPConnection(client.gateway.address.removeprefix("http://"))) as connection:
            connection.request("GET", f"/openai/v1/models/{path}", headers=headers)  # the path as it is
            answer = connection.getresponse()
            return answer.status, answer.read()

    for path in ("..", ".", "%2e%2e", "../files", "..%2ffiles", "..%5cfiles", "a%2f..%2f..%2ffiles", "a%0d%0aX:%20y"):
        status, body = get(path)
        assert (status, json.loads(body)["error"]["code"]) == (404, "unknown_path"), path
    assert provider.received == []
    assert get("ft:gpt-4o:a.b..c")[0] == 200
