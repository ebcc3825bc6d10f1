"""The budget at the gateway: calls in flight reserve what they may cost."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from tests.integration.gateway.conftest import StartGateway, completion, question
from tests.integration.gateway.provider import Prepared, Provider, Received


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
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert refused.json()["error"]["code"] == "budget_spent"
    assert refused.headers["x-should-retry"] == "false"
    assert "max_tokens = 1,000" in refused.json()["error"]["message"]


def test_calls_without_a_limit_of_their_own_exceed_it_by_one_call_at_most(
    start_gateway: StartGateway, provider: Provider
) -> None:
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
