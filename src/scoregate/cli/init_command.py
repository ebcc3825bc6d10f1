"""`scoregate init`: write a starter suite, settings and a workflow; existing files stay."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

STARTER = {
    "evals/eval_greeting.py": "eval_greeting.py.txt",
    "scoregate.toml": "scoregate.toml.txt",
    ".github/workflows/evals.yml": "workflow.yml.txt",
}


@click.command("init")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=".")
def command(folder: Path) -> None:
    """Write a starter suite, settings and a workflow into FOLDER. Existing files stay as they are."""
    templates = files("scoregate.cli") / "starter"
    for name, template in STARTER.items():
        target = folder / name
        if target.exists():
            click.echo(f"kept     {name}")
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text((templates / template).read_text(encoding="utf-8"), encoding="utf-8")
        click.echo(f"written  {name}")
    click.echo("\nNow run:  scoregate run")
