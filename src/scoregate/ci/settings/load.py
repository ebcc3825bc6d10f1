"""The layers read, merged and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource

from scoregate.ci.settings.environment import environment_layer
from scoregate.ci.settings.file import file_layer
from scoregate.ci.settings.layers import Layer, anchored, flag_layer
from scoregate.ci.settings.model import Settings, setting_names
from scoregate.ci.settings.ownership import judging_layer
from scoregate.ci.settings.problems import unknown_keys, wrong_values
from scoregate.errors import SettingsError

_ROOT = "working_directory"
_INSTEAD = "use --working-directory, SCOREGATE_WORKING_DIRECTORY, or the action's input"


def load_settings(
    root: Path,
    environ: Mapping[str, str],
    *,
    flags: Mapping[str, Any] = MappingProxyType({}),
    cwd: Path | None = None,
    base: Layer | None = None,
) -> Settings:
    """Read the settings of a project.

    Args:
        root: the folder whose file is read: the one named by `working_directory`, the repository's top level, else
            the folder that we were started in.
        environ: the environment.
        flags: what the command line gave, by setting; None and empty sequences count as not given.
        cwd: what paths on the command line and in the environment are relative to; the root if not given.
        base: what the base's file sets, which then judges in the place of this project's file.

    Raises:
        SettingsError: all that is wrong with them, at once.
    """
    names = setting_names()
    near = (flag_layer(flags), environment_layer(environ, names))
    head = file_layer(root)
    file = head if base is None else judging_layer(head, base)
    layers = (*(anchored(layer, cwd or root, root=root) for layer in near), file)
    problems = [line for layer in layers for line in unknown_keys(layer, names)]
    if _ROOT in file.values:
        problems.append(f"{file.place((_ROOT,))}: {_ROOT} says where this file is: {_INSTEAD}")
    known = [Layer({k: v for k, v in la.values.items() if k in names}, la.place, la.notices) for la in layers]
    try:
        settings = _merged(known, head.values)
    except ValidationError as error:
        problems += wrong_values(error, known)
    if problems:
        raise SettingsError("\n".join(["these settings cannot be used:", *(f"  {line}" for line in problems)]))
    return settings


def _merged(layers: Sequence[Layer], file_values: Mapping[str, Any]) -> Settings:
    class Layered(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            *_others: PydanticBaseSettingsSource,
            **_named: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            notices = [notice for layer in layers for notice in layer.notices]
            provenance = {"notices": notices, "file_values": dict(file_values)}
            values = (provenance, *({**layer.values, "origins": layer.origins()} for layer in layers))
            return tuple(InitSettingsSource(settings_cls, each) for each in values)

    return Layered()
