"""Suites that the settings list: commands and test configs of the store."""

from __future__ import annotations

import json
from pathlib import Path

from scoregate.ci.plan import DiscoveredSuites, ResultImport, SkippedSource, Source, SourceKind
from scoregate.ci.settings import Command, OfflineConfig, Settings


async def find_commands(root: Path, settings: Settings) -> DiscoveredSuites:
    """Every command of the settings; none if other suites were named to be run."""
    if why := settings.passed_over("commands"):
        return DiscoveredSuites(skipped=tuple(SkippedSource(each.name, why) for each in settings.commands))
    origin = settings.origin("commands")
    return DiscoveredSuites(tuple(_command_source(each, root, origin=origin) for each in settings.commands))


def _command_source(command: Command, root: Path, *, origin: str) -> Source:
    missing = f"{command.name}: its cwd {command.cwd} is not a folder" if not (root / command.cwd).is_dir() else None
    return Source(
        command.name,
        SourceKind.COMMAND,
        why=f"a command in {origin}",
        error=missing,
        argv=command.run,
        cwd=command.cwd,
        foreign=True,
        imports=(*(ResultImport("junit", pattern) for pattern in command.junit), *map(_parse_import, command.imports)),
    )


def _parse_import(named: str) -> ResultImport:
    word, _, pattern = named.partition(":")
    return ResultImport(word, pattern)


_WORKER = ("-m", "scoregate.worker", "config")


async def find_configs(root: Path, settings: Settings) -> DiscoveredSuites:
    """Every test config of the settings, or the ones that were named, in the settings or not.

    Raises:
        StoreError: the store's folder can't be read.
    """
    tables = {table.name: table for table in settings.configs}
    if why := settings.passed_over("configs"):
        return DiscoveredSuites(skipped=tuple(SkippedSource(name, why) for name in tables))
    names = tuple(dict.fromkeys(settings.config)) or tuple(tables)
    notices = (
        f"{name} has no table [[configs]] in the settings, so it runs without an agent and a pass condition"
        for name in names
        if name not in tables
    )
    sources = (
        _config_source(tables.get(name) or OfflineConfig(name=name), root, _config_origin(name in tables, settings))
        for name in names
    )
    return DiscoveredSuites(tuple(sources), notices=tuple(notices))


def _config_origin(listed: bool, settings: Settings) -> str:
    return f"a config in {settings.origin('configs')}" if listed else f"named by {settings.origin('config')}"


def _config_source(table: OfflineConfig, root: Path, origin: str) -> Source:
    from scoregate.store import CONFIGS
    from scoregate.store.location import FOLDER
    from scoregate.store.paths import collection_path

    path = collection_path(Path(FOLDER), CONFIGS, (table.name,))
    order = table.model_dump(mode="json", exclude_defaults=True) | {"file": path.as_posix(), "origin": origin}
    return Source(
        path.as_posix(),
        SourceKind.CONFIG,
        suite_ids=(table.name,),
        why=origin,
        error=None if (root / path).is_file() else _missing_config_error(table.name, root, origin),
        argv=(*_WORKER, json.dumps(order)),
    )


def _missing_config_error(name: str, root: Path, origin: str) -> str:
    from scoregate.store import CONFIGS, open_store

    there = ", ".join(name for (name,) in open_store(root).list_keys(CONFIGS))
    others = f"existing ones: {there:.300}" if there else "create one with `scoregate config add`"
    return f"there is no test config {name!r:.200} ({origin}); {others}"
