"""Test configs of the store that are suites by themselves: which agent they run, and when a row passes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from scoregate.ci.settings.fields import Count, Seconds, Table, Text, distinct

_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def _target(value: str) -> str:
    if not _TARGET.fullmatch(value):
        raise ValueError('must be "module:function", as Python would import it')
    return value


def _word(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError("must be text or a whole number")
    return value


Target = Annotated[Text, AfterValidator(_target)]
Word = Annotated[str | int, BeforeValidator(_word)]


class OfflineConfig(Table):
    """A test config, by name, and how it is run: the parameters of `client.offline_tests.run`.

    `agent` and `pass_condition` are written "module:function"; without an agent the examples are judged as they are.
    What is None is left to the defaults there.
    """

    name: Text
    agent: Target | None = None
    pass_condition: Target | None = None
    assert_test: bool = False
    judge_versions: tuple[Mapping[Text, Word], ...] = ()
    dataset_version: Word | None = None
    field_mapping: Mapping[Text, Text] = Field(default_factory=dict)
    timeout_seconds: Seconds | None = None
    max_concurrency: Count | None = None

    @model_validator(mode="after")
    def _decided(self) -> Self:
        if self.assert_test and self.pass_condition is None:
            raise ValueError("assert_test needs a pass_condition, which says whether a row passes")
        return self


OfflineConfigs = Annotated[tuple[OfflineConfig, ...], AfterValidator(distinct)]
