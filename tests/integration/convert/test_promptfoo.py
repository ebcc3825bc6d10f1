"""`scoregate convert promptfoo`: the suite finds what promptfoo finds."""

from __future__ import annotations

import gzip
import json
import re
import runpy
import shutil
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.features.imports.files import DATA as IMPORTED
from tests.features.imports.files import imported_file
from tests.integration.host.conftest import Project, project

from scoregate.convert.promptfoo_assertions import Unsupported, convert_assertion

__all__ = ["project"]
DATA = Path(__file__).parent / "data"
CONFIG = "promptfooconfig.yaml"
PROVIDERS = "prompts: ['{{q}}']\nproviders: [echo]\n"


def convert(project: Project, *options: str) -> Any:
    return project.scoregate("convert", "promptfoo", CONFIG, "--out", "evals/made", *options)


def write_tests(project: Project, text: str) -> None:
    project.write(CONFIG, f"{PROVIDERS}tests:\n{text}")


def read_cases(project: Project) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project.root / "evals/made/cases.jsonl").read_text("utf-8").splitlines()]


def test_outputs_verdicts_and_scores_equal_promptfoo(project: Project) -> None:
    shutil.copytree(DATA, project.root, dirs_exist_ok=True)
    assert convert(project).exit_code == 0
    result = runpy.run_path(str(project.root / "evals/made/eval_shop_answers.py"))["result"]
    variants = list(result.by_variant.values())
    verdicts = json.loads((DATA / "verdicts.json").read_text("utf-8"))
    assert len(verdicts) == sum(len(variant.cases) for variant in variants) == 51
    for verdict in verdicts:
        variant = variants[verdict["prompt"]]
        # Tests with several values of a variable have one description, so that their variables are their names.
        [case] = [
            each
            for each in variant.cases
            if each.output == verdict["output"] and verdict["description"] in (each.name, "", "product")
        ]
        scores = {name: evaluation.score for name, evaluation in case.evaluations.items()}
        assert (case not in variant.failed) == verdict["passed"], (case, verdict)
        named = {name: score for name, score in verdict["scores"].items() if name in scores}
        assert {name: scores[name] for name in named} == pytest.approx(named)
        if "score" in scores:
            assert scores["score"] == pytest.approx(verdict["score"])


def test_the_suite_runs_without_a_key(project: Project) -> None:
    shutil.copytree(DATA, project.root, dirs_exist_ok=True)
    convert(project)
    outcome = project.scoregate("run", "evals", "--baseline", "none")
    assert outcome.exit_code == 1
    assert "shop answers [task=prompt-1]: 17 cases" in outcome.output


def test_an_unsupported_part_is_listed_and_nothing_written(project: Project) -> None:
    write_tests(
        project,
        """- vars: {q: hello}
  assert:
    - {type: contains, value: hello}
    - {type: javascript, value: output.length < 3}
    - {type: contains, value: hello, transform: output.trim()}
    - {type: regex, value: "(?<=a+)b"}
    - {type: is-json, value: file://schema.json}
    - {type: equals, value: "{% if q %}x{% endif %}"}
    - {type: contains, value: [a]}
  options: {transform: output}
- {vars: {q: file:///etc/passwd}}
- file://../../../../etc/passwd.yaml
""",
    )
    outcome = convert(project)
    assert outcome.exit_code == 1
    assert not (project.root / "evals").exists()
    for place in ("tests[0].assert[1]", "[2]", "[3]", "[4]", "[5]", "[6]", "tests[0].options.transform", "tests[1]"):
        assert place in outcome.output
    assert "Nothing was written: 9 parts can't be converted" in outcome.output
    partial = convert(project, "--partial")
    assert partial.exit_code == 0
    assert [case["expected"] for case in read_cases(project)] == [
        [{"type": "contains", "metric": "contains", "value": "hello"}]
    ]
    left_out = (project.root / "evals/made/left_out.txt").read_text("utf-8")
    assert "promptfooconfig.yaml tests[0].assert[1]" in left_out


def test_regular_expressions_match_as_in_javascript() -> None:
    found = {
        (r"^\w+$", "café"): False,
        (r"[\w-]+$", "caf-e"): True,
        (r"^[\w]$", "é"): False,
        (r"\bÄ", "Ä"): False,
        (r"\d", "\u0663"): False,
        (r"\bhours\b", "our hours."): True,
        ("a$", "a\n"): False,
        ("a.b", "a\rb"): False,
        ("a.b", "axb"): True,
        ("[[.$]", "$"): True,
        (r"a\.b\$", "a.b$"): True,
        (r"\[x\]+\(", "[x]]("): True,
    }
    for (pattern, text), matches in found.items():
        assertion = convert_assertion({"type": "regex", "value": pattern}, {})["value"]
        assert (re.search(assertion, text) is not None) is matches, (pattern, assertion)
    for pattern in ("(?i)a", "x*+", "x{,2}", r"\Z", r"\A", "[]", "[^]", r"[\W]", "(?P<a>b)", r"\p{L}", "(?>a)", "a++"):
        with pytest.raises(Unsupported):
            convert_assertion({"type": "regex", "value": pattern}, {})
    with pytest.raises(Unsupported, match="starts-with needs a text"):
        convert_assertion({"type": "starts-with", "value": 3}, {})


