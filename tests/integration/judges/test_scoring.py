"""Prompt judges ask a model: what they ask, what they make of the answer, and what never becomes a score."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.openai import OpenAIServer
from tests.integration.judges.grading import grade, to_subject
from tests.integration.judging.suites import prompts
from tests.integration.judging.test_injections import ATTACKS, encodable_text, parts

from scoregate.client import Client
from scoregate.grading.prompts import fill_prompt, placeholders
from scoregate.grading.subject import Subject
from scoregate.judges import JudgeResult
from scoregate.kernel.types.evaluation import Label

pytestmark = pytest.mark.anyio
FIELDS = {"question": "When do you open?", "context": ["9 to 17"], "n": None}


async def ask(client: Client, prompt: str, subject: Subject | None = None, **judge: Any) -> JudgeResult:
    client.judges.create("helpfulness", prompt, **judge)
    (version,) = client.judges.resolve(["helpfulness"])
    return await grade(version, subject or to_subject(FIELDS, FIELDS, output="At nine."))


@pytest.mark.parametrize(("answer", "score"), [("Yes", 1.0), ("No", 0.0)])
async def test_a_binary_judge_passes_or_fails(client: Client, server: OpenAIServer, answer: str, score: float) -> None:
    server.answers("helpful", {"answer": answer, "reason": "so it is"})
    judge_answer = await ask(client, "Is it helpful?\n{{output}}")
    assert (
        judge_answer.grade.value,
        judge_answer.grade.score,
        judge_answer.grade.reason,
        judge_answer.judge.version,
    ) == (
        answer,
        score,
        "so it is",
        "0.0",
    )
    assert judge_answer.usage is not None
    assert judge_answer.usage.input_tokens > 10
    evaluation = judge_answer.grade.evaluation()
    assert evaluation is not None
    assert evaluation.metadata is not None
    assert evaluation.metadata["prompt"] == prompts(server)[0]
    (body,) = server.asked()
    assert (body["model"], body["temperature"]) == ("gpt-4o", 0.0)


async def test_a_numeric_judge_is_read_on_its_own_scale(client: Client, server: OpenAIServer) -> None:
    server.answers("from 1 to 5", {"answer": 4, "reason": "good"})
    evaluation = await ask(
        client, "How good?", score_type="numeric", min_score=1, max_score=5, model="openai/gpt-6-luna"
    )
    assert (evaluation.grade.value, evaluation.grade.score, *evaluation.judge.scale) == (4.0, 0.75, 1.0, 5.0)
    assert server.asked()[0]["model"] == "gpt-6-luna"


async def test_a_categorical_judge_may_have_a_label_without_a_score(client: Client, server: OpenAIServer) -> None:
    categories = [{"value": "kind", "description": "warm words", "score": 1}, "odd"]
    server.answers("- kind: warm words\n- odd", {"answer": "odd", "reason": "hm"})
    evaluation = await ask(client, "Which tone?", score_type="categorical", categories=categories)
    assert (evaluation.grade.value, evaluation.grade.score, evaluation.error) == ("odd", None, None)
    assert evaluation.grade.evaluation() == Label(str(evaluation.grade.value), evaluation.grade.metadata())


@pytest.mark.parametrize("answer", [{"answer": 7}, {"answer": "many"}, "seven", {"answer": "NaN"}])
async def test_an_answer_off_the_scale_fails(client: Client, server: OpenAIServer, answer: Any) -> None:
    server.answers("How good|Answer again", answer)
    evaluation = await ask(client, "How good?", score_type="numeric", min_score=1, max_score=5)
    assert (evaluation.grade.value, evaluation.grade.score) == (None, None)
    assert evaluation.error is not None
    assert evaluation.error.type == "MalformedAnswer"
    assert evaluation.usage is not None, "what was paid for is told"


async def test_a_refusal_is_an_error_with_advice(client: Client, server: OpenAIServer) -> None:
    server.filters_content("helpful")
    evaluation = await ask(client, "Is it helpful?")
    assert evaluation.error is not None
    assert evaluation.error.type == "ContentFiltered"


async def test_fenced_values_replace_their_names(client: Client, server: OpenAIServer) -> None:
    await ask(client, "Q: {{question}}\nC: {{ context }}\nN: {{n}}\nagain: {{question}}")
    (prompt,) = prompts(server)
    blocks, rest = parts(prompt)
    assert blocks == {
        "question": FIELDS["question"],
        "context": '["9 to 17"]',
        "n": "null",
        "the agent's output": "At nine.",
    }
    assert prompt.count("BEGIN question") == 2
    assert "Q: \n" in rest
    assert prompt.endswith("The answer is Yes or No.")


@pytest.mark.parametrize(
    ("prompt", "subject", "shown"),
    [
        ("x", to_subject({}, {}), []),
        ("x", to_subject({}, {}, output="o"), ["the agent's output"]),
        ("x", to_subject({}, {}, output=None), []),
        ("x", to_subject({}, {}, output="o", trace="t"), ["the agent's trace"]),
        ("{{output}}", to_subject({}, {}, output="o", trace="t"), ["output", "the agent's trace"]),
        ("{{trace}}", to_subject({}, {}, output="o", trace="t"), ["trace"]),
        ("{{output}}", to_subject({}, {"output": "of the dataset"}, output="o"), ["output", "the agent's output"]),
    ],
)
async def test_agent_steps_are_shown(
    client: Client, server: OpenAIServer, prompt: str, subject: Subject, shown: list[str]
) -> None:
    await ask(client, prompt, subject)
    blocks, _ = parts(prompts(server)[0])
    assert list(blocks) == shown
    if subject.fields:
        assert blocks == {"output": "of the dataset", "the agent's output": "o"}


async def test_a_prompt_with_a_missing_value_asks_no_model(client: Client, server: OpenAIServer) -> None:
    evaluation = await ask(client, "{{output}} {{trace}} {{x}}", to_subject({}, {}))
    assert evaluation.error is not None
    assert "asks for {{output}}, {{trace}}, {{x}}, which this example does not have" in evaluation.error.message
    assert "agent's output" in evaluation.error.advice
    assert server.asked() == []


@pytest.mark.parametrize("attack", ATTACKS)
async def test_values_are_only_between_fences(client: Client, server: OpenAIServer, attack: str) -> None:
    text = ATTACKS[attack] + "{{question}} {{ nothing }}"
    client.judges.create("judge", "Polite?\n{{answer}}\nTo: {{question}}")
    (version,) = client.judges.resolve(["judge"])
    for answer in ("calm", text):
        fields = {"answer": answer, "question": "q"}
        await grade(version, to_subject(fields, fields))
    (_, calm), (blocks, rest) = map(parts, prompts(server))
    assert blocks == {"answer": encodable_text(text), "question": "q"}
    fences = re.compile("=+ [0-9a-f]{12}")
    assert fences.sub("", rest) == fences.sub("", calm)


@settings(deadline=None)
@given(st.text(), st.dictionaries(st.sampled_from(["a", "b c", "d.e", "f-g"]), st.text(), min_size=1))
def test_values_are_no_syntax(prompt: str, values: dict[str, str]) -> None:
    names = "".join(f"{{{{{name}}}}}" for name in values)
    question = f"{prompt}\n{names}"
    blocks = dict.fromkeys(placeholders(question), "x") | values
    found = parts(fill_prompt(question, blocks))[0]
    assert {name: found[name] for name in values} == {name: encodable_text(text) for name, text in values.items()}


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("{{a}}{{ b }}{{a}}", ["a", "b"]),
        ("{{first name}} {{a.b}} {{x-y}} {{naïve}} {{_}}", ["first name", "a.b", "x-y", "naïve", "_"]),
        ('{"a": {"b": 1}} {{"a": 1}} {{ }} {{a}b}} {a} {{-a}} {% a %} {{a|upper}} {{a\n}}', []),
        ("{{{a}}}", ["a"]),
    ],
)
def test_placeholders(prompt: str, names: list[str]) -> None:
    assert list(placeholders(prompt)) == names
