"""Tests as cases of a suite: under what they are known by, described by what they ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from zlib import crc32

from scoregate.core.naming import LONGEST_NAME
from scoregate.core.parts import Origin
from scoregate.core.suite import Case, Description
from scoregate.core.wire import dump
from scoregate.engine.origin import relative
from scoregate.entities.execution.asked import Asked, said


def cases_of(tests: Iterable[Asked], repeats: int) -> Iterator[Case]:
    """A case for each test, under its own id or a digest of what it asks; those that are alike are numbered."""
    seen: Counter[str] = Counter()
    for test in tests:
        key = test.own_id or _digest(test)
        seen[key] += 1
        yield Case(key if seen[key] == 1 else f"{key}#{seen[key]}", test, repeats)


def describe(case: Case) -> Description:
    """The test as the record tells it."""
    test: Asked = case.value
    body = dict(said(test))
    name = " ".join(next(iter(body.values()), case.hash)[: 4 * LONGEST_NAME].split())[:LONGEST_NAME]
    if test.prompt is not None and test.prompt.expected_response is not None:
        body["expected_response"] = test.prompt.expected_response
    if test.behavior:
        body["behavior"] = test.behavior
    labels = (test.category, test.topic, test.behavior)
    tags = tuple(dict.fromkeys(label for label in labels if label))
    return Description(name or case.hash[:LONGEST_NAME], body, f"{crc32(_plain(body)):08x}", tags, None, _origin(test))


def _origin(test: Asked) -> Origin | None:
    if test.source is None or test.source_line is None:
        return None
    return Origin(relative(test.source), test.source_line)


def _digest(test: Asked) -> str:
    return blake2b(_plain(list(said(test))), digest_size=12).hexdigest()


def _plain(said: object) -> bytes:
    """As JSON, with line feeds: a table that was checked out on Windows asks the same."""
    return dump(said).replace(rb"\r\n", rb"\n")
