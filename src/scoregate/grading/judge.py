"""Ask a model to grade: it gives its reason first, then one of several choices, or a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from scoregate.errors import ModelGone, RefusedRequest
from scoregate.grading.grade import Grade
from scoregate.grading.media import Question, make_question
from scoregate.grading.prompts import Template, render_question, system_prompt

if TYPE_CHECKING:
    from pydantic import BaseModel

    from scoregate.models import Model


def get_scorer_model(model: str | Model | None) -> Model:
    """The model that a scorer asks: the given one, or the project's, or `SCORER_DEFAULT`.

    Raises:
        ModelError: the name is invalid.
        MissingExtra: a package is not installed.
    """
    from scoregate.models import get_model
    from scoregate.models.providers import SCORER_DEFAULT

    return get_model(model, default=SCORER_DEFAULT)


def name_scorer_model(model: str | Model | None) -> str:
    """The name of the model that a scorer asks, for its fingerprint."""
    from scoregate.models.openai_model import name_of
    from scoregate.models.providers import SCORER_DEFAULT

    return name_of(model, default=SCORER_DEFAULT)


async def ask_choice(model: Model, prompt: str, choices: Sequence[str], *, turns: int = 0) -> Grade:
    """Ask a model to choose.

    Args:
        model: the model.
        prompt: the question, with what is graded.
        choices: the possible answers, at least one.
        turns: the number of turns of a conversation; the model then names the relevant ones.

    Returns:
        A grade without a score; its value is the choice.

    Raises:
        ModelError: the model gives no answer, or none of the choices.
        MediaError: the prompt has too many images or recordings, or unknown ones.
        MissingExtra: a package is not installed.
    """
    question = make_question(prompt)
    return _to_grade(await _send(model, question, _choice_schema(tuple(choices), turns)), question.text, turns)


async def ask_number(model: Model, prompt: str, *, low: float, high: float, turns: int = 0) -> Grade:
    """Ask a model for a number.

    Args:
        model: the model.
        prompt: the question, with what is graded.
        low: the lowest possible answer.
        high: the highest possible answer.
        turns: the number of turns of a conversation; the model then names the relevant ones.

    Returns:
        A grade without a score; its value is the number.

    Raises:
        ModelError: the model gives no answer, or no such number.
        MediaError: the prompt has too many images or recordings, or unknown ones.
        MissingExtra: a package is not installed.
    """
    question = make_question(prompt)
    return _to_grade(await _send(model, question, _number_schema(low, high, turns)), question.text, turns)


async def ask(model: Model, prompt: str, schema: type[BaseModel]) -> Any:
    """Send a question with the system prompt of all judges.

    Returns:
        The answer, an instance of the schema.

    Raises:
        ModelError: the model gives no such answer.
        MediaError: the prompt has too many images or recordings, or unknown ones.
        MissingExtra: a package is not installed.
    """
    return await _send(model, make_question(prompt), schema)


async def ask_about_texts(model: Model, prompt: str, schema: type[BaseModel]) -> Any:
    """The same for a prompt whose images and audio stay texts, because others wrote it, such as authors of passages.

    Raises:
        ModelError: the model gives no such answer.
        MissingExtra: a package is not installed.
    """
    return await _send(model, Question(prompt), schema)


async def _send(model: Model, question: Question, schema: type[BaseModel]) -> Any:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": system_prompt()},
        {"role": "user", "content": question.content()},
    ]
    try:
        # As repeatable as the model allows.
        return (await model.a_generate(messages, schema=schema, temperature=0.0)).parsed
    except (RefusedRequest, ModelGone) as error:
        if not question.media:
            raise
        raise question.explain(error) from None


def _to_grade(answer: Any, prompt: str, turns: int) -> Grade:
    details = {"relevant_turns": sorted({*answer.relevant_turns})} if turns else {}
    return Grade(answer.answer, answer.reason, prompt=prompt, details=details)


@lru_cache(maxsize=256)
def _choice_schema(choices: tuple[str, ...], turns: int) -> type[BaseModel]:
    return _answer_schema(Literal[choices], turns)


@lru_cache(maxsize=256)
def _number_schema(low: float, high: float, turns: int) -> type[BaseModel]:
    from pydantic import Field

    return _answer_schema(Annotated[float, Field(ge=low, le=high, allow_inf_nan=False)], turns)


def _answer_schema(answer: Any, turns: int) -> type[BaseModel]:
    """The schema of an answer. The reason is the first field, so the answer follows from it."""
    from pydantic import Field, create_model

    relevant: Any = {"relevant_turns": turns_field(turns)} if turns else {}
    # Cache keys contain the schema, with its name and its descriptions.
    return create_model(
        "Judgement",
        reason=(str, Field(description="Why, in a few sentences; written before the answer is chosen.")),
        **relevant,
        answer=(answer, Field(description="The answer that follows from the reason.")),
    )


def turns_field(turns: int) -> Any:
    """The schema field for the numbers of the relevant turns of a conversation with this many."""
    from pydantic import Field

    number = Annotated[int, Field(ge=1, le=turns)]
    return list[number], Field(description="The numbers of the turns that the reason rests on.")


# Fingerprints contain the default criteria.
BATTLE_CRITERIA = (
    "The better output is the more helpful one: it does what was asked for, is correct and clear, and leaves out what "
    "nobody needs."
)
_FIRST, _SECOND, _EQUAL = "First", "Second", "Equal"
_CHOICES = (_FIRST, _SECOND, _EQUAL)
_MIRRORED = {_FIRST: _SECOND, _SECOND: _FIRST, _EQUAL: _EQUAL}
_SCORES = {_FIRST: 0.0, _EQUAL: 0.5, _SECOND: 1.0}


async def judge_battle(
    model: Model,
    baseline: str,
    challenger: str,
    *,
    criteria: str,
    input_text: str | None = None,
    examples: Sequence[Mapping[str, str]] = (),
) -> Grade:
    """Ask which of two outputs is better, once in each order. Different answers are a tie, and so are equal outputs.

    Args:
        model: the model.
        baseline: the output to beat.
        challenger: the new output.
        criteria: what makes an output better.
        input_text: the question that both outputs answer.
        examples: the examples as `render_question` takes them.

    Returns:
        The challenger's grade: 1 if it wins, 0.5 for a tie, else 0. It has the reasons and prompts of both orders.

    Raises:
        ModelError: the model gives no answer.
        MissingExtra: a package is not installed.
    """
    if baseline == challenger:
        return Grade(_EQUAL, "the outputs are the same", _SCORES[_EQUAL])
    grades = []
    for first, second in ((baseline, challenger), (challenger, baseline)):
        blocks = {"input": input_text, "first output": first, "second output": second}
        prompt = render_question(Template.BATTLE, blocks, examples=examples, values={"criteria": criteria})
        grades.append(await ask_choice(model, prompt, _CHOICES))
    winner, mirrored = str(grades[0].value), _MIRRORED[str(grades[1].value)]
    winner = winner if winner == mirrored else _EQUAL
    reason = " / ".join(grade.reason for grade in grades)
    return Grade(winner, reason, _SCORES[winner], prompt="\n\n".join(grade.prompt for grade in grades))
