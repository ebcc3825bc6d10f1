"""Verdicts of a model: one for each claim of a text, or for each of several numbered items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from scoregate.grading.judge import ask_about_texts
from scoregate.grading.prompts import Template, describe_pair, render_question

if TYPE_CHECKING:
    from pydantic import BaseModel

    from scoregate.models import Model

_YES, _NO = "Yes", "No"
_MOST_CLAIMS, _MOST_ITEMS = 200, 100
_REASON = "Why, in one sentence; written before the answer is chosen."


class Verdict(NamedTuple):
    """The model's answer for one claim or item.

    Attributes:
        text: the claim, or the item.
        holds: whether the answer is yes.
        reason: why.
    """

    text: str
    holds: bool
    reason: str


class Answers(NamedTuple):
    """The model's answers to one question.

    Attributes:
        verdicts: one for each claim or item, in order.
        prompt: the question.
    """

    verdicts: Sequence[Verdict]
    prompt: str


async def ask_about_claims(model: Model, subject: str, criterion: str, blocks: Mapping[str, str]) -> Answers:
    """Ask a model for the claims of a text, and whether a criterion holds for each.

    Args:
        model: the model.
        subject: the text whose claims are listed: "the output".
        criterion: the end of the question: "supported by the context?"
        blocks: the texts, by name.

    Raises:
        ModelError: the model gives no such answers.
        MissingExtra: a package is not installed.
    """
    values = {"subject": subject, "criterion": criterion, "answers": describe_pair(_YES, _NO)}
    prompt = render_question(Template.CLAIMS, blocks, values=values)
    answer = await ask_about_texts(model, prompt, _claims_schema())
    return Answers([Verdict(each.claim, each.answer == _YES, each.reason) for each in answer.claims], prompt)


async def ask_about_items(
    model: Model, item: str, criterion: str, blocks: Mapping[str, str], items: Sequence[str]
) -> Answers:
    """Ask a model whether a criterion holds for each of several numbered items.

    Args:
        model: the model.
        item: what the items are, for the question: "passage".
        criterion: the question about one of them.
        blocks: the other texts, by name.
        items: the items, at least one.

    Raises:
        ValueError: there are too many items.
        ModelError: the model gives no such answers.
        MissingExtra: a package is not installed.
    """
    if len(items) > _MOST_ITEMS:
        raise ValueError(f"a question has at most {_MOST_ITEMS} of {item}s, and here are {len(items):,}")
    numbered = {f"{item} {number}": text for number, text in enumerate(items, 1)}
    values = {"item": item, "criterion": criterion, "count": str(len(items)), "answers": describe_pair(_YES, _NO)}
    prompt = render_question(Template.PASSAGES, {**blocks, **numbered}, values=values)
    answer = await ask_about_texts(model, prompt, _items_schema(len(items)))
    found = {each.number: each for each in answer.answers}
    texts = enumerate(items, 1)
    return Answers([Verdict(text, found[at].answer == _YES, found[at].reason) for at, text in texts], prompt)


@lru_cache(maxsize=1)
def _claims_schema() -> type[BaseModel]:
    from pydantic import Field, create_model

    claim: Any = _verdict_schema("Claim", claim=(str, Field(description="The claim, in one sentence.")))
    claims: Any = Annotated[list[claim], Field(max_length=_MOST_CLAIMS)]
    return create_model("Claims", claims=(claims, Field(description="The claims; empty if there are none.")))


@lru_cache(maxsize=256)
def _items_schema(count: int) -> type[BaseModel]:
    from pydantic import AfterValidator, Field, create_model

    number = (Annotated[int, Field(ge=1, le=count)], Field(description="The number."))
    item: Any = _verdict_schema("Item", number=number)

    def check_numbers(answers: list[Any]) -> list[Any]:
        """Each number once: a missing one has no score, and of two answers neither is certain."""
        if sorted(each.number for each in answers) != list(range(1, count + 1)):
            raise ValueError(f"each number from 1 to {count} needs one answer")
        return answers

    answers: Any = Annotated[list[item], AfterValidator(check_numbers)]
    return create_model("Items", answers=(answers, Field(description=f"One for each number from 1 to {count}.")))


def _verdict_schema(name: str, **subject: Any) -> type[BaseModel]:
    """The schema of one verdict: its subject, the reason, and the answer that follows from it."""
    from pydantic import Field, create_model

    answer: Any = Literal["Yes", "No"]
    return create_model(
        name,
        **subject,
        reason=(str, Field(description=_REASON)),
        answer=(answer, Field(description="The answer that follows from the reason.")),
    )
