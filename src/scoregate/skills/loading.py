"""Which skills a tool call loads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from scoregate.kernel.types.json_io import to_text
from scoregate.kernel.types.trajectory_steps import ToolCall

_TOOLS = frozenset({"skill", "activate_skill", "load_skill", "use_skill"})
_NAMES = ("skill", "name")
_COMMAND = "command"
# `cd FOLDER`, or the file with the folder before it, which is missing if it is the working directory.
_PLACE = re.compile(
    r"\bcd\s+['\"]?(?:[^\s'\";&|]*[/\\])?([^/\\\s'\";&|]+)"
    r"|(?:(?<![^/\\\s'\"=])([^/\\\s'\"=]{1,200})[/\\]|(?<![^\s'\"=]))SKILL\.md(?![\w.-])"
)
# These show names of files, and not what is in them.
_LISTS_FILES = re.compile(r"[\s\[\"]*(?:ls|find|tree)\b")


def list_loaded_skills(call: ToolCall) -> list[str]:
    """The names or folders of the skills that a call loads: by a tool for skills, or by reading SKILL.md.

    A name may be a glob, since a shell may read several files. A call that failed loads none.

    Args:
        call: the tool call.
    """
    if call.error is not None:
        return []
    names = _list_skills_by_name(call) if call.name.casefold() in _TOOLS else _list_skills_by_file(call)
    return list(dict.fromkeys(name for name in names if name))


def loads_skill(call: ToolCall, *names: str) -> bool:
    """Whether a call loads the skill with one of these names."""
    known = {each for name in names for each in (name, name.rpartition(":")[2])}
    return any(fnmatchcase(name, loaded) for loaded in list_loaded_skills(call) for name in known)


def _list_skills_by_name(call: ToolCall) -> Iterator[str]:
    given = [call.arguments[name] for name in _NAMES if name in call.arguments] or call.arguments.values()
    # A plug-in is named before a colon.
    yield from [to_text(value).strip().lstrip("/").rpartition(":")[2] for value in given][:1]


def _list_skills_by_file(call: ToolCall) -> Iterator[str]:
    for name, value in call.arguments.items():
        text = to_text(value)
        folder = ""
        for match in _PLACE.finditer(text):
            if match[1]:
                folder = match[1]
                continue
            skill_name = match[2] if match[2] not in (None, ".") else folder
            is_read = name == _COMMAND and not _LISTS_FILES.match(text)
            if "*" not in skill_name or is_read:
                yield skill_name
