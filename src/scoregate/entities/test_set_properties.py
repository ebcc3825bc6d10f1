"""The name and descriptions of a test set, suggested by a model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from scoregate.entities.test import Test
from scoregate.errors import ContentFiltered, EntityError, MalformedAnswer
from scoregate.grading.prompts import fill_prompt

if TYPE_CHECKING:
    from scoregate.models import Model

_PROMPT = Path(__file__).parent / "prompts" / "properties.txt"
EXAMPLE_COUNT = 10
_MOST_NAMES, _LONGEST_NAME = 50, 300


# The schema of this class, with its name and docstring, is part of the prompt and of cache keys.
class TestSetProperties(BaseModel):
    """What the model answers."""

    __test__ = False

    name: str = Field(min_length=1, max_length=100, description="Two to five words in Title Case.")
    description: str = Field(min_length=1, max_length=2000)
    short_description: str = Field(min_length=1, max_length=300)


@dataclass(frozen=True, slots=True)
class LabelNames:
    """The labels of tests, each once, sorted."""

    categories: Sequence[str]
    topics: Sequence[str]
    behaviors: Sequence[str]


def suggest_properties(tests: Sequence[Test], about: LabelNames, model: Model) -> TestSetProperties:
    """A name and descriptions by a model; the defaults, with a warning, if its answer is unusable.

    Raises:
        EntityError: there are no tests.
        ModelError: the model cannot be called.
    """
    if not tests:
        raise EntityError("Test set must have at least one test before setting properties")
    try:
        answer = model.generate(properties_prompt(tests, about), schema=TestSetProperties, temperature=0.0)
        return TestSetProperties.model_validate(answer.parsed, from_attributes=True)
    except (MalformedAnswer, ContentFiltered, ValueError) as error:
        warnings.warn(f"the test set is named after its topics: {error!s:.300}", UserWarning, stacklevel=3)
        return default_properties(about)


def properties_prompt(tests: Sequence[Test], about: LabelNames) -> str:
    """The prompt, with the first ten tests. It is the same for the same tests."""
    excerpts = []
    for test in tests[:EXAMPLE_COUNT]:
        prompt = test.prompt.content if test.prompt else ""
        goal = test.test_configuration.goal if test.test_configuration else ""
        excerpts.append(" ".join((prompt or goal).split()))
    blocks = {
        "categories": _name_list(about.categories),
        "topics": _name_list(about.topics),
        "behaviors": _name_list(about.behaviors),
        "tests": _name_list(excerpts),
    }
    return fill_prompt(_PROMPT.read_text(encoding="utf-8"), blocks)


def default_properties(about: LabelNames) -> TestSetProperties:
    """A name and descriptions without a model."""
    shown = ", ".join(about.topics[:3]) or "General"
    return TestSetProperties(
        name=f"Test Set - {shown}"[:100],
        description=f"Tests of {', '.join(about.categories[:3]) or 'several categories'} on {shown}"[:2000],
        short_description=f"Tests on {shown}"[:300],
    )


def _name_list(names: Sequence[str]) -> str:
    rest = len(names) - _MOST_NAMES
    shown = [f"- {name:.{_LONGEST_NAME}}" for name in names[:_MOST_NAMES]]
    return "\n".join(shown + ([f"and {rest} more"] if rest > 0 else []))
