"""`scoregate testset run`: one test set against an endpoint, the way of `scoregate run`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from scoregate.ci.discover.named_set import find_named
from scoregate.ci.plan import Found
from scoregate.ci.settings import Settings
from scoregate.cli.options import (
    baseline_options,
    gate_options,
    judging_settings_of,
    model_options,
    out_option,
    project_root,
    publish_options,
    running_options,
    voice_options,
    working_directory_option,
)
from scoregate.cli.story import tell_story
from scoregate.cli.voice import Voice


@click.command("run")
@click.argument("named", metavar="NAME|PATH")
@click.option(
    "--endpoint",
    metavar="NAME|FILE|ADDRESS|MODULE:FUNCTION",
    help="What the tests are put to; a suite's file has one of its own.",
)
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="What judges every answer; repeatable.")
@working_directory_option
@baseline_options
@out_option
@running_options
@model_options
@gate_options
@publish_options
@voice_options
def command(named: str, endpoint: str | None, metrics: tuple[str, ...], voice: Voice, **flags: Any) -> int:
    """Put the tests of a set to an endpoint, compare the scores with a base, judge, and write reports.

    PATH is a suite's file (TOML with a table [testset]) or a file of tests (.csv, .tsv, .jsonl, .json); NAME that of a
    set in the store.
    """
    root = project_root(flags)
    found = find_named(root, named, cwd=Path.cwd(), endpoint=endpoint, metrics=metrics)

    async def find(_root: Path, _settings: Settings) -> Found:
        return found

    return tell_story(judging_settings_of(root, flags), root, voice, find=find)
