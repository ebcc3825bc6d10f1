"""The tables `[[configs]]`: test configs of the store that run as suites."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from scoregate.kernel.types.declarations.fields import Count, Seconds, Table, Text, check_distinct_names

_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def _check_target(value: str) -> str:
    if not _TARGET.fullmatch(value):
        raise ValueError('must be "module:function", as Python would import it')
    return value


def _check_reference(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError("must be text or a whole number")
    return value


ImportReference = Annotated[Text, AfterValidator(_check_target)]
VersionOrTag = Annotated[str | int, BeforeValidator(_check_reference)]


class OfflineConfig(Table):
    """A test config, by name, and the parameters of `client.offline_tests.run`; None keeps the default."""

    name: Text
    """The name of a test config in `.scoregate/configs/`."""
    agent: ImportReference | None = None
    """The function that gets every example, as `module:function`. Without it the stored outputs are scored."""
    pass_condition: ImportReference | None = None
    """The function that decides whether a row passes, as `module:function`."""
    assert_test: bool = False
    """Fail the run if a row doesn't pass. It needs `pass_condition`."""
    judge_versions: tuple[Mapping[Text, VersionOrTag], ...] = ()
    """Versions or tags of judges, such as `{ name = "helpfulness", tag = "prod" }`."""
    dataset_version: VersionOrTag | None = None
    """The version of the dataset. Without it: the newest."""
    field_mapping: Mapping[Text, Text] = Field(default_factory=dict)
    """Fields of the dataset, by names of the agent's parameters."""
    timeout_seconds: Seconds | None = None
    """Seconds that one example may take."""
    max_concurrency: Count | None = None
    """How many examples run at a time."""

    @model_validator(mode="after")
    def _check_assert_test(self) -> Self:
        if self.assert_test and self.pass_condition is None:
            raise ValueError("assert_test needs a pass_condition, which says whether a row passes")
        return self


OfflineConfigs = Annotated[tuple[OfflineConfig, ...], AfterValidator(check_distinct_names)]
