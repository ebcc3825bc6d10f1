"""What a test set is called, by a model that is told what its tests are about."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from scoregate.entities.test import Test
from scoregate.errors import ContentFiltered, EntityError, MalformedAnswer
from scoregate.judging import filled

if TYPE_CHECKING:
    from scoregate.models import Model

_PROMPT = Path(__file__).parent / "prompts" / "properties.txt"
SHOWN = 10
_MOST_NAMES, _LONGEST = 50, 300


class TestSetProperties(BaseModel):
    """What the model answers."""

    __test__ = False

    name: str = Field(min_length=1, max_length=100, description="Two to five words in Title Case.")
    description: str = Field(min_length=1, max_length=2000)
    short_description: str = Field(min_length=1, max_length=300)


@dataclass(frozen=True, slots=True)
class About:
    """What tests are about: names, each once, sorted."""

    categories: Sequence[str]
    topics: Sequence[str]
    behaviors: Sequence[str]


def properties_of(tests: Sequence[Test], about: About, model: Model) -> TestSetProperties:
    """A name and descriptions for tests; plain ones, with a warning, where the model's answer is of no use.

    The first ten tests are shown to the model.

    Raises:
        EntityError: there are no tests. ModelError: the model cannot be asked.
    """
    if not tests:
        raise EntityError("Test set must have at least one test before setting properties")
    try:
        answer = model.generate(question(tests, about), schema=TestSetProperties, temperature=0.0)
        return TestSetProperties.model_validate(answer.parsed, from_attributes=True)
    except (MalformedAnswer, ContentFiltered, ValueError) as error:
        warnings.warn(f"the test set is named after its topics: {error!s:.300}", UserWarning, stacklevel=3)
        return plain_properties(about)


def question(tests: Sequence[Test], about: About) -> str:
    """What the model is asked; the same for the same tests."""
    blocks = {
        "categories": _lines(about.categories),
        "topics": _lines(about.topics),
        "behaviors": _lines(about.behaviors),
        "tests": _lines([_start(test) for test in tests[:SHOWN]]),
    }
    return filled(_PROMPT.read_text(encoding="utf-8"), blocks)


def plain_properties(about: About) -> TestSetProperties:
    """A name and descriptions that no model is asked for."""
    shown = ", ".join(about.topics[:3]) or "General"
    return TestSetProperties(
        name=f"Test Set - {shown}"[:100],
        description=f"Tests of {', '.join(about.categories[:3]) or 'several categories'} on {shown}"[:2000],
        short_description=f"Tests on {shown}"[:300],
    )


def _lines(names: Sequence[str]) -> str:
    rest = len(names) - _MOST_NAMES
    shown = [f"- {name:.{_LONGEST}}" for name in names[:_MOST_NAMES]]
    return "\n".join(shown + ([f"and {rest} more"] if rest > 0 else []))


def _start(test: Test) -> str:
    said = test.prompt.content if test.prompt else ""
    goal = test.test_configuration.goal if test.test_configuration else ""
    return " ".join((said or goal).split())
