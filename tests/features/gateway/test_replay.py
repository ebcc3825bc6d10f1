"""Cassettes: calls are recorded, and replayed without a key or a provider; answers of the cache."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from tests.features.gateway.conftest import KEY, StartGateway, completion, question
from tests.features.gateway.provider import Prepared, Provider

from scoregate.features.gateway.declare import GatewayMode
from scoregate.features.gateway.proxy.cassettes import parse_call
from scoregate.features.gateway.proxy.sessions import CallOrigin
from scoregate.models.settings import CacheMode


def record(start: StartGateway, folder: Path, *texts: str, suite: str = "suite", case: str = "") -> None:
    client = start(suite, mode=GatewayMode.RECORD, record_to=folder)
    for text in texts:
        assert client.post(data=question(text), x_scoregate_case=case).status_code == 200
    client._stack.close()


def test_recorded_answers_are_replayed_byte_for_byte(
    start_gateway: StartGateway, provider: Provider, tmp_path: Path
) -> None:
    tape = tmp_path / "tape"
    record(start_gateway, tape, "one", "two", "one", f"the key is {KEY}")
    request_count = len(provider.received)
    client = start_gateway(mode=GatewayMode.REPLAY, replay_from=(tape,))
    shuffled = {"messages": [{"role": "user", "content": "two"}], "model": "gpt-4o"}
    for data, answer in (
        (shuffled, "TWO"),
        (question("one"), "ONE"),
        (question("one"), "ONE"),
    ):
        response = client.post(data=data)
        assert response.content == completion(answer)
        assert response.headers["content-type"] == "application/json"
    assert client.counts().replayed == 3
    missing = client.post(data=question("one"))
    assert (missing.status_code, missing.json()["error"]["code"]) == (424, "not_recorded")
    assert "it was recorded 2 times" in missing.json()["error"]["message"]
    missing = client.post(data=question("one more"), x_scoregate_case="c9")
    assert "in case 'c9': the nearest recorded call is one in 'suite'" in missing.json()["error"]["message"]
    assert len(client.gateway.problems()["suite"]) == 2
    assert len(provider.received) == request_count
    (file,) = tape.iterdir()
    text = gzip.decompress(file.read_bytes()).decode()
    assert KEY not in text
    assert "authorization" not in text.lower()


def test_streams_are_replayed_in_parts(start_gateway: StartGateway, provider: Provider, tmp_path: Path) -> None:
    parts = [b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n', b"data: [DONE]\n\n"]
    provider.respond = lambda _: Prepared(headers={"content-type": "text/event-stream"}, parts=parts)
    recording = start_gateway(mode=GatewayMode.RECORD, record_to=tmp_path / "tape")
    data = question("x", stream=True, stream_options={"include_usage": True})
    recorded = recording.post(data=data)
    recording._stack.close()
    client = start_gateway(mode=GatewayMode.REPLAY, replay_from=(tmp_path / "tape",))
    replayed = client.post(data=data)
    assert (replayed.content, replayed.headers["content-type"]) == (recorded.content, "text/event-stream")
    assert recorded.content == b"".join(parts)


def test_equal_runs_make_equal_files(start_gateway: StartGateway, tmp_path: Path) -> None:
    record(start_gateway, tmp_path / "a", "one", "two", "three")
    record(start_gateway, tmp_path / "b", "three", "one", "two")
    (first,), (second,) = ((tmp_path / name).iterdir() for name in "ab")
    assert first.read_bytes() == second.read_bytes()
    record(start_gateway, tmp_path / "a", "four", suite="other/suite: ünï")
    assert sorted(path.name for path in (tmp_path / "a").iterdir())[1] == first.name == "suite.jsonl.gz"


def test_equal_streams_make_equal_files(start_gateway: StartGateway, provider: Provider, tmp_path: Path) -> None:
    """The network delivers a stream in other pieces each time; a recording has its events."""
    for end in (b"\n\n", b"\r\n\r\n"):
        events = [b'data: {"choices":[{"delta":{"content":"%d"}}]}' % n + end for n in range(4)] + [
            b"data: [DONE]" + end
        ]
        body, files = b"".join(events), []
        for size in (1, 7, 50, len(body)):
            parts = [body[index : index + size] for index in range(0, len(body), size)]
            provider.respond = lambda _, parts=parts: Prepared(
                headers={"content-type": "text/event-stream"}, parts=parts
            )
            tape = tmp_path / f"tape-{len(end)}-{size}"
            client = start_gateway(mode=GatewayMode.RECORD, record_to=tape)
            assert client.post(data=question("x", stream=True)).content == body
            client._stack.close()
            files.append((tape / "suite.jsonl.gz").read_bytes())
        assert set(files) == {files[0]}
        call = parse_call(gzip.decompress(files[0]).removesuffix(b"\n"))
        assert call.chunks == tuple(map(len, events))
        client = start_gateway(mode=GatewayMode.REPLAY, replay_from=(tape,))
        assert client.post(data=question("x", stream=True)).content == body


def test_a_case_with_a_new_name_finds_its_answer(start_gateway: StartGateway, tmp_path: Path) -> None:
    record(start_gateway, tmp_path / "tape", "one", case="old", suite="before")
    client = start_gateway("after", mode=GatewayMode.REPLAY, replay_from=(tmp_path / "tape",))
    assert client.post(data=question("one"), x_scoregate_case="new").content == completion("ONE")


@pytest.mark.parametrize("damage", ["truncated", "no gzip", "invalid line", "wrong header"])
def test_a_damaged_cassette_is_an_error(start_gateway: StartGateway, tmp_path: Path, damage: str) -> None:
    record(start_gateway, tmp_path / "tape", "one", "two")
    (file,) = (tmp_path / "tape").iterdir()
    data = file.read_bytes()
    lines = [json.loads(line) for line in gzip.decompress(data).splitlines()]
    if damage == "truncated":
        file.write_bytes(data[:-10])
    elif damage == "no gzip":
        file.write_bytes(b"hello")
    else:
        lines[0] |= {"status": 99} if damage == "invalid line" else {"headers": {"set-cookie": "a"}}
        file.write_bytes(gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines)))
    client = start_gateway(mode=GatewayMode.REPLAY, replay_from=(tmp_path / "tape",))
    answer = client.post(data=question("one"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (424, "damaged_cassette")
    assert file.name in answer.json()["error"]["message"]
    assert client.gateway.problems()["suite"]


def test_the_cache_answers_repeated_calls(start_gateway: StartGateway, provider: Provider, tmp_path: Path) -> None:
    options = {"cache_mode": CacheMode.ON, "cache_folder": tmp_path / "cache"}
    client = start_gateway(**options)
    first, second = client.post(x_scoregate_case="c"), client.post(x_scoregate_case="c")
    assert len(provider.received) == 2  # a second question of the same case is another draw
    assert first.headers["x-scoregate-answer"] != second.headers["x-scoregate-answer"]
    again = start_gateway("other run", **options)
    cached = again.post(x_scoregate_case="c")
    assert (cached.content, cached.headers["x-scoregate-cache"]) == (first.content, "hit")
    assert cached.headers["x-scoregate-answer"] == first.headers["x-scoregate-answer"]
    assert (again.counts().cached, again.counts().cost, len(provider.received)) == (1, 0, 2)
    assert again.post(x_scoregate_case="c", x_scoregate_repeat="1").status_code == 200
    assert len(provider.received) == 3


def test_stored_answers_keep_their_ids(start_gateway: StartGateway, provider: Provider, tmp_path: Path) -> None:
    """The id shows which scores are from one answer: a repeat has its own, a replay has that of the recording."""
    numbers = iter(range(1, 99))
    provider.respond = lambda _: Prepared(completion(f"answer {next(numbers)}"))

    def ask(**options: object) -> list[str]:
        client = start_gateway(**options)
        names = []
        for repeat in ("0", "1"):
            for _ in range(2):
                response = client.post(x_scoregate_case="case", x_scoregate_repeat=repeat)
                assert response.status_code == 200
                names.append(response.headers["x-scoregate-answer"])
        usage = client.session.take_usage(CallOrigin("case", 1))
        assert usage is not None
        assert usage.answer
        assert usage.cached == (options["mode"] is GatewayMode.REPLAY)
        client._stack.close()
        return names

    recorded = ask(mode=GatewayMode.RECORD, record_to=tmp_path / "tape")
    assert len(set(recorded)) == 4
    assert ask(mode=GatewayMode.REPLAY, replay_from=(tmp_path / "tape",)) == recorded
    assert not set(ask(mode=GatewayMode.RECORD, record_to=tmp_path / "other")) & set(recorded)


def test_streams_keep_their_ids(start_gateway: StartGateway, provider: Provider, tmp_path: Path) -> None:
    first = b'data: {"id":"chatcmpl-1","choices":[{"delta":{"content":"a"}}]}\n\n'
    parts = [first[:20], first[20:], b"data: [DONE]\n\n"]
    provider.respond = lambda _: Prepared(headers={"content-type": "text/event-stream"}, parts=parts)
    usages = []
    tape = tmp_path / "tape"
    for options in (
        {"mode": GatewayMode.RECORD, "record_to": tape},
        {"mode": GatewayMode.REPLAY, "replay_from": (tape,)},
    ):
        client = start_gateway(**options)
        client.post(data=question("x", stream=True), x_scoregate_case="case")
        usages.append(client.session.take_usage(CallOrigin("case", 0)))
        client._stack.close()
    recorded, replayed = usages
    assert recorded is not None
    assert replayed is not None
    assert recorded.answer == replayed.answer is not None
    assert (recorded.cached, replayed.cached) == (False, True)


def test_an_answer_of_the_cache_is_recorded(start_gateway: StartGateway, provider: Provider, tmp_path: Path) -> None:
    cache = {"cache_mode": CacheMode.ON, "cache_folder": tmp_path / "cache"}
    client = start_gateway(**cache)
    answer = client.post().content
    client._stack.close()
    client = start_gateway(mode=GatewayMode.RECORD, record_to=tmp_path / "tape", **cache)
    assert client.post().content == answer
    assert client.counts().cached == 1
    client._stack.close()
    client = start_gateway(mode=GatewayMode.REPLAY, replay_from=(tmp_path / "tape",))
    assert client.post().content == answer
    assert len(provider.received) == 1


def test_outputs_are_stored_until_a_call_is_new(start_gateway: StartGateway, tmp_path: Path) -> None:
    """Calls that name no case: what was made from them is known only if all of them were stored."""
    options = {"cache_mode": CacheMode.ON, "cache_folder": tmp_path / "cache"}
    client = start_gateway(**options)
    assert client.session.stored_answers("") is None
    for text in ("one", "two"):
        client.post(data=question(text))
    responses = client.session.stored_answers("")
    assert responses is not None
    assert not responses.cached
    second = client.other("again")
    for text in ("two", "one"):
        second.post(data=question(text))
    stored = second.session.stored_answers("")
    assert stored is not None
    assert stored.cached
    assert stored.answer == responses.answer  # in any order
    second.post(data=question("a stream", stream=True))
    assert second.session.stored_answers("") is None
