"""Commands that the settings name as suites."""

from __future__ import annotations

from pathlib import Path

from scoregate.ci.plan import Found, Import, Kind, Skipped, Source
from scoregate.ci.settings import Command, Settings


async def find_commands(root: Path, settings: Settings) -> Found:
    """Every command of the settings; none where others were named to be run."""
    if why := settings.passed_over("commands"):
        return Found(skipped=tuple(Skipped(each.name, why) for each in settings.commands))
    origin = settings.origin("commands")
    return Found(tuple(_source(each, root, origin=origin) for each in settings.commands))


def _source(command: Command, root: Path, *, origin: str) -> Source:
    missing = f"{command.name}: its cwd {command.cwd} is no folder" if not (root / command.cwd).is_dir() else None
    return Source(
        command.name,
        Kind.COMMAND,
        why=f"a command in {origin}",
        error=missing,
        argv=command.run,
        cwd=command.cwd,
        foreign=True,
        imports=(*(Import("junit", pattern) for pattern in command.junit), *map(_import, command.imports)),
    )


def _import(named: str) -> Import:
    word, _, pattern = named.partition(":")
    return Import(word, pattern)
