"""Short batches, failed ones, duplicates, budgets: missing tests are requested again, then reported."""

from __future__ import annotations

import re
from math import inf
from typing import Any

import anyio
import pytest
from tests.fakes import writer as fake
from tests.fakes.openai import OpenAIServer, Question, Reply
from tests.integration.synthesizers.batches import batches, questions

from scoregate.errors import MissingKey, SynthesisError
from scoregate.models import Generation, get_model
from scoregate.synthesizers import PromptSynthesizer


def test_short_batches_are_completed(writer: OpenAIServer) -> None:
    writer.answer_with(lambda question: shortened(question, 3) if "batch 1:" in question.last else None)
    test_set = PromptSynthesizer("refunds", batch_size=10).generate(15)
    assert len(test_set.tests or ()) == 15
    assert batches(writer) == [(1, 10), (2, 5), (3, 7)]
    *_, last = questions(writer)
    assert " BEGIN tests that there are\n- Where is refund 1-1?" in last.last


def shortened(question: Question, count: int) -> dict[str, Any]:
    return {"tests": fake.write_tests(question)["tests"][:count]}


def test_extra_tests_are_dropped(writer: OpenAIServer) -> None:
    def generous(question: Question) -> dict[str, Any]:
        return {"tests": [fake.make_test(str(each), question) for each in range(9)]}

    writer.answers(fake.BATCH, generous)
    assert len(PromptSynthesizer("refunds").generate(4).tests or ()) == 4


def test_a_failed_batch_is_halved(writer: OpenAIServer) -> None:
    writer.answers(r"Write 8 tests", Reply('{"tests": [{"prompt_con', finish_reason="length"))
    test_set = PromptSynthesizer("refunds", batch_size=8).generate(8)
    assert len(test_set.tests or ()) == 8
    assert batches(writer) == [(1, 8), (2, 4), (3, 4)]
    assert test_set.metadata["problems"][0].startswith("MalformedAnswer: ")


def test_duplicates_are_replaced_or_reported(writer: OpenAIServer) -> None:
    def same(question: Question) -> dict[str, Any]:
        return {"tests": [fake.make_test("one", question)] * fake.size_of(question)}

    writer.answers(fake.BATCH, same)
    message = r"1 of 5 tests were generated; 16 said what another one does"
    with pytest.warns(UserWarning, match=message):
        test_set = PromptSynthesizer("refunds", retries=3).generate(5)
    assert (len(test_set.tests or ()), test_set.metadata["requested_tests"]) == (1, 5)
    assert (test_set.metadata["num_tests"], test_set.metadata["duplicates_dropped"]) == (1, 16)
    assert batches(writer) == [(1, 5), (2, 4), (3, 4), (4, 4)], "not for ever"


def test_failed_batches_are_reported_and_others_kept(writer: OpenAIServer) -> None:
    writer.filters_content(r"batch ([13456789]):")
    with pytest.warns(UserWarning, match="5 of 10 tests were generated; ContentFiltered: "):
        test_set = PromptSynthesizer("refunds", batch_size=5, retries=1).generate(10)
    assert len(test_set.tests or ()) == 5
    assert batches(writer)[:2] == [(1, 5), (2, 5)]
    assert len(test_set.metadata["problems"]) == 4, "one of five, then two, two and one"


def test_no_tests_are_an_error(writer: OpenAIServer) -> None:
    writer.fail("POST", "*/chat/completions", status=401, times=inf)
    with pytest.raises(SynthesisError, match="Failed to generate any valid test cases: ") as caught:
        PromptSynthesizer("refunds", batch_size=1, max_concurrency=1).generate(5)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value.__cause__, MissingKey)
    assert "OPENAI_API_KEY" in str(caught.value)
    assert len(writer.asked()) == 1, "the other batches are not asked for"


def test_answers_without_a_valid_test_fail(writer: OpenAIServer) -> None:
    writer.answers(fake.BATCH, {"tests": []})
    with pytest.raises(ValueError, match="Failed to generate any valid test cases: no answer held a test"):
        PromptSynthesizer("refunds", retries=1).generate(2)
    assert batches(writer) == [(1, 2), (2, 2)]


def test_a_budget_ends_it_and_tests_are_kept(writer: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREGATE_MAX_COST", "0.003")
    monkeypatch.setenv("SCOREGATE_SPENT", "spent")
    with (
        pytest.warns(UserWarning, match="of 20 tests were generated; BudgetSpent: "),
        pytest.warns(UserWarning, match="named after its topics: the budget is spent"),
    ):
        test_set = PromptSynthesizer("refunds", batch_size=2, max_concurrency=1).generate(20)
    assert 2 <= len(test_set.tests or ()) < 20
    assert [problem.partition(":")[0] for problem in test_set.metadata["problems"]] == ["BudgetSpent"]
    assert (test_set.name, test_set.short_description) == ("Test Set - Refunds", "Tests on Refunds")
    assert len(writer.asked()) == test_set.metadata["batches"] - 1


class Slow:
    """The project's model, whose answers come the later the lower the number of the batch; it counts."""

    def __init__(self) -> None:
        self._model = get_model()
        self.name = self._model.name
        self.generate = self._model.generate
        self.under_way = self.most = 0

    async def a_generate(self, prompt: Any, **options: Any) -> Generation:
        """As a `Model` does."""
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        number = int(re.findall(fake.BATCH, prompt[-1]["content"])[0])
        await anyio.sleep(0.2 / number)
        self.under_way -= 1
        return await self._model.a_generate(prompt, **options)


class Nameless(Slow):
    """It writes tests and fails at their name, in its own way."""

    def __init__(self) -> None:
        super().__init__()
        self.generate = self._fail

    def _fail(self, *_: Any, **__: Any) -> Generation:
        raise ConnectionError("gone")


@pytest.mark.usefixtures("writer")
def test_a_failed_name_loses_no_tests() -> None:
    with pytest.warns(UserWarning, match="named after its topics: gone"):
        test_set = PromptSynthesizer("refunds", model=Nameless()).generate(2)
    assert (len(test_set.tests or ()), test_set.name) == (2, "Test Set - Refunds")


def test_concurrent_questions_are_limited_and_tests_in_order(
    writer: OpenAIServer,
) -> None:
    model = Slow()
    test_set = PromptSynthesizer("refunds", batch_size=1, max_concurrency=3, model=model).generate(8)
    assert model.most == 3
    assert [test.prompt.content for test in test_set.tests or () if test.prompt] == [
        f"Where is refund {number}-1?" for number in range(1, 9)
    ]
    assert len(writer.asked()) == 9


def test_progress_only_increases_to_the_total(writer: OpenAIServer) -> None:
    writer.answer_with(lambda question: shortened(question, 1) if "batch 2:" in question.last else None)
    seen: list[tuple[int, int]] = []
    PromptSynthesizer("refunds", batch_size=4).generate(12, on_progress=lambda *told: seen.append(told))
    assert [total for _, total in seen] == [12] * 4
    assert [count for count, _ in seen] == sorted(count for count, _ in seen)
    assert seen[-1] == (12, 12)
