"""The settings that come from the base's file if the base's settings judge a change, and those from the change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scoregate.kernel.judge.settings.limit_fields import FEATURE_SETTINGS, TABLE_SETTINGS
from scoregate.kernel.judge.settings.model import Settings, setting_names
from scoregate.kernel.judge.settings.sources import OF_BASE, Keys, Layer
from scoregate.kernel.types.declarations.declaration import Owner


def _list_owned(owner: Owner) -> Iterator[str]:
    """The settings of features with this owner."""
    return (each.name for each in FEATURE_SETTINGS if each.owner is owner)


# No file can set these.
WORKFLOW_SETTINGS = frozenset({"working_directory", "github_token", "approved", *_list_owned(Owner.WORKFLOW)})
# How the code of a change is installed and run, and where its reports go. These settings can't weaken a gate.
HEAD_SETTINGS = frozenset(
    {
        *("keep_runs", "max_suites", "message", "out", "timeout"),
        *_list_owned(Owner.HEAD),
    }
)
# What is run, what it is compared with, what is required of it, and what is published.
BASE_SETTINGS = frozenset(setting_names()) - HEAD_SETTINGS - WORKFLOW_SETTINGS
# What the head adds to these is run as well.
_ADDED_TO = ("suite", "config")
_ADDED_BY_NAME = ("commands", "configs")
_TABLES = {each.name for each in TABLE_SETTINGS}
# Settings that are not in a policy; the values of the others can be long, or secret.
_SHOWN_VALUES = sorted(
    {
        *("base_branch", "base_runs", "baseline", "cache", "comment", "config", "key", "max_cases"),
        *("model", "paths", "repeats", "show_outputs", "suite", *_list_owned(Owner.BASE)),
    }
    - _TABLES
)
_SHOWN_NAMES = sorted({"agent", "arms", "commands", "configs", "model_base_url", "model_headers", "prices", *_TABLES})


def make_judging_layer(head: Layer, base: Layer) -> Layer:
    """The settings that a change may set itself from the head's file, and all others from the base's file."""
    head_values = {name: value for name, value in head.values.items() if name not in BASE_SETTINGS}
    base_values = {name: value for name, value in base.values.items() if name not in HEAD_SETTINGS}

    def place(keys: Keys) -> str:
        return head.place(keys) if keys[0] in head_values else f"{base.place(keys)}{OF_BASE}"

    return Layer({**base_values, **head_values}, place)


def with_added_suites(base: Settings, head: Settings) -> Settings:
    """The settings of the base with the suites that the head's add to them.

    Args:
        base: the settings that judge.
        head: the settings of the change alone, which are kept as `proposed`.
    """
    update: dict[str, Any] = {"proposed": head}
    for name in _ADDED_TO:
        base_value, head_value = getattr(base, name), getattr(head, name)
        update[name] = tuple(dict.fromkeys((*base_value, *head_value))) if base_value and head_value else ()
    for name in _ADDED_BY_NAME:
        known = {each.name for each in getattr(base, name)}
        update[name] = (*getattr(base, name), *(each for each in getattr(head, name) if each.name not in known))
    added = {keys: place for keys, place in head.origins.items() if keys[0] in (*_ADDED_TO, *_ADDED_BY_NAME)}
    return base.model_copy(update={**update, "origins": {**added, **base.origins}})


def ignored_changes(judging: Settings, head: Settings) -> Iterator[str]:
    """Describe the changes in the head's file that are not limits; none of them is applied."""
    for name in _SHOWN_VALUES:
        base_value, head_value = getattr(judging, name), getattr(head, name)
        if base_value != head_value:
            yield f"{name}: {_format_value(base_value)} → {_format_value(head_value)}"
    for name in _SHOWN_NAMES:
        if _by_name(getattr(judging, name)) != _by_name(getattr(head, name)):
            yield f"{name} changed"
    if _suite_needs(judging) != _suite_needs(head):
        yield "repeats or needs of suites changed"


def _by_name(value: object) -> object:
    """A form that does not depend on the order, for tables with names."""
    return {each.name: each for each in value} if isinstance(value, tuple) else value


def _suite_needs(settings: Settings) -> object:
    return {
        glob: (suite.repeats, suite.needs) for glob, suite in settings.suites.items() if suite.repeats or suite.needs
    }


def _format_value(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "not set"
    return "not set" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
