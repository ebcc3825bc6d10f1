"""The settings of a tree: those of its project, and the gates in the files of its suites."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import Any

from scoregate.errors import SettingsError
from scoregate.kernel.judge.settings import Settings, SuiteSettings, load_settings
from scoregate.kernel.run.plan import SuiteSource
from scoregate.kernel.types.runs.run import Run


def merge_suite_gates(settings: Settings, sources: Iterable[SuiteSource]) -> Settings:
    """The settings with the gates in suites' files; a value in the settings wins.

    If the base's settings judge, the gates only become part of the proposed settings.
    """
    if settings.proposed is not None:
        return settings.model_copy(update={"proposed": merge_suite_gates(settings.proposed, sources)})
    suites, origins = dict(settings.suites), dict(settings.origins)
    for source in sources:
        if source.gates is not None and source.suite_ids:
            name = escape(source.suite_ids[0])
            table = source.gates.table.model_dump(exclude_unset=True)
            settings_table = suites[name].model_dump(exclude_unset=True) if name in suites else {}
            for key, value in settings_table.items():
                table[key] = {**table[key], **value} if key in table and isinstance(value, Mapping) else value
            suites[name] = SuiteSettings.model_validate(table)
            origins = {("suites", name, *keys): place for keys, place in source.gates.places.items()} | origins
    return settings.model_copy(update={"suites": suites, "origins": origins})


def with_tree_policy(
    run: Run, tree: Path, settings: Settings, environ: Mapping[str, str], *, sources: Iterable[SuiteSource]
) -> Run:
    """The run with the settings of the tree that it was made in, and their policy with the same flags.

    If these settings can't be read, the run has none.

    Args:
        run: the run.
        tree: where it was made.
        settings: the settings of the project, which hold the flags.
        environ: the environment.
        sources: the suites of the tree.
    """
    tree_settings = load_tree_settings(tree, settings, environ)
    if tree_settings is None:
        return replace(run, policy={}, settings=None)
    return replace(
        run,
        policy=merge_suite_gates(tree_settings, sources).policy().to_record(),
        settings=dict(tree_settings.file_values),
    )


def load_tree_settings(tree: Path, settings: Settings, environ: Mapping[str, str]) -> Settings | None:
    """The settings of another tree with the same flags; None if they can't be read.

    Args:
        tree: the other tree.
        settings: the settings of the project, which hold the flags.
        environ: the environment.
    """
    flags: dict[str, Any] = {}
    # The settings from the command line. Of tables, only the entries from there.
    for (name, *keys), place in settings.origins.items():
        value = getattr(settings, name)
        if place.startswith("--"):
            flags[name] = {**flags.get(name, {}), keys[0]: value[keys[0]]} if keys else value
    try:
        return load_settings(tree, environ, flags=flags)
    except SettingsError:
        return None
