"""Tests as cases of a suite: their keys, and how the record describes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, Protocol
from zlib import crc32

from scoregate.engine.imports import relative_path
from scoregate.enums import TestType
from scoregate.kernel.types.event_values import Origin
from scoregate.kernel.types.identity import select_short_fields
from scoregate.kernel.types.json_io import dump
from scoregate.kernel.types.suite import Case, Description
from scoregate.kernel.types.text import LONGEST_NAME

REQUIRED_CONTENT = {TestType.SINGLE_TURN: "a prompt", TestType.MULTI_TURN: "a goal"}


class PromptLike(Protocol):
    """The message of a single-turn test, such as `entities.Prompt`."""

    @property
    def id(self) -> str | None:
        """The id of the prompt."""

    @property
    def content(self) -> str:
        """The message."""

    @property
    def expected_response(self) -> str | None:
        """A good answer, if the test has one."""


class ConfigurationLike(Protocol):
    """The plan of a conversation, such as `entities.TestConfiguration`."""

    @property
    def goal(self) -> str:
        """What the simulated user wants."""

    @property
    def instructions(self) -> str:
        """How the user proceeds."""

    @property
    def scenario(self) -> str:
        """Who the user is, and in which situation."""

    @property
    def restrictions(self) -> str:
        """What the assistant must not do."""

    @property
    def max_turns(self) -> int | None:
        """The most turns."""

    @property
    def min_turns(self) -> int | None:
        """The fewest turns."""

    def to_dict(self) -> dict[str, object]:
        """All fields as JSON."""


class TestLike(Protocol):
    """A test, such as `entities.Test`. This package does not import the entities: they import it."""

    @property
    def id(self) -> str | None:
        """The id of the test."""

    @property
    def category(self) -> str | None:
        """The category of the test."""

    @property
    def topic(self) -> str | None:
        """The topic of the test."""

    @property
    def behavior(self) -> str | None:
        """The behavior that the answer should show."""

    @property
    def prompt(self) -> PromptLike | None:
        """The message of a single-turn test."""

    @property
    def test_configuration(self) -> ConfigurationLike | None:
        """The plan of a multi-turn test."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What else is known about the test, such as the document that it is about."""

    @property
    def source(self) -> str | None:
        """The file that the test was read from."""

    @property
    def source_line(self) -> int | None:
        """The line of the test in that file."""

    @property
    def own_id(self) -> str | None:
        """The id that identifies the test in every run; None if it has none."""

    @property
    def turns(self) -> TestType:
        """Whether the test is a single question or a conversation."""


def make_cases(tests: Iterable[TestLike], repeats: int) -> Iterator[Case]:
    """A case for each test. Its key is the test's own id or a digest of its content; equal keys are numbered."""
    counts: Counter[str] = Counter()
    for test in tests:
        content = _stable_json(list(test_texts(test)))
        key = test.own_id or blake2b(content, digest_size=12).hexdigest()
        counts[key] += 1
        yield Case(key if counts[key] == 1 else f"{key}#{counts[key]}", test, repeats)


def test_texts(test: TestLike) -> Iterator[tuple[str, str]]:
    """The texts that define a test, by field, without empty ones. The first is its title."""
    plan = test.test_configuration
    if test.turns is TestType.SINGLE_TURN or plan is None:
        if test.prompt:
            yield "prompt", test.prompt.content
        return
    for name in ("goal", "instructions", "scenario", "restrictions"):
        if text := getattr(plan, name):
            yield name, text


def describe_case(case: Case) -> Description:
    """The description of a test in the record."""
    test: TestLike = case.value
    body: dict[str, Any] = dict(test_texts(test))
    name = " ".join(next(iter(body.values()), case.hash)[: 4 * LONGEST_NAME].split())[:LONGEST_NAME]
    if test.prompt is not None and test.prompt.expected_response is not None:
        body["expected_response"] = test.prompt.expected_response
    if test.behavior:
        body["behavior"] = test.behavior
    labels = (test.category, test.topic, test.behavior)
    tags = tuple(dict.fromkeys(label for label in labels if label))
    digest = f"{crc32(_stable_json(body)):08x}"
    # Not in the digest: metadata doesn't define the test.
    if metadata := select_short_fields({"category": test.category, "topic": test.topic, **test.metadata}):
        body["metadata"] = metadata
    cluster = metadata.get("cluster")
    origin = None
    if test.source is not None and test.source_line is not None:
        origin = Origin(relative_path(test.source), test.source_line)
    return Description(
        name or case.hash[:LONGEST_NAME], body, digest, tags, None if cluster is None else str(cluster), origin
    )


def _stable_json(value: object) -> bytes:
    """JSON with line feeds only: a table that git checks out on Windows defines the same tests."""
    return dump(value).replace(rb"\r\n", rb"\n")
