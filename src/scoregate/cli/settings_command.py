"""`scoregate settings`: every setting with its value and where it was set."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, NamedTuple

import click
from pydantic import SecretStr
from pydantic_core import to_jsonable_python

from scoregate.cli.options import project_root, working_directory_option
from scoregate.cli.stored_runs import load_suite_settings
from scoregate.cli.text_output import print_table
from scoregate.errors import UsageError
from scoregate.kernel.host.secrets import Redactor, secret_values
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.judge.settings.model import setting_names

SCHEMA = "scoregate.schema.json"
_HEADINGS = ("setting", "value", "set in")
_HIDDEN = "***"


class SettingRow(NamedTuple):
    """A setting or a key of its table, its value as JSON data, and where it was set."""

    name: str
    value: Any
    origin: str


@click.command("settings")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@working_directory_option
@click.option("--json", "as_json", is_flag=True, help="Print complete values, as a JSON list.")
@click.option("--schema", "prints_schema", is_flag=True, help="Print the JSON Schema of scoregate.toml.")
def command(names: tuple[str, ...], working_directory: str | None, *, as_json: bool, prints_schema: bool) -> None:
    """Print every setting, or those of these NAMEs, with its value and where it was set.

    The value is what a run without options would use. Later sources win: default, file, variable, command line.
    """
    if prints_schema:
        click.echo(files("scoregate.kernel.judge.settings").joinpath(SCHEMA).read_text(encoding="utf-8"), nl=False)
        return
    if unknown := sorted(set(names) - set(setting_names())):
        raise UsageError(f"there is no setting {unknown[0]!r:.200}", advice="`scoregate settings` lists all settings.")
    flags = {"working_directory": working_directory}
    settings = load_suite_settings(project_root(flags), flags)
    redact = Redactor(secret_values(os.environ)).text
    rows = [row for name in names or setting_names() for row in _list_rows(settings, name)]
    if as_json:
        lines = ",\n ".join(json.dumps(each._asdict()) for each in rows)
        click.echo(redact(f"[{lines}]"))
        return
    cells = ((row.name, redact(_format_value(row.value)), redact(row.origin)) for row in rows)
    print_table(_HEADINGS, cells)


def _list_rows(settings: Settings, name: str) -> Iterator[SettingRow]:
    """One row for a setting; for a table, one for each key that is set."""
    value = getattr(settings, name)
    keys = [path for path in settings.origins if path[0] == name and len(path) > 1]
    if isinstance(value, Mapping) and keys:
        for path in keys:
            yield SettingRow(_join(path), _to_json(_find(settings, path), path), settings.origin(*path))
        return
    yield SettingRow(name, _to_json(value, (name,)), settings.origin(name))


def _find(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else getattr(value, key, None)
    return value


def _join(path: tuple[str, ...]) -> str:
    return ".".join(key if key.replace("_", "").replace("-", "").isalnum() else json.dumps(key) for key in path)


def _to_json(value: Any, path: tuple[str, ...]) -> Any:
    """A value as JSON data; tokens and headers are hidden."""
    if isinstance(value, SecretStr) or (path[0] == "model_headers" and value):
        return _HIDDEN
    return to_jsonable_python(value, exclude_none=True, fallback=str)


def _format_value(value: Any) -> str:
    return "" if value in (None, [], {}) else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