def test_variables_of_the_environment_are_listed(project: Project) -> None:
    write_tests(
        project,
        """- vars: {q: "hello {{env.SHOP}}"}
- vars: {q: hello}
  assert: [{type: contains, value: "hello{{ env.SHOP }}"}, {type: contains, value: hello}]
""",
    )
    outcome = convert(project, "--partial")
    assert outcome.output.count("reads a variable of the environment") == 2
    assert [[each["value"] for each in case["expected"]] for case in read_cases(project)] == [["hello"]]


def test_existing_files_stay(project: Project) -> None:
    write_tests(project, "- {vars: {q: hello}}")
    project.write("evals/made/cases.jsonl", "mine")
    outcome = convert(project)
    assert (outcome.exit_code, "cases.jsonl exists; nothing was written" in outcome.output) == (2, True)
    assert [each.name for each in (project.root / "evals/made").iterdir()] == ["cases.jsonl"]


def test_configuration_texts_are_no_code(project: Project) -> None:
    hostile = '"""); import os; os.system("touch pwned") #\\n\u202e'
    config = {
        "description": f"{hostile}\n{hostile}",
        "prompts": [{"raw": "{{q}}", "label": hostile}, {"raw": "{{ q.__class__ }}", "label": "other"}],
        "providers": ["echo", {"id": "echo", "label": f"{hostile}'"}],
        "tests": [{"vars": {"q": "a"}, "assert": [{"type": "contains", "value": "a", "metric": hostile}]}],
    }
    project.write(CONFIG, json.dumps(config))
    outcome = convert(project)
    assert (outcome.exit_code, "\u202e" in outcome.output) == (0, False)
    [file] = (project.root / "evals/made").glob("eval_*.py")
    assert file.read_text("utf-8").isascii()
    result = runpy.run_path(str(file))["result"]
    assert {case.output for each in result.by_variant.values() for case in each.cases} == {"a", ""}
    assert not (project.root / "pwned").exists()


def test_hostile_files_are_errors(project: Project) -> None:
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\ntests: *b\n"
    files = {
        bomb: "is an alias",
        "!!python/object/apply:os.system [ls]": "is not known",
        "a: " + "[" * 500 + "]" * 500: "more than 50 levels",
        "tests: []\ntests: []": "line 2: the key 'tests' occurs twice, first in line 1; keep one",
        "- a list": "must be a mapping",
        "x" * 2_000_001: "larger than",
        "tests: .nan": "is not a number",
    }
    for text, problem in files.items():
        project.write(CONFIG, text)
        outcome = convert(project, "--partial")
        assert outcome.exit_code == 2, (text[:40], outcome.output)
        assert problem in " ".join(outcome.output.split()), (text[:40], outcome.output)


def test_many_combinations_are_limited(project: Project) -> None:
    values = ", ".join(f"v{number}" for number in range(400))
    write_tests(project, f"- vars: {{q: [{values}], r: [{values}], s: [{values}]}}")
    outcome = convert(project)
    assert (outcome.exit_code, "more than 50,000 cases" in outcome.output) == (1, True)
    long = "x" * 100_000
    write_tests(project, f"- vars: {{a: {long}, q: [{values}], r: [{', '.join(['v'] * 400)}]}}")
    outcome = convert(project)
    assert (outcome.exit_code, "more than 100,000,000 characters" in outcome.output) == (1, True)


def test_models_keep_their_parameters(project: Project) -> None:
    project.write(
        CONFIG,
        """prompts: ['{{q}}']
providers:
  - id: openai:chat:gpt-6-luna
    config: {temperature: 0.2, apiBaseUrl: http://localhost}
  - anthropic:messages:claude-5
  - python:provider.py
  - openai:embedding:small
tests:
  - vars: {q: hello}
    assert: [{type: llm-rubric, value: "Is it {{q}}?", provider: openai:gpt-6-luna}]
""",
    )
    outcome = convert(project, "--partial")
    text = next((project.root / "evals/made").glob("eval_*.py")).read_text("utf-8")
    assert '"model": "openai/gpt-6-luna", "parameters": {"temperature": 0.2}' in text
    assert '"model": "anthropic/claude-5"' in text
    assert 'rubric("llm-rubric", model="openai/gpt-6-luna")' in text
    for place in ("providers[0].config.apiBaseUrl", "providers[2]", "providers[3]"):
        assert place in outcome.output
    assert read_cases(project)[0]["expected"][0]["value"] == "Is it hello?"


