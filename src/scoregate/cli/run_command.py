"""`scoregate run`: the whole story."""

from __future__ import annotations

from typing import Any

import click

from scoregate.cli.options import (
    baseline_options,
    gate_options,
    judging_settings_of,
    model_options,
    out_option,
    project_root,
    publish_options,
    running_options,
    selection_options,
    voice_options,
)
from scoregate.cli.story import tell_story
from scoregate.cli.voice import Voice


@click.command("run")
@selection_options
@baseline_options
@out_option
@click.option("--max-suites", type=int, metavar="N", help="How many scripts run at a time; default: cores.")
@running_options
@click.option("--python", metavar="PATH", help="The interpreter that runs the suites.")
@click.option("--python-version", metavar="X.Y", help="Of the environment that --install makes.")
@click.option(
    "--install",
    metavar="auto|uv-sync|requirements|none|COMMAND",
    help="Make an environment for the suites; auto does so in the action only, from what the project has.",
)
@model_options
@gate_options
@publish_options
@click.option(
    "--resume",
    is_flag=True,
    help="Reuse what the last run has measured, if it did not finish and the code is the same.",
)
@voice_options
def command(voice: Voice, *, resume: bool, **flags: Any) -> int:
    """Run the suites under PATHS, compare them with a base, judge, and write reports.

    Without PATHS: the folder evals/, and eval_*.py, *_eval.py, *.eval.py and *.testset.toml anywhere that git does not
    ignore.
    """
    root = project_root(flags)
    return tell_story(judging_settings_of(root, flags), root, voice, resumes=resume)
