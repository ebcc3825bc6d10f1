"""Suites that the settings list: commands and test configs of the store."""

from __future__ import annotations

import json
from pathlib import Path

from scoregate.kernel.judge.settings import OfflineConfig, Settings
from scoregate.kernel.run.discover.files import ProjectFiles
from scoregate.kernel.run.plan import DiscoveredSuites, ResultImport, RowColumns, SkippedSource, SourceKind, SuiteSource


async def find_commands(files: ProjectFiles, settings: Settings) -> DiscoveredSuites:
    """Every command of the settings; none if other suites were named to be run."""
    if why := settings.skip_reason("commands"):
        return DiscoveredSuites(skipped=tuple(SkippedSource(each.name, why) for each in settings.commands))
    root, sources = files.root, []
    for command in settings.commands:
        is_folder = (root / command.cwd).is_dir()
        imports = [ResultImport("junit", pattern, command.junit_scores) for pattern in command.junit]
        for entry in command.imports:
            importer, _, pattern = entry.partition(":")
            columns = (
                RowColumns(**command.rows.model_dump(exclude_none=True))
                if command.rows and importer == "rows"
                else None
            )
            imports.append(ResultImport(importer, pattern, columns=columns))
        source = SuiteSource(
            command.name,
            SourceKind.COMMAND,
            why=f"a command in {settings.origin('commands')}",
            error=None if is_folder else f"{command.name}: its cwd {command.cwd} is not a folder",
            argv=command.run,
            cwd=command.cwd,
            foreign=True,
            imports=tuple(imports),
            inputs=command.inputs,
        )
        sources.append(source)
    return DiscoveredSuites(tuple(sources))


_WORKER = ("-m", "scoregate.worker", "config")


async def find_configs(files: ProjectFiles, settings: Settings) -> DiscoveredSuites:
    """Every test config of the settings, or the ones that were named, in the settings or not.

    Raises:
        StoreError: the store's folder can't be read.
    """
    tables = {table.name: table for table in settings.configs}
    if why := settings.skip_reason("configs"):
        return DiscoveredSuites(skipped=tuple(SkippedSource(name, why) for name in tables))
    names = tuple(dict.fromkeys(settings.config)) or tuple(tables)
    notices = (
        f"{name} has no table [[configs]] in the settings, so it runs without an agent and a pass condition"
        for name in names
        if name not in tables
    )
    listed, named = f"a config in {settings.origin('configs')}", f"named by {settings.origin('config')}"
    sources = (
        _config_source(tables[name], files.root, listed)
        if name in tables
        else _config_source(OfflineConfig(name=name), files.root, named)
        for name in names
    )
    return DiscoveredSuites(tuple(sources), notices=tuple(notices))


def _config_source(table: OfflineConfig, root: Path, origin: str) -> SuiteSource:
    # Most runs have no test configs.
    from scoregate.store import CONFIGS, open_store
    from scoregate.store.location import FOLDER
    from scoregate.store.paths import collection_path

    path = collection_path(Path(FOLDER), CONFIGS, (table.name,))
    error = None
    if not (root / path).is_file():
        existing = ", ".join(name for (name,) in open_store(root).list_keys(CONFIGS))
        advice = f"existing ones: {existing:.300}" if existing else "create one with `scoregate config add`"
        error = f"there is no test config {table.name!r:.200} ({origin}); {advice}"
    options = table.model_dump(mode="json", exclude_defaults=True) | {"file": path.as_posix(), "origin": origin}
    return SuiteSource(
        path.as_posix(),
        SourceKind.CONFIG,
        suite_ids=(table.name,),
        why=origin,
        error=error,
        argv=(*_WORKER, json.dumps(options)),
    )
