"""Suites in other languages behind the gateway: their calls are counted, priced and reported like those of Python."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from tests.features.gateway.conftest import KEY, answer_question
from tests.features.gateway.provider import Prepared, Provider, Received, open_provider
from tests.integration.host.conftest import Project, Ran

# One call belongs to no case, one to each case, and one to the evaluator of each case.
SHELL = r"""
say() { printf '{"suite":"smoke","type":"%s"%s}\n' "$1" "$2" >> "$SCOREGATE_EVENTS/smoke.jsonl"; }
ask() {
  text=$1
  shift
  curl --silent --fail --noproxy '*' -H "Authorization: Bearer $OPENAI_API_KEY" -H 'Content-Type: application/json' \
    "$@" "$OPENAI_BASE_URL/chat/completions" \
    -d "{\"model\": \"gpt-4o\", \"messages\": [{\"role\": \"user\", \"content\": \"$text\"}]}" > /dev/null
}
say suite_started ',"cases":3'
ask warm-up
for number in 1 2 3; do
  say case_started ",\"case\":\"case $number\",\"input\":$number"
  ask "question $number" -H "x-scoregate-case: case%20$number"
  say case_output ",\"case\":\"case $number\",\"output\":$number,\"duration_ms\":20"
  ask "is $number good?" -H "x-scoregate-case: case%20$number" -H 'x-scoregate-evaluator: judge'
  say scored ",\"case\":\"case $number\",\"evaluator\":\"judge\",\"score\":1,\"threshold\":{\"gte\":1}"
  say case_finished ",\"case\":\"case $number\""
done
say suite_finished
"""
NODE = """
import { appendFileSync } from "node:fs";

const log = `${process.env.SCOREGATE_EVENTS}/titles.jsonl`;
const say = (type, event = {}) => appendFileSync(log, JSON.stringify({ suite: "titles", type, ...event }) + "\\n");
const ask = async (content, headers = {}) => {
  const answer = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${process.env.OPENAI_API_KEY}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "gpt-4o-mini", messages: [{ role: "user", content }] }),
  });
  return (await answer.json()).choices[0].message.content;
};

say("suite_started", { cases: 2 });
for (const name of ["änderung", "a title"]) {
  say("case_started", { case: name, input: name });
  const output = await ask(name, { "x-scoregate-case": encodeURIComponent(name) });
  say("case_output", { case: name, output });
  const score = Number(output === name.toUpperCase());
  say("scored", { case: name, evaluator: "is-upper", score, threshold: { gte: 1 } });
  say("case_finished", { case: name });
}
say("suite_finished");
"""
# A test runner that knows nothing of scoregate: its calls belong to the suite.
JUNIT = """
import { writeFileSync } from "node:fs";

for (const content of ["one", "two"]) {
  const answer = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${process.env.OPENAI_API_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content }] }),
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
}
const cases = ["one", "two"].map((name) => `<testcase classname="t" name="${name}" time="0.25"/>`).join("");
writeFileSync("junit.xml", `<testsuite name="runner" tests="2">${cases}</testsuite>`);
"""
SETTINGS = """
gateway = "{mode}"
cassettes = ".scoregate/cassettes"
cache = "{cache}"
{more}
[[commands]]
name = "smoke"
run = ["sh", "evals/smoke.sh"]
[[commands]]
name = "titles"
run = ["node", "evals/titles.mjs"]
[[commands]]
name = "runner"
run = ["node", "evals/runner.mjs"]
junit = ["junit.xml"]
"""
CALL = 10 * 2.5e-6 + 5 * 10e-6  # gpt-4o: 10 input tokens and 5 output tokens


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A provider of which each answer has 10 input and 5 output tokens."""
    with open_provider() as running:
        running.respond = answer_question
        yield running


def write_suites(project: Project, mode: str = "on", *, cache: str = "off", more: str = "") -> None:
    project.write("scoregate.toml", SETTINGS.format(mode=mode, cache=cache, more=more))
    for name, text in (("smoke.sh", SHELL), ("titles.mjs", NODE), ("runner.mjs", JUNIT)):
        project.write(f"evals/{name}", text)


