"""`scoregate judge`: judges with versions and tags."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import click

from scoregate.cli.judge_texts import as_json, difference, heading, lines, row
from scoregate.cli.listing import say, show_json, show_lines, show_table
from scoregate.errors import UsageError
from scoregate.judges import JudgesFactory, JudgeVersion
from scoregate.judges.version import PROD
from scoregate.store import JUDGES, open_store

_HEADINGS = ("judge", "kind", "used", "newest", "tags", "model", "description")
_STYLES = (("+", "green"), ("-", "red"), ("@", "cyan"))


@click.group("judge")
def command() -> None:
    """Judges: kept in .scoregate/judges as TOML; a prompt that was edited there is its next version."""


@command.command("ls")
@click.option("--json", "json_", is_flag=True, help="Every field of the versions in use, as a JSON list.")
def ls(json_: bool) -> None:
    """Show the judges, with the version that is used where none is pinned."""
    judges = _judges()
    used = judges.list()
    if json_:
        show_json(map(as_json, used))
        return
    rows = [row(each, judges.versions(each.name)[0]) for each in used]
    show_table(_HEADINGS, rows, nothing="There are no judges.")


@command.command("show")
@click.argument("judge")
@click.argument("version", required=False, metavar="[VERSION|TAG]")
@click.option("--json", "json_", is_flag=True, help="All versions, or the one that is named, as a JSON list.")
def show(judge: str, version: str | None, json_: bool) -> None:
    """Show a version of JUDGE, if none is named the one in use, and which versions there are."""
    judges = _judges()
    versions = judges.versions(judge)
    one = _version(judges, judge, version)
    if json_:
        show_json(map(as_json, versions if version is None else [one]))
        return
    show_lines([heading(one), "", *lines(one)])
    if version is None:
        show_lines(["", "versions:", *(f"  {heading(each)}" for each in versions)])


@command.command("add")
@click.argument("name")
@click.option("--prompt", metavar="TEXT", help="The question, with {{field}} for each field of the example.")
@click.option("--prompt-file", metavar="FILE", help="The same from a file; - is standard input.")
@click.option("--code", metavar="MODULE:CLASS", help="A judge in Python, instead of a prompt.")
@click.option("--model", metavar="NAME", help="Who is asked; default: the project's model.")
@click.option("--score-type", type=click.Choice(["binary", "categorical", "numeric"]), default="binary")
@click.option("--category", "categories", multiple=True, metavar="VALUE[=SCORE]", help="Of a categorical judge.")
@click.option("--min", "low", type=float, help="Of a numeric judge.")
@click.option("--max", "high", type=float, help="Of a numeric judge.")
@click.option("--description", default="", metavar="TEXT")
def add(
    name: str,
    prompt: str | None,
    prompt_file: str | None,
    code: str | None,
    model: str | None,
    score_type: str,
    categories: Sequence[str],
    low: float | None,
    high: float | None,
    description: str,
) -> None:
    """Make the judge NAME in version 0.0; to change it, edit its file."""
    if sum(given is not None for given in (prompt, prompt_file, code)) != 1:
        raise UsageError("give one of --prompt, --prompt-file and --code")
    judges = _judges()
    if code is not None:
        sys.path.insert(0, os.getcwd())  # noqa: PTH109
        made = judges.register(code, name, description)
    else:
        made = judges.create(
            name,
            _text(prompt_file) if prompt is None else prompt,
            model,
            cast("Any", score_type),
            description,
            categories=[_category(each) for each in categories],
            min_score=low,
            max_score=high,
        )
    say(f"{made.label}: written to {open_store().where(JUDGES, (name,))}")


@command.command("tag")
@click.argument("judge")
@click.argument("tag", default=PROD)
@click.argument("version", required=False)
@click.option("--remove", is_flag=True, help="Take the tag away instead.")
def tag(judge: str, tag: str, version: str | None, remove: bool) -> None:
    """Put TAG (prod) on VERSION of JUDGE, the newest if none is named. Tests run prod where nothing else is pinned."""
    judges = _judges()
    if remove and version is not None:
        raise UsageError("--remove takes no version: a tag is on one version only")
    say(str(judges.untag(judge, tag) if remove else judges.tag(judge, tag, version)))


@command.command("diff")
@click.argument("judge")
@click.argument("old", required=False)
@click.argument("new", required=False)
def diff(judge: str, old: str | None, new: str | None) -> None:
    """Show what changed in JUDGE between two versions or tags.

    NEW is the newest if not named; OLD the version in use, or where that is the newest the one before it.
    """
    judges = _judges()
    versions = judges.versions(judge)
    after = _version(judges, judge, new or "latest")
    before = _version(judges, judge, old)
    if old is None and before.number == after.number:
        older = [each for each in versions if each.number is not None and after.number and each.number < after.number]
        before = older[0] if older else after
    found = difference(before, after)
    show_lines(found or [f"{before.label} and {after.label} say the same."], styles=_STYLES)


def _judges() -> JudgesFactory:
    return JudgesFactory(open_store())


def _version(judges: JudgesFactory, judge: str, said: str | None) -> JudgeVersion:
    """A version by its number or its tag."""
    number = said is not None and said[:1].isdigit()
    found = judges.get(judge, version=said) if number else judges.get(judge, tag=said)
    return found or judges.versions(judge)[0]


def _category(said: str) -> dict[str, Any]:
    value, separator, score = said.rpartition("=")
    try:
        return {"value": value, "score": float(score)} if separator else {"value": said}
    except ValueError:
        raise UsageError(f"--category {said!r:.60}: what stands after = must be a number from 0 to 1") from None


def _text(file: str | None) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file or "").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
