"""Calls of plain clients through the gateway: which case and suite they count for, and what limits do with them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.features.gateway.conftest import KEY
from tests.features.gateway.provider import Prepared, Provider, Received, open_provider
from tests.integration.host.conftest import Project, Ran

SETTINGS = """
gateway = "on"
cache = "off"
paths = ["evals"]
max_cost_ratio = 1.5
max_tokens_ratio = 1.5
"""
# The task uses the client of OpenAI, the scorer `urllib`: neither knows of scoregate.
PYTHON = """
import json, os, urllib.request
from openai import AsyncOpenAI, OpenAI
from scoregate import evaluate

def ask(text):
    client = OpenAI(max_retries=0)
    return client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": text}])

async def ask_async(text):
    async with AsyncOpenAI(max_retries=0) as client:
        await client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": text}])

def task(input):
    ask("q" * PROMPT)
    return "yes"

async def short_task(input):
    await ask_async("q" * 10)
    return "yes"

def graded(output):
    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "g" * 40}]}
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}
    address = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(address, json.dumps(body).encode(), headers)) as answer:
        return float(answer.status == 200)

data = [{"input": f"question {n}"} for n in range(CASES)]
"""
ONE_SUITE = 'evaluate("one", data=data, task=task, scorers=[graded])'
SHELL = r"""
ask() {
  text=$1
  shift
  curl --silent --fail --noproxy '*' -H "Authorization: Bearer $OPENAI_API_KEY" -H 'Content-Type: application/json' \
    "$@" "$OPENAI_BASE_URL/chat/completions" \
    -d "{\"model\": \"gpt-4o\", \"messages\": [{\"role\": \"user\", \"content\": \"$text\"}]}" > /dev/null
}
suite() {
  say() { printf '{"suite":"%s","type":"%s"%s}\n' "$name" "$1" "$2" >> "$SCOREGATE_EVENTS/$name.jsonl"; }
  name=$1
  text=$2
  shift 2
  say suite_started ',"cases":3'
  for number in 1 2 3; do
    say case_started ",\"case\":\"case $number\""
    ask "$text" "$@"
    say case_output ",\"case\":\"case $number\",\"output\":$number"
    say scored ",\"case\":\"case $number\",\"evaluator\":\"e\",\"score\":1"
    say case_finished ",\"case\":\"case $number\""
  done
  say suite_finished
}
"""


def count_letters(request: Received) -> Prepared:
    """An answer that used a token for each letter of the question, and none for itself."""
    text = json.loads(request.body)["messages"][-1]["content"]
    message = {"role": "assistant", "content": "ok"}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    usage = {"prompt_tokens": len(text), "completion_tokens": 0, "total_tokens": len(text)}
    answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "gpt-4o", "choices": [choice]}
    return Prepared(json.dumps({**answer, "usage": usage}).encode())


@pytest.fixture
def provider() -> Iterator[Provider]:
    with open_provider() as running:
        running.respond = count_letters
        yield running


def run(project: Project, provider: Provider, *arguments: str, **environ: str) -> Ran:
    keys = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{provider.url}/v1"}
    return project.scoregate("run", *arguments, **keys, **environ)


def write_python(project: Project, *, prompt: int = 100, cases: int = 12, suites: str = ONE_SUITE) -> None:
    text = PYTHON.replace("PROMPT", str(prompt)).replace("CASES", str(cases))
    project.write("evals/eval_ask.py", f"{text}{suites}\n")


def findings_of(ran: Ran) -> dict[tuple[str, str], tuple[str, str]]:
    return {(each["suite"], each["rule"]): (each["conclusion"], each["value"]) for each in ran.result["findings"]}


def tokens_of(ran: Ran) -> dict[str, int]:
    return {suite["label"]: suite["spend"]["tokens"] for suite in ran.result["suites"]}


def cases_of(ran: Ran) -> list[dict[str, Any]]:
    with gzip.open(ran.out / "run" / "cases.jsonl.gz", "rt", encoding="utf-8") as lines:
        return list(map(json.loads, lines))


def test_plain_clients_name_their_case(project: Project, provider: Provider) -> None:
    project.write("scoregate.toml", SETTINGS)
    write_python(project)
    base = run(project, provider, "--baseline", "none", "--out", "base")
    assert base.exit_code == 0, base.output
    base.out = project.root / "base"
    for case in cases_of(base):
        assert case["usage"]["input_tokens"] == 100, case
        assert case["evaluations"]["graded"]["usage"]["input_tokens"] == 40
    (suite,) = base.run["suites"]
    assert suite["usage"] is None
    write_python(project, prompt=300)
    outcome = run(project, provider, "--baseline", "base")
    assert outcome.exit_code == 1, outcome.output
    findings = findings_of(outcome)
    assert findings["one", "cost ratio"][0] == findings["one", "tokens ratio"][0] == "failed"
    assert findings["one", "tokens ratio"][1].startswith("2.43 × the baseline's [")
    write_python(project, prompt=110)
    assert run(project, provider, "--baseline", "base", "--out", "again").exit_code == 0


def test_calls_without_a_case_are_compared_by_suite_totals(project: Project, provider: Provider) -> None:
    project.write("scoregate.toml", SETTINGS + '[[commands]]\nname = "sh"\nrun = ["sh", "evals/one.sh"]\n')
    project.write("evals/one.sh", f"{SHELL}suite one {'q' * 100}\n")
    assert run(project, provider, "--baseline", "none", "--out", "base").exit_code == 0
    project.write("evals/one.sh", f"{SHELL}suite one {'q' * 300}\n")
    outcome = run(project, provider, "--baseline", "base")
    assert outcome.exit_code == 1, outcome.output
    value = "3.00 × the baseline's, by the totals of the suite"
    assert findings_of(outcome)["one", "cost ratio"] == findings_of(outcome)["one", "tokens ratio"] == ("failed", value)
    project.write("evals/one.sh", f"{SHELL}suite one {'q' * 110}\n")
    assert run(project, provider, "--baseline", "base", "--out", "again").exit_code == 0


def test_suites_of_one_file_have_their_own_costs(project: Project, provider: Provider) -> None:
    """Two run at the same time, and one after them; all have the same cases, and a client without asyncio."""
    project.write("scoregate.toml", SETTINGS + '[suites."first"]\nmax_tokens = 480\n')
    suites = """
