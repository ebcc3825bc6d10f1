"""Test configs of the store that are suites by themselves: those that the settings list, or that were named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from scoregate.ci.plan import Found, Kind, Skipped, Source
from scoregate.ci.settings import OfflineConfig, Settings

_WORKER = ("-m", "scoregate.worker", "config")


async def find_configs(root: Path, settings: Settings) -> Found:
    """Every test config of the settings, or those that were named, listed there or not.

    Raises:
        StoreError: the store's folder cannot be read.
    """
    tables = {table.name: table for table in settings.configs}
    if why := settings.passed_over("configs"):
        return Found(skipped=tuple(Skipped(name, why) for name in tables))
    names = tuple(dict.fromkeys(settings.config)) or tuple(tables)
    bare = [name for name in names if name not in tables]
    sources = (_source(tables.get(name) or OfflineConfig(name=name), root, _origin(name in tables, settings))
               for name in names)  # fmt: skip
    return Found(tuple(sources), notices=tuple(_notices(bare)))


def _origin(listed: bool, settings: Settings) -> str:
    return f"a config in {settings.origin('configs')}" if listed else f"named by {settings.origin('config')}"


def _notices(bare: list[str]) -> Iterator[str]:
    for name in bare:
        yield f"{name} has no table [[configs]] in the settings: no agent is called, and no pass condition asked"


def _source(table: OfflineConfig, root: Path, origin: str) -> Source:
    from scoregate.store import CONFIGS
    from scoregate.store.location import FOLDER
    from scoregate.store.paths import path_of

    path = path_of(Path(FOLDER), CONFIGS, (table.name,))
    order = table.model_dump(mode="json", exclude_defaults=True) | {"file": path.as_posix(), "origin": origin}
    return Source(
        path.as_posix(),
        Kind.CONFIG,
        suite_ids=(table.name,),
        why=origin,
        error=None if (root / path).is_file() else _missing(table.name, root, origin),
        argv=(*_WORKER, json.dumps(order)),
    )


def _missing(name: str, root: Path, origin: str) -> str:
    from scoregate.store import CONFIGS, open_store

    there = ", ".join(name for (name,) in open_store(root).shelves(CONFIGS))
    others = f"there are {there:.300}" if there else "`scoregate config add` makes one"
    return f"there is no test config {name!r:.200} ({origin}); {others}"
