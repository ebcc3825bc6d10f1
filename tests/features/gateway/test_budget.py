"""The budget at the gateway: calls in flight reserve what they may cost."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.features.gateway.conftest import StartGateway, completion, question
from tests.features.gateway.provider import Prepared, Provider, Received

from scoregate.features.gateway.proxy.sessions import CallOrigin
from scoregate.models.settings import Price


def slow_answer(_: Received) -> Prepared:
    time.sleep(0.02)
    return Prepared(completion("ok", tokens=(20, 100)))


def test_reserved_calls_never_exceed_the_budget(start_gateway: StartGateway, provider: Provider) -> None:
    provider.respond = slow_answer
    client = start_gateway(max_tokens=1_000)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: client.post(data=question(f"{n}", max_tokens=100)), range(20)))
    statuses = [answer.status_code for answer in answers]
    spent = client.counts().input_tokens + client.counts().output_tokens
    assert spent <= 1_000
    assert statuses.count(200) == len(provider.received) >= 6
    refusal = next(answer for answer in answers if answer.status_code == 429)
    assert refusal.json()["error"]["code"] == "budget_spent"
    assert refusal.headers["x-should-retry"] == "false"
    assert "max_tokens = 1,000" in refusal.json()["error"]["message"]


def test_calls_without_a_limit_exceed_it_by_one_call_at_most(start_gateway: StartGateway, provider: Provider) -> None:
    provider.respond = slow_answer
    client = start_gateway(max_cost=0.0105)  # ten calls cost 0.0105
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda n: client.post(data=question(f"{n}")).status_code, range(30)))
    one = (20 * 2.5 + 100 * 10) / 1e6
    assert 0.0105 - one <= client.counts().cost <= 0.0105 + one + 1e-9
    assert statuses.count(200) == len(provider.received)
    assert 429 in statuses


def test_a_failed_call_costs_nothing(start_gateway: StartGateway, provider: Provider) -> None:
    provider.respond = lambda _: Prepared(b"{}", 400)
    client = start_gateway(max_tokens=2_000)
    for _ in range(30):
        assert client.post(data=question("x", max_tokens=500)).status_code == 400
    provider.respond = slow_answer
    assert client.post(data=question("x", max_tokens=500)).status_code == 200


def test_the_type_of_a_body_does_not_hide_its_model(start_gateway: StartGateway, provider: Provider) -> None:
    """A provider may read JSON whatever its type is. So the gateway does too, and counts what it costs."""
    provider.respond = slow_answer
    for headers in ({"content-type": "text/plain"}, {"content-type": "multipart/form-data; boundary=b"}, {}):
        client = start_gateway(max_cost=0.004)
        path, token = "/openai/v1/chat/completions", {"authorization": f"Bearer {client.session.token}"}
        statuses = []
        for number in range(20):
            body = json.dumps(question(f"{number}", max_tokens=100)).encode()
            statuses.append(client.http.post(path, content=body, headers={**headers, **token}).status_code)
        (group,) = client.gateway.counts()
        assert (group.model, statuses.count(200)) == ("gpt-4o", 3), headers  # 0.00105 each
        assert set(statuses) == {200, 429}
        assert client.counts().cost <= 0.004


def test_calls_of_unknown_price_are_refused_with_a_budget(start_gateway: StartGateway, provider: Provider) -> None:
    client = start_gateway(max_cost=100.0, custom={"mine": f"{provider.url}/v1"})
    form = {"content": b'--b\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nx\r\n--b--\r\n'}
    header = {"authorization": f"Bearer {client.session.token}"}
    for path, sent, advice in (
        ("/openai/v1/chat/completions", {"json": {**question("x"), "model": "my-model"}}, '[prices."openai/my-model"]'),
        ("/mine/v1/chat/completions", {"json": {**question("x"), "model": 'a"\n::b'}}, r'[prices."mine/a\"\n::b"]'),
        ("/openai/v1/chat/completions", {"content": b"no JSON"}, "a call of openai names no model"),
        ("/openai/v1/chat/completions", {"json": {"messages": []}}, "name the model in the request"),
        ("/openai/v1/images/generations", {"json": {"model": "pictures"}}, '[prices."openai/pictures"]'),
        ("/openai/v1/audio/transcriptions", form, "a call of openai names no model"),
        ("/mine/v1/moderations", {"json": {"input": "x"}}, "a call of mine names no model"),
        ("/azure/openai/deployments/d/chat/completions", {"json": {"messages": []}}, '[prices."azure/d"]'),
        ("/gemini/v1beta/models/unknown:generateContent", {"json": {}}, '[prices."gemini/unknown"]'),
    ):
        kind = {"content-type": "multipart/form-data; boundary=b"} if sent is form else {}
        answer = client.http.post(path, headers={**header, **kind}, **sent)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (429, "price_unknown"), path
        assert advice in error["message"], path
        assert "max_cost = $100" in error["message"]
        assert "\n" not in error["message"]
        assert answer.headers["x-should-retry"] == "false"
    assert provider.received == []
    assert set(client.session.problems.values()) == {"price_unknown"}
    # What costs nothing is not refused, and a limit of tokens needs no prices.
    provider.respond = lambda _: Prepared()
    for path in ("/openai/v1/moderations", "/anthropic/v1/messages/count_tokens"):
        assert client.http.post(path, json={"model": "unknown"}, headers=header).status_code == 200
    assert client.http.get("/mine/v1/models", headers=header).status_code == 200
    assert [usage.cost for usage in client.session._usages[CallOrigin()]] == [0.0] * 3
    provider.respond = slow_answer
    tokens = start_gateway(max_tokens=100_000)
    assert tokens.post(data={**question("x"), "model": "my-model"}).status_code == 200
    assert (
        'the price of openai/my-model is not known, so its cost is not counted; set it in [prices."openai/my-model"]'
        in (tokens.session.problems)
    )


def test_a_configured_price_allows_the_call(start_gateway: StartGateway, provider: Provider) -> None:
    provider.respond = slow_answer
    for model in ("my-model", "mine/7b:free", "odd [1] *?", 'a"b\\c', "änderung"):
        client = start_gateway(max_cost=0.01, prices={f"openai/{model}": Price(1.0, 10.0)})
        assert client.post(data=question("x", max_tokens=100) | {"model": model}).status_code == 200, model
        assert client.counts().cost == pytest.approx((20 * 1 + 100 * 10) / 1e6)


def test_the_model_of_a_form_is_read(start_gateway: StartGateway, provider: Provider) -> None:
    provider.respond = lambda _: Prepared()
    client = start_gateway(max_cost=1.0, prices={"my-whisper": Price(1.0, 1.0)})
    audio = ("a.wav", b"RIFF", "audio/wav")

    def transcribe(*models: str) -> int:
        fields = [("file", audio), *(("model", (None, model)) for model in models)]
        header = {"authorization": f"Bearer {client.session.token}"}
        return client.http.post("/openai/v1/audio/transcriptions", files=fields, headers=header).status_code

    assert transcribe("my-whisper") == 200
    assert transcribe("my-whisper", "another") == 429  # which of them the provider takes is unknown
    assert transcribe() == 429
    assert len(provider.received) == 1


def test_an_answer_without_usage_costs_the_reserve(start_gateway: StartGateway, provider: Provider) -> None:
    for answer, path in (
        (Prepared(b'{"choices": []}'), "/openai/v1/chat/completions"),
        (Prepared(b'{"usage": {}}'), "/openai/v1/chat/completions"),
        (Prepared(b"\xff\xf3sound", headers={"content-type": "audio/mpeg"}), "/openai/v1/audio/speech"),
    ):
        provider.received.clear()
        provider.respond = lambda _, answer=answer: answer
        client = start_gateway(max_cost=0.005, prices={"*": Price(0.0, 1.0)})
        statuses = [client.post(path, data=question("x", max_tokens=1_000)).status_code for _ in range(9)]
        assert statuses == [200] * 5 + [429] * 4, path
        assert len(provider.received) == 5
        assert client.counts().cost == pytest.approx(0.005)  # reports and gates count it too
    client = start_gateway(max_tokens=5_000)
    assert {client.post(path, data=question("x", max_tokens=1_000)).status_code for _ in range(9)} == {200}


def test_the_usage_is_read_from_answers_of_any_type(start_gateway: StartGateway, provider: Provider) -> None:
    client = start_gateway()
    provider.respond = lambda _: Prepared(completion(tokens=(20, 100)), headers={"content-type": "text/plain"})
    client.post()
    part = {"usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4}}
    provider.respond = lambda _: Prepared(json.dumps([{}, part]).encode())  # a stream without alt=sse
    client.post("/gemini/v1beta/models/gemini-2.5-flash:streamGenerateContent", data={})
    tokens = {
        group.provider: (each.input_tokens, each.output_tokens) for group, each in client.gateway.counts().items()
    }
    assert tokens == {"openai": (20, 100), "gemini": (3, 4)}


def test_an_unreachable_provider_costs_nothing(start_gateway: StartGateway) -> None:
    client = start_gateway(max_tokens=2_000, custom={"gone": "http://127.0.0.1:9/v1"})
    for _ in range(5):
        answer = client.post("/gone/v1/chat/completions", data=question("x", max_tokens=1_000))
        assert answer.json()["error"]["code"] == "provider_unreachable"
    assert client.post(data=question("x", max_tokens=1_000)).status_code == 200


def test_many_other_problems_do_not_hide_a_refusal(start_gateway: StartGateway) -> None:
    client = start_gateway(max_tokens=10)
    for number in range(30):
        assert client.http.get(f"/unknown-{number}").status_code == 401
        assert client.post(f"/unknown-{number}").status_code == 404
    assert client.post(data=question("x", max_tokens=1_000)).status_code == 429
    assert "budget_spent" in client.session.problems.values()
    assert len(client.session.problems) == 21