import threading
tasks = {"first": short_task, "second": task}
runs = [threading.Thread(target=evaluate, args=(name,), kwargs=dict(data=data, task=each, scorers=[graded]))
        for name, each in tasks.items()]
for each in runs: each.start()
for each in runs: each.join()
evaluate("third", data=data, task=short_task, scorers=[graded])
"""
    write_python(project, cases=9, suites=suites)
    outcome = run(project, provider, "--baseline", "none")
    assert outcome.exit_code == 0, outcome.output
    assert tokens_of(outcome) == {"first": 9 * 50, "second": 9 * 140, "third": 9 * 50}
    suite = [each["label"] for each in outcome.result["suites"]].index("second")
    assert {case["usage"]["input_tokens"] for case in cases_of(outcome) if case["suite"] == suite} == {100}


def test_calls_of_an_unknown_suite_make_limits_unmeasurable(project: Project, provider: Provider) -> None:
    limits = '[[commands]]\nname = "sh"\nrun = ["sh", "evals/two.sh"]\n[suites."first"]\nmax_tokens = {}\n'
    project.write("scoregate.toml", SETTINGS + limits.format(100))
    project.write("evals/two.sh", f"{SHELL}suite first {'q' * 10}\nsuite second {'q' * 300}\n")
    outcome = run(project, provider, "--baseline", "none", "--out", "base")
    outcome.out = project.root / "base"
    assert outcome.exit_code == 3, outcome.output
    assert tokens_of(outcome) == {"first": None, "second": None}
    assert outcome.result["totals"]["tokens"] == 930
    value = "unknown, up to 930 with calls of sh that name none of its suites"
    assert findings_of(outcome)["first", "tokens"] == ("unmeasurable", value)
    assert "Of no suite: 6 calls of models ($0.0023) by sh." in outcome.output
    project.write("scoregate.toml", SETTINGS + limits.format(1000))  # whichever suite made them
    outcome = run(project, provider, "--baseline", "base")
    assert findings_of(outcome)["first", "tokens"][0] == "passed"
    assert outcome.exit_code == 3, outcome.output  # the ratio stays unknown
    assert "name none of its suites" in findings_of(outcome)["first", "tokens ratio"][1]
    project.write("scoregate.toml", SETTINGS + limits.format(100))
    named = "suite first {} -H x-scoregate-suite:first\nsuite second {} -H x-scoregate-suite:second.jsonl\n"
    project.write("evals/two.sh", SHELL + named.format("q" * 10, "q" * 300))
    outcome = run(project, provider, "--baseline", "none")
    assert outcome.exit_code == 0, outcome.output
    assert tokens_of(outcome) == {"first": 30, "second": 900}
