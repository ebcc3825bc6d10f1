"""A test: one question with what is expected of the answer, or a conversation with a goal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self
from uuid import uuid4

from pydantic import Field, model_validator

from scoregate.entities.base import Entity
from scoregate.entities.endpoint import Endpoint
from scoregate.entities.execution.terms import Terms
from scoregate.entities.placing import drop_test, find_test, put_test
from scoregate.entities.prompt import Prompt
from scoregate.entities.test_configuration import TestConfiguration
from scoregate.enums import TestType
from scoregate.errors import EntityError
from scoregate.store import current_store
from scoregate.store.rows import line_of
from scoregate.store.test_lines import StoredTest

if TYPE_CHECKING:
    from scoregate.models import Model

__all__ = ["Test", "TestConfiguration", "json_of", "line_of_test"]

_LABELS = ("category", "topic", "behavior")
_OTHER_NAMES = {"requirement": "behavior", "test_metadata": "metadata"}


# Ids that this process has given, which another run of it would not give again.
_NEW_IDS: set[str] = set()
_CONFIGURATION = tuple(TestConfiguration.model_fields)


class Test(Entity):
    """A test case. `behavior` is what the answer is to show; it may also be given as `requirement`.

    A conversation is described by `test_configuration`, or by `goal`, `instructions`, `restrictions`, `scenario`,
    `max_turns` and `min_turns` among the arguments. Without a `test_type` it is a conversation if it has a goal.
    `source` and `source_line`, counted from 1, say which file it was read from; they are not kept.
    """

    __test__: ClassVar[bool] = False
    push_required = ("category", "behavior")

    category: str | None = None
    topic: str | None = None
    behavior: str | None = None
    prompt: Prompt | None = None
    test_type: TestType | None = None
    test_configuration: TestConfiguration | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    source: str | None = Field(default=None, exclude=True, repr=False)
    source_line: int | None = Field(default=None, exclude=True, repr=False)

    @property
    def own_id(self) -> str | None:
        """Its id, if it is known by that from run to run: not one that it has just been given."""
        return None if self.id in _NEW_IDS else self.id

    @property
    def requirement(self) -> str | None:
        """The behavior."""
        return self.behavior

    @property
    def turns(self) -> TestType:
        """Its type, which a test that does not say has by whether it has a goal."""
        return self.test_type or (TestType.MULTI_TURN if self.test_configuration else TestType.SINGLE_TURN)

    def push(self) -> dict[str, Any]:
        """Keep it: in the sets that have it, else by itself. Without an id it gets one.

        Raises:
            EntityError: something is missing, or cannot be kept. StoreError: it could not be written.
        """
        self._check_required()
        self.settle_id()
        line = line_of_test(self)
        put_test(current_store(), str(self.id), line)
        kept: dict[str, Any] = json.loads(line)
        return kept

    def settle_id(self) -> str:
        """Its id; if it has none, one that it gets now."""
        if not self.id:
            self.id = str(uuid4())
            _NEW_IDS.add(self.id)
        return self.id

    def pull(self) -> Self:
        """As `Entity.pull`."""
        own = self._own_id()
        if (found := find_test(current_store(), own)) is None:
            raise EntityError(f"there is no test {own!r:.200}")
        fresh = type(self).read(found)
        for name in StoredTest.model_fields:
            setattr(self, name, getattr(fresh, name))
        return self

    def delete(self) -> bool:
        """Take it out of the store and out of every set that has it; whether it was there.

        Raises:
            EntityError: it has no id. StoreError: it could not be written.
        """
        return drop_test(current_store(), self._own_id())

    def execute(
        self,
        endpoint: Endpoint,
        *,
        metrics: Iterable[Any] | None = None,
        execution_model: str | Model | None = None,
        evaluation_model: str | Model | None = None,
    ) -> dict[str, Any]:
        """Ask an endpoint this test, here and now, and judge the answer, as a suite by the test's id.

        It is measured by `metrics`, else by those of its behavior in the store, else by whether the answer shows that
        behavior. What goes wrong with the endpoint or a metric is an Error, not raised.

        Args:
            metrics, execution_model, evaluation_model: as of `TestSet.execute`.

        Returns:
            `test_id`, `prompt_id`, `execution_time` in milliseconds, `test_output`, `test_metrics` with what each
            metric said, `status` (Pass, Fail or Error; None where a filter leaves the test out), `error`, and
            `test_configuration`.

        Raises:
            EntityError: the test or the endpoint has no id. Else as `TestSet.execute`.
        """
        from scoregate.entities.execution.one_test import executed

        return executed(self, endpoint, Terms(None, metrics, execution_model, evaluation_model))

    @classmethod
    def read(cls, found: StoredTest) -> Self:
        """The test of a line of the store."""
        return cls.model_validate(found.model_dump(exclude_unset=True))

    @model_validator(mode="before")
    @classmethod
    def _other_forms(cls, data: Any) -> Any:
        if not isinstance(data, dict) or (_NAMES.issuperset(data) and not _has_objects(data)):
            return data
        fields = _renamed(data)
        for name in _LABELS:
            if isinstance(fields.get(name), Mapping):
                fields[name] = fields[name].get("name")
        if isinstance(fields.get("test_type"), Mapping):
            fields["test_type"] = fields["test_type"].get("type_value")
        if fields.get("goal") and fields.get("test_configuration") is None:
            fields["test_configuration"] = {key: fields[key] for key in _CONFIGURATION if fields.get(key) is not None}
        return fields


_NAMES = frozenset(Test.model_fields)
_KEPT = tuple(StoredTest.model_fields)


def line_of_test(test: Test) -> bytes:
    """A test as the store has it, on a line, with its type.

    Raises:
        EntityError: its metadata has no form in JSON.
    """
    fields = {**test.model_dump(exclude_defaults=True), "test_type": test.turns}
    return json_of({name: fields[name] for name in _KEPT if name in fields}, place=_title(test)).encode()


def json_of(value: Mapping[str, Any], *, place: str) -> str:
    """Fields as JSON in which every character is to be seen.

    Raises:
        EntityError: they have no such form; `place` is how they are called.
    """
    try:
        return line_of(value).decode()
    except ValueError as error:
        raise EntityError(f"{place}: {error}", advice="Use what JSON has: text, numbers, lists, objects.") from None


def _title(test: Test) -> str:
    said = test.prompt.content if test.prompt else test.test_configuration and test.test_configuration.goal
    return f"the test {test.id or said!r:.60}"


def _has_objects(data: dict[str, Any]) -> bool:
    """Written out: it is asked of every row of a table."""
    get = data.get
    return (
        type(get("category")) is dict
        or type(get("topic")) is dict
        or type(get("behavior")) is dict
        or type(get("test_type")) is dict
    )


def _renamed(data: Mapping[str, Any]) -> dict[str, Any]:
    fields = dict(data)
    for other, name in _OTHER_NAMES.items():
        if (value := fields.pop(other, None)) is None:
            continue
        if fields.get(name) not in (None, value):
            raise ValueError(f"{name} and {other} are one field, and say {fields[name]!r:.60} and {value!r:.60}")
        fields[name] = value
    return fields
