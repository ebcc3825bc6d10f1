"""Each synthesizer gives a test set: whole, named, of one type, with what made it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.openai import OpenAIServer
from tests.integration.synthesizers.batches import batches, questions

from scoregate.entities import TestSet, TestSets, use_store
from scoregate.enums import TestType
from scoregate.models import get_model
from scoregate.synthesizers import (
    ConfigSynthesizer,
    ContextSynthesizer,
    GenerationConfig,
    MultiTurnSynthesizer,
    PromptSynthesizer,
    Source,
    Synthesizer,
)


def contents(test_set: TestSet) -> list[str]:
    return [test.prompt.content for test in test_set.tests or () if test.prompt]


def test_surplus_tests_are_kept_and_calls_not_repeated(writer: OpenAIServer, tmp_path: Path) -> None:
    test_set = PromptSynthesizer("refunds", batch_size=10).generate(num_tests=25)
    assert len(set(contents(test_set))) == 25
    assert contents(test_set)[:2] == ["Where is refund 1-1?", "Where is refund 1-2?"]
    assert contents(test_set)[-1] == "Where is refund 3-5?"
    assert batches(writer) == [(1, 10), (2, 10), (3, 5)]
    request_count = len(writer.asked())
    second = PromptSynthesizer("refunds", batch_size=10).generate(num_tests=25)
    assert second == test_set
    assert len(writer.asked()) == request_count, "all was in the cache"
    more = PromptSynthesizer("refunds", batch_size=10).generate(num_tests=30)
    assert len(more.tests or ()) == 30
    assert batches(writer)[3:] == [(3, 10)], "the first batches are the same"
    with use_store(tmp_path):
        test_set.push()
        assert TestSets.pull(name="Refunds").metadata == test_set.metadata


def test_a_set_has_its_origin(writer: OpenAIServer) -> None:
    test_set = PromptSynthesizer("refunds").generate()
    assert (test_set.name, test_set.description, test_set.test_set_type) == (
        "Refunds",
        "What customers ask about refunds.",
        TestType.SINGLE_TURN,
    )
    assert test_set.metadata == {
        "synthesizer": "PromptSynthesizer",
        "model": "openai/gpt-4o",
        "batch_size": 20,
        "num_tests": 5,
        "requested_tests": 5,
        "batches": 1,
        "duplicates_dropped": 0,
        "duplicates_by": "rapidfuzz ratio 0.9",
    }
    assert {test.metadata["generated_by"] for test in test_set.tests or ()} == {"PromptSynthesizer"}
    assert writer.asked()


@pytest.mark.parametrize("refused", [(), ("json_schema",), ("json_schema", "tools")])
def test_names_can_be_given(writer: OpenAIServer, refused: tuple[str, ...]) -> None:
    writer.does_not_take(*refused)
    names = (["Pays back"], ["Support"], ["Refunds"])
    test_set = Synthesizer("refunds", *names, model="openai/gpt-4o-mini").generate(3)
    assert (test_set.behaviors, test_set.categories, test_set.topics) == names
    by_config = ConfigSynthesizer(GenerationConfig(generation_prompt="refunds", behaviors=("A", "B"))).generate(3)
    assert by_config.behaviors == ["A"]


def test_a_context_is_needed_and_fenced(writer: OpenAIServer) -> None:
    synthesizer = ContextSynthesizer("refunds")
    with pytest.raises(ValueError, match="needs a context"):
        synthesizer.generate(3)
    test_set = synthesizer.generate(3, context="We sell shoes.")
    assert len(test_set.tests or ()) == 3
    (prompts,) = questions(writer)
    assert " BEGIN context\nWe sell shoes.\n=====" in prompts.last


def test_conversations_have_their_type(writer: OpenAIServer) -> None:
    test_set = MultiTurnSynthesizer(GenerationConfig(generation_prompt="refunds")).generate(25)
    assert batches(writer) == [(1, 10), (2, 10), (3, 5)]
    assert (len(test_set.tests or ()), test_set.test_set_type) == (25, TestType.MULTI_TURN)
    assert test_set.name == "Refunds (Multi-Turn)"
    first = (test_set.tests or [])[0].test_configuration
    assert first is not None
    assert (first.goal, first.scenario, first.min_turns, first.max_turns) == (
        "Get refund 1-1",
        "Shoes that were worn",
        2,
        6,
    )


def test_sources_are_spread_over_the_tests(writer: OpenAIServer, tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text("Refunds within thirty days. " * 20)
    sources = ["rules.md", Source("hours", "We open at nine.")]
    test_set = PromptSynthesizer("refunds", sources=sources, chunk_size=200).generate(8)
    drawn = [each for test in test_set.tests or () for each in test.metadata["sources"]]
    assert drawn[0] == {"source": "rules.md", "chunk": 1}
    assert drawn[-1] == {"source": "hours", "chunk": 1}
    expected = {name: test_set.metadata[name] for name in ("documents_used", "contexts_total", "contexts_used")}
    assert expected == {"documents_used": ["rules.md", "hours"], "contexts_total": 4, "contexts_used": 4}
    assert (test_set.metadata["coverage_percent"], test_set.metadata["tests_per_context"]) == (100.0, 2.0)
    assert "We open at nine." in questions(writer)[-1].last


@pytest.mark.anyio
async def test_it_works_in_a_loop_with_a_custom_model(writer: OpenAIServer) -> None:
    synthesizer = PromptSynthesizer("refunds", model=get_model("openai/other"))
    assert len((await synthesizer.a_generate(3)).tests or ()) == 3
    assert len(synthesizer.generate(4).tests or ()) == 4
    assert {body["model"] for body in writer.asked()} == {"other"}
