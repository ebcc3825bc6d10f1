"""Runs that call models, which are fakes on loopback: costs, budgets, judges, conversations, the gateway."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.fakes.chat_service import ChatService
from tests.fakes.openai import OpenAIServer
from tests.features.costs.test_estimates import PRICED, SUITE
from tests.features.gateway.conftest import KEY, answer_question
from tests.features.gateway.provider import open_provider
from tests.golden.recordings.bench import Bench, make_row, recording
from tests.integration.host import test_data_suites as desk
from tests.integration.host import test_gateway_suites as languages
from tests.integration.host import test_judges as judges

# A client of a provider that knows nothing of scoregate.
ASK = """
import json
import os
import urllib.request
from pathlib import Path

from scoregate import evaluate
from scoregate.scorers import contains


def task(input):
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": input}]}
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps(body).encode(),
        {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


evaluate("ask", data="data/ask.jsonl", task=task, scorers=[contains()])
"""


def write_questions(bench: Bench, cases: int, changed: Sequence[int] = ()) -> None:
    """The cases of the suite that asks."""
    answers = {at: {"expected": "NONE"} for at in changed}
    bench.rows("ask", [make_row(at, **{"expected": f"Q{at}", **answers.get(at, {})}) for at in range(cases)])


@contextmanager
def open_gateway_suites(bench: Bench, *settings: str, mode: str = "on") -> Iterator[dict[str, str]]:
    """A suite that asks through the gateway, and one that doesn't; the environment with the provider."""
    with open_provider() as provider:
        provider.respond = answer_question
        bench.settings(
            f'gateway = "{mode}"', 'cache = "off"', 'cassettes = "cassettes"', "min_pass_rate = 0.5", *settings
        )
        bench.write("evals/ask.py", ASK)
        write_questions(bench, 10)
        bench.suite("hours")
        yield {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{provider.url}/v1"}


@recording
def gateway(bench: Bench) -> None:
    """The gateway counts the calls of suites."""
    with open_gateway_suites(bench, "[suites.ask]", "max_cost = 1", "max_cost_ratio = 1.5") as environ:
        bench.base(**environ)
        write_questions(bench, 14)
        bench.change(**environ)


@recording
def gateway_replay(bench: Bench) -> None:
    """The base recorded calls, and the change replays them."""
    with open_gateway_suites(bench, mode="record") as environ:
        bench.base(**environ)
    text = (bench.root / "scoregate.toml").read_text()
    bench.write("scoregate.toml", text.replace('"record"', '"replay"'))
    bench.prompt("hours", (1,))
    bench.change()


@recording
def gateway_languages(bench: Bench) -> None:
    """Programs in other languages, and a test runner, ask through the gateway."""
    with open_provider() as provider:
        provider.respond = answer_question
        environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{provider.url}/v1"}
        languages.write_suites(bench, more='baseline = "base"')
        bench.base(**environ)
        bench.write("evals/smoke.sh", languages.SHELL.replace("ask warm-up", "ask warm-up; ask once-more"))
        bench.change(**environ)


@recording
def gateway_fails(bench: Bench) -> None:
    """The provider doesn't answer, and the suite has an answer of its own: it isn't green."""
    bench.settings('gateway = "on"', 'cache = "off"')
    bench.write("evals/eval_ask.py", languages.FALLBACK.format(tries=1))
    with open_provider() as provider:
        provider.respond = answer_question
        bench.base(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"{provider.url}/v1")
        provider.respond = lambda _: languages.Prepared(b"{}", 500)
        bench.change(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"{provider.url}/v1")


def _write_priced(bench: Bench, *settings: str, cases: int = 6) -> None:
    bench.write("scoregate.toml", "\n".join(('baseline = "base"', *settings, PRICED)))
    bench.write("evals/one.py", SUITE.format(name="one", cases=cases))


@recording
def costs(bench: Bench) -> None:
    """Judges with a price; the change asks more of them, above the limit of the ratio."""
    with OpenAIServer.start() as server:
        _write_priced(bench, "max_cost_ratio = 1.2", "max_tokens_ratio = 1.2", "max_cost = 1000")
        bench.base(**server.environment)
        _write_priced(bench, "max_cost_ratio = 1.2", "max_tokens_ratio = 1.2", "max_cost = 1000", cases=9)
        bench.change(**server.environment)


@recording
def budget(bench: Bench) -> None:
    """The budget was reached, so the rest of the cases have errors."""
    with OpenAIServer.start() as server:
        _write_priced(bench)
        bench.base(**server.environment)
        spent = json.loads((bench.root / "base/result.json").read_text())["totals"]["cost"]
        _write_priced(bench, cases=14)
        bench.change("--max-cost", f"{spent * 1.2:.2f}", **server.environment)


@recording
def battles(bench: Bench) -> None:
    """A judge lets the outputs of the change and of the base compete."""
    with OpenAIServer.start() as server:
        server.answer_with(judges.prefer_longest)
        bench.settings("min_pass_rate = 0", "max_error_rate = 1")
        bench.write("eval_demo.py", judges.suite("Auto()", output="old", cases=12))
        bench.base(**server.environment)
        bench.write("eval_demo.py", judges.suite("Auto()", output="newer answer", cases=12))
        bench.change(**server.environment)


@recording
def test_set(bench: Bench) -> None:
    """A test set in a file, whose tests ask a service."""
    with ChatService.start() as service:
        bench.settings("min_pass_rate = 0.3")
        bench.write("checks.py", desk.CHECKS)
        bench.write("evals/desk.csv", desk.TABLE)
        bench.write("evals/desk.toml", desk.SUITE.format(url=service.url))
        service.answers("open", "At nine.")
        service.answers("far", "A mile.")
        bench.base()
        service.answers("Norway", "To Norway, too.")
        bench.change()