def run(project: Project, provider: Provider | None, *arguments: str, command: str = "run") -> Ran:
    environ = {} if provider is None else {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{provider.url}/v1"}
    return project.scoregate(command, *arguments, **environ)


def suites_of(ran: Ran) -> dict[str, dict[str, Any]]:
    return {suite["label"]: suite["spend"] for suite in ran.result["suites"]}


def calls_of(ran: Ran) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {(row["suite"], row["evaluator"], row["model"]): row for row in ran.result["model_calls"]}


def cases_of(ran: Ran) -> dict[str, dict[str, Any]]:
    with gzip.open(ran.out / "run" / "cases.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {case["hash"]: case for case in map(json.loads, lines)}


FALLBACK = """
import json, os, urllib.request
from scoregate import evaluate
from scoregate.scorers import contains

def ask(input, tries={tries}):
    body = json.dumps({{"model": "gpt-4o", "messages": [{{"role": "user", "content": input}}]}}).encode()
    headers = {{"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}}
    for _ in range(tries):
        try:
            request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
            return json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
        except OSError:
            pass
    return "SORRY " + input.upper()

evaluate("ask", data=[{{"input": f"q{{n}}", "expected": f"Q{{n}}"}} for n in range(12)], task=ask, scorers=[contains()])
"""


@pytest.mark.parametrize(("failing", "tries", "code"), [(12, 1, 3), (6, 1, 0), (24, 3, 0)])
def test_a_suite_that_falls_back_is_not_green(
    project: Project, provider: Provider, failing: int, tries: int, code: int
) -> None:
    asked: Counter[str] = Counter()

    def respond(request: Received) -> Prepared:
        text = json.loads(request.body)["messages"][-1]["content"]
        asked[text] += 1
        is_down = asked[text] < tries if tries > 1 else int(text[1:]) < failing
        return Prepared(b"{}", 500) if is_down else answer_question(request)

    provider.respond = respond
    project.write("scoregate.toml", 'gateway = "on"\ncache = "off"\n')
    project.write("evals/eval_ask.py", FALLBACK.format(tries=tries))
    outcome = run(project, provider, "--baseline", "none")
    assert outcome.exit_code == code, outcome.output
    (row,) = outcome.result["model_calls"]
    assert (row["failed"], row["recovered"]) == (failing, failing if tries > 1 else 0)
    found = "12 of 12 calls of evals/eval_ask.py through the gateway got no answer" in " ".join(outcome.output.split())
    assert found is (code == 3)


def test_calls_are_reported_like_those_of_python_suites(project: Project, provider: Provider) -> None:
    write_suites(project)
    outcome = run(project, provider, "--baseline", "none")
    assert outcome.exit_code == 0, outcome.output
    suites, calls, cases = suites_of(outcome), calls_of(outcome), cases_of(outcome)
    assert (suites["smoke"]["tokens"], suites["runner"]["tokens"], suites["titles"]["tokens"]) == (7 * 15, 2 * 15, 30)
    assert suites["smoke"]["cost"] == pytest.approx(7 * CALL)
    assert suites["runner"]["cost"] == pytest.approx(2 * CALL)
    assert 0 < suites["titles"]["cost"] < CALL
    assert (suites["smoke"]["p50_ms"], suites["runner"]["p50_ms"]) == (20, 250)
    assert outcome.result["totals"]["cost"] == pytest.approx(sum(suite["cost"] for suite in suites.values()))
    assert cases["case 1"]["usage"]["input_tokens"] == cases["änderung"]["usage"]["input_tokens"] == 10
    assert cases["case 1"]["evaluations"]["judge"]["usage"]["output_tokens"] == 5
    assert {place: row["calls"] for place, row in calls.items()} == {
        ("smoke", "", "gpt-4o"): 4,
        ("smoke", "judge", "gpt-4o"): 3,
        ("runner", "", "gpt-4o"): 2,
        ("titles", "", "gpt-4o-mini"): 2,
    }
    assert all(row["p50_ms"] > 0 for row in calls.values())
    assert "calls of models: 11 calls, 165 tokens, $0.0" in outcome.output
    assert "<summary>Calls of models: 11 calls" in outcome.comment
    assert re.search(r"<code>smoke</code> · <code>judge</code> \| <code>openai/gpt-4o</code> \| 3 \|", outcome.comment)
    page = (outcome.out / "report.html").read_text(encoding="utf-8")
    assert '<h2 id="calls">Calls of models</h2>' in page
    assert KEY not in outcome.output + page


def test_exec_counts_calls(project: Project, provider: Provider) -> None:
    write_suites(project, "off")
    project.write("scoregate.toml", "")
    outcome = run(
        project, provider, "--gateway", "on", "--baseline", "none", "--", "sh", "evals/smoke.sh", command="exec"
    )
    assert outcome.exit_code == 0, outcome.output
    assert suites_of(outcome)["smoke"]["cost"] == pytest.approx(7 * CALL)
    assert sum(row["calls"] for row in outcome.result["model_calls"]) == 7


def test_model_names_are_redacted(project: Project, provider: Provider) -> None:
    project.write("evals/smoke.sh", SHELL.replace("gpt-4o", "model-$MY_TOKEN"))
    project.write("scoregate.toml", 'gateway = "on"\n')
    environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{provider.url}/v1", "MY_TOKEN": "s3cr3t-0123456789"}
    outcome = project.scoregate("exec", "--baseline", "none", "--", "sh", "evals/smoke.sh", **environ)
    assert outcome.exit_code == 0, outcome.output
    assert {row["model"] for row in outcome.result["model_calls"]} == {"model-***"}
    assert b"s3cr3t" not in b"".join(file.read_bytes() for file in outcome.out.rglob("*") if file.is_file())


def test_runs_are_compared_by_their_own_calls(project: Project, provider: Provider) -> None:
    write_suites(project)
    project.commit()
    project.write("evals/smoke.sh", SHELL.replace("ask warm-up", "ask warm-up; ask once-more"))
    outcome = run(project, provider, "--baseline", "rerun")
    assert outcome.exit_code == 0, outcome.output
    row = calls_of(outcome)["smoke", "", "gpt-4o"]
    assert (row["calls"], row["base"]["calls"]) == (5, 4)
    assert row["base"]["cost"] == pytest.approx(4 * CALL)
    assert "calls of models: 12 calls (+1), 180 tokens, $0.0" in outcome.output


def test_replayed_answers_are_no_new_evidence(project: Project, provider: Provider) -> None:
    write_suites(project, "record")
    recorded = run(project, provider, "--baseline", "none", "--out", "recorded")
    assert recorded.exit_code == 0, recorded.output
    recorded.out = project.root / "recorded"
    request_count = len(provider.received)
    write_suites(project, "replay")
    outcome = run(project, None, "--baseline", "recorded")
    assert outcome.exit_code == 0, outcome.output
    assert len(provider.received) == request_count
    before, now = cases_of(recorded), cases_of(outcome)
    assert len(before) == len(now) == 7
    for name, case in now.items():  # those of `runner` name no case; all calls of the suite were replayed
        assert case["usage"]["cached"], name
        assert not before[name]["usage"].get("cached"), name
    # The same answers have the same ids, so pooled runs count them once.
    for name in ("case 1", "änderung", "a title"):
        assert now[name]["usage"]["answer"] == before[name]["usage"]["answer"]
    judged = now["case 1"]["evaluations"]["judge"]["usage"]
    assert judged["answer"] == before["case 1"]["evaluations"]["judge"]["usage"]["answer"]
    assert judged["cached"]
    # Neither latency nor cost of stored answers is compared.
    assert [row["n"] for row in outcome.result["quantities"] if row["n"]] == []
    assert {row["replayed"] for row in outcome.result["model_calls"]} == {2, 3, 4}
    # They use no tokens and no money, and their time is not shown.
    assert {name: (spend["tokens"], spend["cost"]) for name, spend in suites_of(outcome).items()} == {
        "smoke": (0, 0),
        "titles": (0, 0),
        "runner": (0, 0),
    }
    assert re.search(r"smoke +3 of 3 \(100.0%\) +0 +\$0.00\n", outcome.output)
    limited = run(project, None, "--baseline", "recorded", "--max-tokens", "1")
    assert limited.exit_code == 0, limited.output
    assert "calls of models: 11 calls, $0.00, 11 replayed" in outcome.output
    assert "(−$" not in outcome.comment.partition("Calls of models")[2]


def test_a_rerun_base_has_its_own_cassettes(project: Project, provider: Provider) -> None:
    write_suites(project, "record")
    project.commit()
    first = run(project, provider, "--baseline", "none")
    assert first.exit_code == 0, first.output
    folder = project.root / ".scoregate" / "cassettes"
    alone = {path.name: path.read_bytes() for path in folder.iterdir()}
    project.write("evals/titles.mjs", NODE.replace("a title", "another title"))
    outcome = run(project, provider, "--baseline", "rerun")
    assert outcome.exit_code == 0, outcome.output
    of_base = {path.name: path.read_bytes() for path in (folder / "base").iterdir()}
    assert of_base == alone
    of_run = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert {name for name in alone if of_run[name] != alone[name]} == {"titles.jsonl.gz"}
    # A replay answers both from their own cassettes; without any of the base's, those of the run answer it too.
    write_suites(project, "replay")
    project.write("evals/titles.mjs", NODE.replace("a title", "another title"))
    request_count = len(provider.received)
    replayed = run(project, None, "--baseline", "rerun")
    assert replayed.exit_code == 0, replayed.output
    for path in (*(folder / "base").iterdir(), folder / "base"):
        path.unlink() if path.is_file() else path.rmdir()
    write_suites(project, "replay")
    for name, data in alone.items():
        (folder / name).write_bytes(data)
    second = run(project, None, "--baseline", "rerun")
    assert second.exit_code == 0, second.output
    assert len(provider.received) == request_count


def test_answers_of_the_cache_are_marked_and_recorded(project: Project, provider: Provider) -> None:
    write_suites(project, cache="on:.cache")
    assert run(project, provider, "--baseline", "none", "--out", "first").exit_code == 0
    write_suites(project, "record", cache="on:.cache")
    request_count = len(provider.received)
    outcome = run(project, provider, "--baseline", "none")
    assert outcome.exit_code == 0, outcome.output
    assert len(provider.received) == request_count
    assert sum(row["cached"] for row in outcome.result["model_calls"]) == 11
    assert all(case["usage"]["cached"] for case in cases_of(outcome).values())
    write_suites(project, "replay")
    outcome = run(project, None, "--baseline", "none")
    assert outcome.exit_code == 0, outcome.output
    assert sum(row["replayed"] for row in outcome.result["model_calls"]) == 11


def test_merged_runs_have_the_calls_of_each(project: Project, provider: Provider) -> None:
    write_suites(project)
    for leg in ("one", "two"):
        assert run(project, provider, "--baseline", "none", "--out", f"legs/{leg}").exit_code == 0
    outcome = project.scoregate("merge", "legs/one", "legs/two", "--baseline", "none")
    assert outcome.exit_code == 0, outcome.output
    assert "calls of models: 22 calls, 330 tokens" in outcome.output
    assert {row["script"] for row in outcome.result["model_calls"]} >= {"one: smoke", "two: smoke"}
    assert {row["suite"] for row in outcome.result["model_calls"]} >= {"smoke (one)", "smoke (two)"}


WRAPPED = """
from openai import OpenAI
from scoregate import evaluate
from scoregate.models import wrap

client = wrap(OpenAI())

def ask(input):
    answer = client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": input}])
    return answer.choices[0].message.content

def is_upper(output):
    return float(output.isupper())

evaluate("wrapped", data=[{"input": "one"}, {"input": "two"}], task=ask, scorers=[is_upper])
"""


def test_answers_of_a_suite_cache_are_recorded(project: Project, provider: Provider) -> None:
    """While calls are recorded, the gateway reads the cache, so that it sees every call."""
    project.write("evals/wrapped.py", WRAPPED)
    arguments = ("evals/wrapped.py", "--baseline", "none")
    assert run(project, provider, *arguments, "--cache", "on:.cache").exit_code == 0
    assert len(provider.received) == 2
    recorded = run(project, provider, *arguments, "--cache", "on:.cache", "--gateway", "record")
    assert recorded.exit_code == 0, recorded.output
    assert sum(row["cached"] for row in recorded.result["model_calls"]) == 2
    assert all(case["usage"]["cached"] for case in cases_of(recorded).values())
    assert len(provider.received) == 2
    # What it asks is in the cache afterwards, for itself and for the suite.
    project.write("evals/wrapped.py", WRAPPED.replace('"two"', '"three"'))
    for mode in ("record", "record", "off"):
        outcome = run(project, provider, *arguments, "--cache", "on:.cache", "--gateway", mode)
        assert outcome.exit_code == 0, outcome.output
        assert len(provider.received) == 3
    replayed = run(project, None, *arguments, "--cache", "off", "--gateway", "replay")
    assert replayed.exit_code == 0, replayed.output
    assert sum(row["replayed"] for row in replayed.result["model_calls"]) == 2
    assert len(provider.received) == 3


# A suite that reports a score whatever happens to its calls.
CAREFREE = r"""
say() { printf '{"suite":"carefree","type":"%s"%s}\n' "$1" "$2" >> "$SCOREGATE_EVENTS/carefree.jsonl"; }
say suite_started ',"cases":1'
say case_started ',"case":"a"'
curl --silent --noproxy '*' "$MINE_BASE_URL/chat/completions" -H "Authorization: Bearer $MY_KEY" \
  -H "Content-Type: $KIND" \
  -d "{\"model\": \"$MODEL\", \"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"max_tokens\": 9}" > answer
say case_output ',"case":"a","output":1'
say scored ',"case":"a","evaluator":"judge","score":1,"threshold":{"gte":1}'
say case_finished ',"case":"a"'
say suite_finished
"""
MINE = '[gateway]\nmode = "on"\n[gateway.providers.mine]\nbase_url = "{url}/v1"\nkey_env = "MY_KEY"\n'


def exec_carefree(project: Project, *arguments: str, **environ: str) -> Ran:
    project.write("carefree.sh", CAREFREE)
    variables = {"MODEL": "gpt-4o", "KIND": "application/json", **environ}
    command = ("--baseline", "none", "--cache", "off", "--", "sh", "carefree.sh")
    return project.scoregate("exec", *arguments, *command, **variables)


def test_a_missing_key_is_named(project: Project, provider: Provider) -> None:
    project.write("scoregate.toml", 'gateway = "on"\n')
    outcome = exec_carefree(project)
    assert outcome.exit_code == 0, outcome.output
    text = " ".join(outcome.output.split())
    assert "note: gateway = on (scoregate.toml [gateway]), but no provider has a key" in text
    assert "set the variable of a provider, such as OPENAI_API_KEY" in text
    project.write("scoregate.toml", MINE.format(url=provider.url))
    outcome = exec_carefree(project)
    assert outcome.exit_code == 3, outcome.output
    text = " ".join(outcome.output.split())
    assert (
        "MY_KEY is not set (named in gateway.providers.mine.key_env, scoregate.toml [gateway.providers.mine])" in text
    )
    assert "so mine can't be asked (set in gateway.providers.mine.key_env)" in text
    assert "no provider has a key" not in text
    assert "missing_key" in (project.root / "answer").read_text()
    assert provider.received == []
    alone = project.scoregate("gateway", "--", "true")
    assert (alone.exit_code, alone.output.splitlines()[-1]) == (2, "Set the variable of a provider, such as MY_KEY.")


def test_a_call_that_cannot_be_priced_is_not_made(project: Project, provider: Provider) -> None:
    """The advice of the error works, and no other type of the body avoids the refusal."""
    settings = MINE.format(url=provider.url)
    for model, kind in (("my-model", "application/json"), ("my-model", "text/plain"), ("my-model", "")):
        project.write("scoregate.toml", settings)
        outcome = exec_carefree(project, "--max-cost", "1", MY_KEY=KEY, MODEL=model, KIND=kind)
        assert outcome.exit_code == 3, outcome.output
        assert provider.received == []
        advice = re.search(r"set it in (\[prices\.\S+\])", " ".join(outcome.output.split()))
        assert advice is not None
        project.write("scoregate.toml", f"{settings}{advice[1]}\ninput = 1.0\noutput = 1.0\n")
        outcome = exec_carefree(project, "--max-cost", "1", MY_KEY=KEY, MODEL=model, KIND=kind)
        assert outcome.exit_code == 0, outcome.output
        assert outcome.result["totals"]["cost"] == pytest.approx(15 / 1e6)
        provider.received.clear()
