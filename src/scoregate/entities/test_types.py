"""Of which type a set of tests is, and whether its tests are whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scoregate.entities.test import Test
from scoregate.enums import TestType
from scoregate.errors import EntityError


def set_type(tests: Iterable[Test], said: TestType | None = None) -> TestType:
    """The type that all tests have: what was said where there are none, Single-Turn where nothing was said.

    Raises:
        EntityError: they have both types, or another one than was said.
    """
    found = {test.turns for test in tests} | ({said} if said else set())
    if len(found) > 1:
        raise EntityError(
            f"Cannot create a TestSet with mixed test types: {sorted(kind.value for kind in found)}."
            " Split the tests into separate Single-Turn and Multi-Turn test sets."
        )
    return next(iter(found), TestType.SINGLE_TURN)


def check_tests(tests: Sequence[Test]) -> None:
    """Hold tests to what is needed to keep them.

    Raises:
        EntityError: one has no category or no behavior, or two have one id.
    """
    indexes: dict[str, int] = {}
    for index, test in enumerate(tests):
        if missing := [name for name in test.push_required if getattr(test, name) is None]:
            raise EntityError(f"Test at index {index} is missing required fields: {', '.join(missing)}")
        if test.id and (first := indexes.setdefault(test.id, index)) != index:
            raise EntityError(f"Tests at indexes {first} and {index} have one id, {test.id!r:.60}")
