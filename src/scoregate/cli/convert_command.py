"""`scoregate convert`: write suites from the configurations of other frameworks."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from scoregate.convert.conversion import Findings, Suite
from scoregate.convert.suite_files import list_files, write_files

_FOLDER = "evals"
# The exit code if a part can't be converted.
_INCOMPLETE = 1
_MOST_PLACES = 10
_LEFT_OUT = "left_out.txt"


def _options(function: Callable[..., Any]) -> Callable[..., Any]:
    partial = click.option("--partial", is_flag=True, help="Write the suite, even if a part can't be converted.")
    out = click.option(
        "--out", type=click.Path(file_okay=False, path_type=Path), help=f"Folder of the suite; default: {_FOLDER}/NAME."
    )
    every = click.option("--all", "all_places", is_flag=True, help="List every part that can't be converted.")
    return out(every(partial(function)))


@click.group("convert")
def command() -> None:
    """Write a suite from the configuration of another framework.

    Each part that can't be converted is listed. Then nothing is written and the exit code is 1; --partial writes the
    rest. Existing files stay.
    """


@command.command("promptfoo")
@click.argument("config", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_options
def convert_promptfoo_command(config: Path, *, partial: bool, all_places: bool, out: Path | None) -> int:
    """Convert CONFIG, a promptfooconfig.yaml.

    Prompts, providers, tests and assertions are converted.
    """
    from scoregate.convert.promptfoo import convert_promptfoo

    suite, findings = convert_promptfoo(config)
    return _write(suite, findings, partial=partial, all_places=all_places, out=out)


@command.command("openai-evals")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--eval", "name", help="The eval to convert, if the file has several.")
@click.option("--model", default="openai/gpt-6-luna", show_default=True, help="The model to ask.")
@_options
def convert_openai_evals_command(
    path: Path, *, name: str | None, model: str, partial: bool, all_places: bool, out: Path | None
) -> int:
    """Convert an eval of PATH, a YAML file.

    PATH is a file of the open-source registry: registry/evals/NAME.yaml. The classes Match, Includes, FuzzyMatch,
    JsonMatch and ModelBasedClassify are converted. Exports of the hosted product are not read.
    """
    from scoregate.convert.openai_evals import convert_openai_evals

    suite, findings = convert_openai_evals(path, model=model, name=name)
    return _write(suite, findings, partial=partial, all_places=all_places, out=out)


def _write(suite: Suite, findings: Findings, *, partial: bool, all_places: bool, out: Path | None) -> int:
    folder = Path(_FOLDER, Path(suite.file).stem.removeprefix("eval_")) if out is None else out
    for kind, count in findings.counts.items():
        click.echo(f"{count:>7,}  {kind}")
    for place in findings.ignored:
        click.echo(f"ignored  {place}: it changes no verdict")
    for line in _format_left_out(findings, None if all_places else _MOST_PLACES):
        click.echo(line)
    if not suite.variants or not suite.cases:
        click.echo(f"\nNothing was written: no {'case' if suite.variants else 'prompt'} can be converted.")
        return _INCOMPLETE
    count = len(findings.left_out)
    if count and not partial:
        parts = "1 part" if count == 1 else f"{count:,} parts"
        click.echo(f"\nNothing was written: {parts} can't be converted. --partial writes the rest.")
        return _INCOMPLETE
    files = list_files(suite, folder)
    if count:
        files[_LEFT_OUT] = "".join(f"{line}\n" for line in _format_left_out(findings, None))
    write_files(folder, files)
    for name in files:
        click.echo(f"written  {folder / name}")
    click.echo(f"\nNow run:  scoregate run {shlex.quote(str(folder))}")
    return 0


def _format_left_out(findings: Findings, most: int | None) -> Iterator[str]:
    """The parts that were left out, by their reasons.

    Args:
        findings: what the conversion found.
        most: how many parts of one reason are listed; None for all.
    """
    places: dict[str, list[str]] = {}
    for each in findings.left_out:
        places.setdefault(each.reason, []).append(each.place)
    for reason, places_of_reason in places.items():
        yield f"left out {reason}"
        yield from (f"         {place}" for place in places_of_reason[:most])
        if most is not None and len(places_of_reason) > most:
            yield f"         and {len(places_of_reason) - most:,} more: --all lists them"
