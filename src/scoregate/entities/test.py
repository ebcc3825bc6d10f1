"""A test: a prompt with an expected behavior, or a conversation with a goal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self
from uuid import uuid4

from pydantic import Field, model_validator

from scoregate.entities.base import Entity
from scoregate.entities.endpoint import Endpoint
from scoregate.entities.prompt import Prompt, TestConfiguration
from scoregate.entities.test_storage import delete_test, find_test, put_test
from scoregate.enums import TestType
from scoregate.errors import EntityError
from scoregate.execution.execute import execute_test
from scoregate.execution.options import ExecutionOptions
from scoregate.store import current_store
from scoregate.store.json_lines import encode_row
from scoregate.store.test_sets import StoredTest

if TYPE_CHECKING:
    from scoregate.models import Model

__all__ = ["Test", "TestConfiguration", "dump_json", "dump_test_line"]

_LABELS = ("category", "topic", "behavior")
_ALIASES = {"requirement": "behavior", "test_metadata": "metadata"}
# Fields of Rhesis that an endpoint would get. Without them the test would be another one.
REFUSED_FIELDS = {
    "files": "Put the text of the file into the prompt, or give images to `scoregate.evaluate` as `Media`.",
    "test_parameters": "Put the values into the prompt, or make an endpoint for each set of parameters.",
}


# Ids that this process generated. Another run generates other ids.
_GENERATED_IDS: set[str] = set()
_CONFIGURATION_FIELDS = tuple(TestConfiguration.model_fields)


class Test(Entity):
    """A test case. `behavior` is the expected behavior of the answer; `requirement` is another name of it.

    A conversation has a `test_configuration`, or the arguments `goal`, `instructions`, `restrictions`, `scenario`,
    `max_turns` and `min_turns`. Without a `test_type` a test with a goal is a conversation. `source` and `source_line`
    (counted from 1) are the place in the file that it was read from; they are not stored.
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
        """The id, unless this process generated it: then another run would not have it."""
        return None if self.id in _GENERATED_IDS else self.id

    @property
    def requirement(self) -> str | None:
        """The behavior."""
        return self.behavior

    @property
    def turns(self) -> TestType:
        """The type; without `test_type`, a test with a goal is a conversation."""
        return self.test_type or (TestType.MULTI_TURN if self.test_configuration else TestType.SINGLE_TURN)

    def push(self) -> dict[str, Any]:
        """Store it in the sets that contain it, else on its own. Without an id it gets one.

        Raises:
            EntityError: a field is missing or cannot be stored.
            StoreError: it cannot be written.
        """
        self._check_required()
        self.ensure_id()
        line = dump_test_line(self)
        put_test(current_store(), str(self.id), line)
        stored: dict[str, Any] = json.loads(line)
        return stored

    def ensure_id(self) -> str:
        """The id, which is generated if it has none."""
        if not self.id:
            self.id = str(uuid4())
            _GENERATED_IDS.add(self.id)
        return self.id

    def pull(self) -> Self:
        """Load its fields from the store; as `Entity.pull`."""
        own = self._own_id()
        if (stored := find_test(current_store(), own)) is None:
            raise EntityError(f"there is no test {own!r:.200}")
        fresh = type(self).read(stored)
        for name in StoredTest.model_fields:
            setattr(self, name, getattr(fresh, name))
        return self

    def delete(self) -> bool:
        """Delete it from the store and from every set; return whether it existed.

        Raises:
            EntityError: it has no id.
            StoreError: it cannot be written.
        """
        return delete_test(current_store(), self._own_id())

    def execute(
        self,
        endpoint: Endpoint,
        *,
        metrics: Iterable[Any] | None = None,
        execution_model: str | Model | None = None,
        evaluation_model: str | Model | None = None,
    ) -> dict[str, Any]:
        """Run the test against an endpoint and evaluate the answer. The id of the test is the id of the suite.

        It is evaluated by `metrics`, else by those of its behavior in the store, else by whether the answer shows the
        behavior. If the endpoint or a metric fails, the status is Error.

        Args:
            endpoint: the endpoint under test.
            metrics: see `TestSet.execute`.
            execution_model: see `TestSet.execute`.
            evaluation_model: see `TestSet.execute`.

        Returns:
            `test_id`, `prompt_id`, `execution_time` in milliseconds, `test_output`, `test_metrics` (the result of each
            metric), `status` (Pass, Fail or Error; None if a filter excludes the test), `error` and
            `test_configuration`.

        Raises:
            EntityError: the test or the endpoint has no id; otherwise as `TestSet.execute`.
        """
        return execute_test(self, endpoint, ExecutionOptions(None, metrics, execution_model, evaluation_model))

    @classmethod
    def read(cls, stored: StoredTest) -> Self:
        """The test of a stored line."""
        return cls.model_validate(stored.model_dump(exclude_unset=True))

    @model_validator(mode="before")
    @classmethod
    def _unpack_objects(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        get = data.get
        # Without a loop, because it runs for every row of a table.
        has_objects = (
            type(get("category")) is dict
            or type(get("topic")) is dict
            or type(get("behavior")) is dict
            or type(get("test_type")) is dict
        )
        if not has_objects and _FIELD_NAMES.issuperset(data):
            return data
        for name, advice in REFUSED_FIELDS.items():
            if data.get(name):
                raise ValueError(f"{name} of a test are not supported: it would run without them. {advice}")
        fields = _replace_aliases(data)
        for name in _LABELS:
            if isinstance(fields.get(name), Mapping):
                fields[name] = fields[name].get("name")
        if isinstance(fields.get("test_type"), Mapping):
            fields["test_type"] = fields["test_type"].get("type_value")
        if fields.get("goal") and fields.get("test_configuration") is None:
            fields["test_configuration"] = {
                key: fields[key] for key in _CONFIGURATION_FIELDS if fields.get(key) is not None
            }
        return fields


_FIELD_NAMES = frozenset(Test.model_fields)
_STORED_FIELDS = tuple(StoredTest.model_fields)


def dump_test_line(test: Test) -> bytes:
    """The line of a test in the store.

    Raises:
        EntityError: its metadata has no form in JSON.
    """
    fields = {**test.model_dump(exclude_defaults=True), "test_type": test.turns}
    stored = {name: fields[name] for name in _STORED_FIELDS if name in fields}
    text = test.prompt.content if test.prompt else test.test_configuration and test.test_configuration.goal
    return dump_json(stored, place=f"the test {test.id or text!r:.60}").encode()


def dump_json(value: Mapping[str, Any], *, place: str) -> str:
    """JSON with every invisible character escaped.

    Args:
        value: the fields.
        place: the name of the fields in messages.

    Raises:
        EntityError: the fields have no form in JSON.
    """
    try:
        return encode_row(value).decode()
    except ValueError as error:
        raise EntityError(f"{place}: {error}", advice="Use what JSON has: text, numbers, lists, objects.") from None


def _replace_aliases(data: Mapping[str, Any]) -> dict[str, Any]:
    fields = dict(data)
    for other, name in _ALIASES.items():
        if (value := fields.pop(other, None)) is None:
            continue
        if fields.get(name) not in (None, value):
            raise ValueError(f"{name} and {other} are one field, and say {fields[name]!r:.60} and {value!r:.60}")
        fields[name] = value
    return fields
