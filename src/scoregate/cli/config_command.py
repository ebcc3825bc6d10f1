"""`scoregate config`: test configs, each a dataset and the judges that score it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from scoregate.cli.text_output import CommandGroup, format_day, print_json, print_line, print_lines, print_table
from scoregate.client import Client
from scoregate.errors import UsageError
from scoregate.judges import TestConfig
from scoregate.kernel.types.text import suggest_names
from scoregate.store import CONFIGS

_HEADINGS = ("config", "dataset", "judges", "created", "description")


@click.group("config", cls=CommandGroup)
def command() -> None:
    """Manage test configs: a dataset and its judges, stored as TOML in .scoregate/configs."""


@command.command("ls")
@click.option("--dataset", metavar="NAME", help="List only configs of this dataset, by name or id.")
@click.option("--json", "json_", is_flag=True, help="Print every field, as a JSON list.")
def ls(dataset: str | None, json_: bool) -> None:
    """List the test configs."""
    configs = Client().test_configs.list(dataset)
    if json_:
        print_json(map(_as_json, configs))
    else:
        print_table(_HEADINGS, map(_row, configs), nothing="There are no test configs.")


@command.command("show")
@click.argument("config")
@click.option("--json", "json_", is_flag=True, help="Print every field, as a JSON list with one item.")
def show(config: str, json_: bool) -> None:
    """Show CONFIG, by name or id, with the versions of its judges that a run uses."""
    client = Client()
    stored = _get_config(client, config)
    if json_:
        print_json([_as_json(stored)])
        return
    created = f" of {format_day(stored.created_at)}" if stored.created_at else ""
    judges = [f"judge {_version(client, judge.judge_id, judge.name)}" for judge in stored.judges]
    lines = [stored.description] if stored.description else []
    print_lines([f"{stored.name}{created} ({stored.id})", *lines, f"dataset {stored.dataset}", *judges])


@command.command("add")
@click.argument("name")
@click.option("--dataset", required=True, metavar="NAME", help="Dataset, by name or id.")
@click.option(
    "--judge", "judges", multiple=True, required=True, metavar="NAME", help="Judge, by name or id (repeatable)."
)
@click.option("--description", metavar="TEXT", help="Description of the config.")
def add(name: str, dataset: str, judges: Sequence[str], description: str | None) -> None:
    """Create the test config NAME from a dataset and judges."""
    client = Client()
    client.test_configs.create(name, dataset, judges, description)
    print_line(f"{name}: written to {client.store.location(CONFIGS, (name,))}")


@command.command("rm")
@click.argument("config")
def rm(config: str) -> None:
    """Remove CONFIG, by name or id; its dataset and judges stay."""
    client = Client()
    stored = _get_config(client, config)
    client.test_configs.delete(stored.id)
    print_line(f"{stored.name}: removed")


def _get_config(client: Client, config: str) -> TestConfig:
    if (stored := client.test_configs.get(config)) is not None:
        return stored
    names = [each.name for each in client.test_configs.list()]
    advice = suggest_names(config, names) or "`scoregate config add` creates one."
    raise UsageError(f"there is no test config {config!r:.60}", advice=advice)


def _version(client: Client, judge: str, name: str | None) -> str:
    stored = client.judges.get(name or judge)
    return f"{judge}, which no longer exists" if stored is None else f"{stored.label}, {stored.score_type}"


def _row(config: TestConfig) -> tuple[str, ...]:
    judges = ", ".join(judge.name or judge.judge_id for judge in config.judges)
    return config.name, config.dataset, judges, format_day(config.created_at), config.description or ""


def _as_json(config: TestConfig) -> dict[str, Any]:
    return {
        "id": config.id,
        "name": config.name,
        "description": config.description,
        "dataset": config.dataset,
        "dataset_id": config.dataset_id,
        "judges": [{"judge_id": judge.judge_id, "name": judge.name} for judge in config.judges],
        "created_at": None if config.created_at is None else config.created_at.isoformat(),
    }
