"""Versions of judges as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from typing import Any

from scoregate.cli.listing import day
from scoregate.judges import JudgeVersion
from scoregate.store.judges import Grading


def row(used: JudgeVersion, newest: JudgeVersion) -> tuple[str, ...]:
    """A judge in a table."""
    kind = f"{used.judge_type}, {used.score_type}"
    return used.name, kind, used.version, newest.version, " ".join(used.tags), used.model or "", used.description


def as_json(version: JudgeVersion) -> dict[str, Any]:
    """All that is known of a version."""
    return {
        "name": version.name,
        "id": version.id,
        "version": version.version,
        "tags": list(version.tags),
        "description": version.description,
        "created_at": None if version.created_at is None else version.created_at.isoformat(),
        **version.grading.model_dump(mode="json", include=set(Grading.model_fields)),
    }


def lines(version: JudgeVersion) -> Iterator[str]:
    """What its scores depend on, a line a field, the lines of the prompt below."""
    said = version.grading.model_dump(include=set(Grading.model_fields) - {"prompt", "categories"}, exclude_none=True)
    yield from (f"{name} = {value}" for name, value in said.items())
    for category in version.categories:
        score = "" if category.score is None else f" (score {category.score:g})"
        yield f"category {category.value}{score}{f': {category.description}' if category.description else ''}"
    if version.prompt is not None:
        yield from ("", *version.prompt.splitlines())


def heading(version: JudgeVersion) -> str:
    """Its name, version, tags and day."""
    tags = f" [{', '.join(version.tags)}]" if version.tags else ""
    made = f" of {day(version.created_at)}" if version.created_at else ""
    return f"{version.label}{tags}{made}"


def difference(old: JudgeVersion, new: JudgeVersion) -> list[str]:
    """A unified diff, without lines where the versions differ in nothing."""
    return list(unified_diff(list(lines(old)), list(lines(new)), heading(old), heading(new), lineterm=""))