def test_cases_have_the_names_of_imported_results(project: Project) -> None:
    """So that imported results are a baseline of the suite."""
    project.write(CONFIG, (IMPORTED / "make" / CONFIG).read_text("utf-8"))
    convert(project, "--partial")
    result = runpy.run_path(str(project.root / "evals/made/eval_capitals.py"))["result"]
    imported = imported_file("promptfoo.json")
    assert len(result.by_variant["plain"].cases) == 8, "four tests, twice"
    for prompt in ("plain", "json"):
        for case in result.by_variant[prompt].cases:
            other = imported.case(case.name, repeat=case.repeat, suite=f"capitals [provider=echo, prompt={prompt}]")
            assert case.output == other.output


class Bot(BaseHTTPRequestHandler):
    """Answers with what it received, at `choices[0].text`."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = {"choices": [{"text": f"{self.path} {self.headers['X-Key']} {json.dumps(body)}"}]}
        self.send_response(500 if body.get("n") == 3 else 200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_: object) -> None: ...


APPLICATIONS = """
description: applications
prompts: ['Say {{word}}']
providers:
  - {id: 'exec:sh bot.sh "two words"', label: program, config: {a: 1}}
  - {id: 'file://bot.py', label: python, config: {suffix: '!'}}
  - {id: 'python:bot.py:answer_later', label: later}
  - id: https
    label: http
    config:
      url: 'ADDRESS/{{word}}'
      method: POST
      headers: {X-Key: '{{env.BOT_KEY}}'}
      body: {q: '{{prompt}}', n: '{{n}}'}
      transformResponse: json.choices[0]["text"]
tests:
  - {vars: {word: hi, n: 1}, assert: [{type: contains, value: hi}]}
  - {vars: {word: ho, n: 3}, assert: [{type: contains, value: ho}]}
"""


def test_programs_python_files_and_addresses_become_tasks(project: Project) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bot)
    Thread(target=server.serve_forever, daemon=True).start()
    project.write(CONFIG, APPLICATIONS.replace("ADDRESS", f"http://127.0.0.1:{server.server_port}"))
    project.write("bot.sh", '[ "$(echo "$4" | grep -c ho)" = 1 ] && exit 7; echo "$1|$2|$3|$4"\n')
    project.write(
        "bot.py",
        "import bot_words\n"
        "def call_api(prompt, options, context):\n"
        "    if context['vars']['word'] == 'ho': return {'error': 'too loud'}\n"
        "    return {'output': bot_words.PREFIX + prompt + options['config']['suffix']}\n"
        "async def answer_later(prompt, options, context): return [prompt]\n",
    )
    project.write("bot_words.py", "PREFIX = '> '\n")
    process = convert(project)
    assert process.exit_code == 0, process.output
    outcome = project.scoregate("run", "evals", "--baseline", "none", BOT_KEY="key-of-bot")
    server.shutdown()
    server.server_close()
    with gzip.open(project.root / "scoregate-out/run/cases.jsonl.gz", "rt", encoding="utf-8") as lines:
        cases = list(map(json.loads, lines))
    outputs = [each.get("output") for each in cases]
    assert 'two words|Say hi|{"config": {"a": 1}}|{"vars": {"word": "hi", "n": 1}}' in outputs
    assert "> Say hi!" in outputs
    assert ["Say hi"] in outputs
    assert any(str(each).startswith("/hi ") and '{"q": "Say hi", "n": 1}' in str(each) for each in outputs), outputs
    text = json.dumps([each.get("errors") for each in cases])
    for message in ("sh exited with code 7", "too loud", "the status is 500"):
        assert message in text, outcome.output
    assert outcome.exit_code == 3


def test_unsupported_applications_are_listed(project: Project) -> None:
    cases = {
        "python:missing.py": "there is no file missing.py",
        "file://../outside.py": "there is no file ../outside.py",
        "exec:": "it names no program",
        "exec:sh 'a": "can't be split",
        "{id: https, config: {method: POST}}": "it needs a url",
        "{id: 'https://a.b', config: {body: 'file://a.json'}}": "read from a file",
        "{id: 'https://a.b', config: {body: {a: '{% if x %}'}}}": "more than variables",
        "{id: 'https://a.b', config: {transformResponse: 'json.a.map(x => x)'}}": "more than a path in json",
        "{id: 'https://a.b', config: {auth: {type: bearer}}}": "this setting of a provider has no counterpart",
    }
    for provider, reason in cases.items():
        quoted = provider if provider.startswith("{") else f'"{provider}"'
        project.write(CONFIG, f"prompts: ['{{{{q}}}}']\nproviders: [{quoted}]\ntests:\n  - vars: {{q: a}}\n")
        outcome = convert(project)
        assert outcome.exit_code == 1, provider
        assert reason in outcome.output, outcome.output
