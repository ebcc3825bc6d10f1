"""`scoregate judge`: judges with versions and tags."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any, cast

import click

from scoregate.cli.text_output import CommandGroup, format_day, print_json, print_line, print_lines, print_table
from scoregate.errors import UsageError
from scoregate.judges import JudgesFactory, JudgeVersion
from scoregate.judges.versions import PROD
from scoregate.store import JUDGES, open_store
from scoregate.store.judges import Grading


def table_row(used: JudgeVersion, newest: JudgeVersion) -> tuple[str, ...]:
    """The cells of a judge in the table."""
    kind = f"{used.judge_type}, {used.score_type}"
    return used.name, kind, used.version, newest.version, " ".join(used.tags), used.model or "", used.description


def to_json(version: JudgeVersion) -> dict[str, Any]:
    """All fields of a version, as JSON data."""
    return {
        "name": version.name,
        "id": version.id,
        "version": version.version,
        "tags": list(version.tags),
        "description": version.description,
        "created_at": None if version.created_at is None else version.created_at.isoformat(),
        **version.grading.model_dump(mode="json", include=set(Grading.model_fields)),
    }


def version_lines(version: JudgeVersion) -> Iterator[str]:
    """The fields that scores depend on, one a line, then the lines of the prompt."""
    fields = version.grading.model_dump(include=set(Grading.model_fields) - {"prompt", "categories"}, exclude_none=True)
    yield from (f"{name} = {value}" for name, value in fields.items())
    for category in version.categories:
        score = "" if category.score is None else f" (score {category.score:g})"
        yield f"category {category.value}{score}{f': {category.description}' if category.description else ''}"
    if version.prompt is not None:
        yield from ("", *version.prompt.splitlines())


def version_heading(version: JudgeVersion) -> str:
    """Name, version, tags and date of a version."""
    tags = f" [{', '.join(version.tags)}]" if version.tags else ""
    created = f" of {format_day(version.created_at)}" if version.created_at else ""
    return f"{version.label}{tags}{created}"


def diff_versions(old: JudgeVersion, new: JudgeVersion) -> list[str]:
    """A unified diff of two versions, empty if they are equal."""
    return list(
        unified_diff(
            list(version_lines(old)), list(version_lines(new)), version_heading(old), version_heading(new), lineterm=""
        )
    )


_HEADINGS = ("judge", "kind", "used", "newest", "tags", "model", "description")
_STYLES = (("+", "green"), ("-", "red"), ("@", "cyan"))


@click.group("judge", cls=CommandGroup)
def command() -> None:
    """Manage judges, stored as TOML in .scoregate/judges. An edited prompt becomes the next version."""


@command.command("ls")
@click.option("--json", "json_", is_flag=True, help="Print every field of the versions in use, as a JSON list.")
def ls(json_: bool) -> None:
    """List the judges, with the version that is used if none is pinned."""
    judges = _judges()
    used = judges.list()
    if json_:
        print_json(map(to_json, used))
        return
    rows = [table_row(each, judges.versions(each.name)[0]) for each in used]
    print_table(_HEADINGS, rows, nothing="There are no judges.")


@command.command("show")
@click.argument("judge")
@click.argument("version", required=False, metavar="[VERSION|TAG]")
@click.option("--json", "json_", is_flag=True, help="Print all versions, or the named one, as a JSON list.")
def show(judge: str, version: str | None, json_: bool) -> None:
    """Show a version of JUDGE (default: the one in use), and list its versions."""
    judges = _judges()
    versions = judges.versions(judge)
    one = _version(judges, judge, version)
    if json_:
        print_json(map(to_json, versions if version is None else [one]))
        return
    print_lines([version_heading(one), "", *version_lines(one)])
    if version is None:
        print_lines(["", "versions:", *(f"  {version_heading(each)}" for each in versions)])


@command.command("add")
@click.argument("name")
@click.option("--prompt", metavar="TEXT", help="Prompt, with {{field}} for each field of the example.")
@click.option("--prompt-file", metavar="FILE", help="File with the prompt; - for stdin.")
@click.option("--code", metavar="MODULE:CLASS", help="Judge in Python, instead of a prompt.")
@click.option("--model", metavar="NAME", help="Model of the judge; default: the model of the project.")
@click.option(
    "--score-type", type=click.Choice(["binary", "categorical", "numeric"]), default="binary", help="Kind of score."
)
@click.option(
    "--category",
    "categories",
    multiple=True,
    metavar="VALUE[=SCORE]",
    help="Category of a categorical judge (repeatable).",
)
@click.option("--min", "low", type=float, help="Lowest score (numeric judges only).")
@click.option("--max", "high", type=float, help="Highest score (numeric judges only).")
@click.option("--description", default="", metavar="TEXT", help="Description of the judge.")
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
    """Create version 0.0 of the judge NAME; to change it, edit its file."""
    if sum(given is not None for given in (prompt, prompt_file, code)) != 1:
        raise UsageError("exactly one of --prompt, --prompt-file and --code is required")
    if prompt_file is not None:
        try:
            prompt = sys.stdin.read() if prompt_file == "-" else Path(prompt_file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read {prompt_file}: {error}") from None
    judges = _judges()
    if code is not None:
        # The path of a console script begins with the folder of the script.
        sys.path.insert(0, os.getcwd())  # noqa: PTH109
        created = judges.register(code, name, description)
    else:
        created = judges.create(
            name,
            prompt or "",
            model,
            cast("Any", score_type),
            description,
            categories=[_category(each) for each in categories],
            min_score=low,
            max_score=high,
        )
    print_line(f"{created.label}: written to {open_store().location(JUDGES, (name,))}")


@command.command("tag")
@click.argument("judge")
@click.argument("tag", default=PROD)
@click.argument("version", required=False)
@click.option("--remove", is_flag=True, help="Remove the tag.")
def tag(judge: str, tag: str, version: str | None, remove: bool) -> None:
    """Put TAG (default: prod) on VERSION of JUDGE (default: the newest). Tests use prod if nothing else is pinned."""
    judges = _judges()
    if remove and version is not None:
        raise UsageError("--remove takes no version: a tag belongs to one version only")
    print_line(str(judges.untag(judge, tag) if remove else judges.tag(judge, tag, version)))


@command.command("diff")
@click.argument("judge")
@click.argument("old", required=False)
@click.argument("new", required=False)
def diff(judge: str, old: str | None, new: str | None) -> None:
    """Show what changed in JUDGE between two versions or tags.

    Default for NEW: the newest version. Default for OLD: the version in use, or the one before if that is the newest.
    """
    judges = _judges()
    versions = judges.versions(judge)
    after = _version(judges, judge, new or "latest")
    before = _version(judges, judge, old)
    if old is None and before.number == after.number:
        older = [each for each in versions if each.number is not None and after.number and each.number < after.number]
        before = older[0] if older else after
    lines = diff_versions(before, after)
    print_lines(lines or [f"{before.label} and {after.label} are equal."], styles=_STYLES)


def _judges() -> JudgesFactory:
    return JudgesFactory(open_store())


def _version(judges: JudgesFactory, judge: str, version: str | None) -> JudgeVersion:
    """Find a version by its number or tag."""
    is_number = version is not None and version[:1].isdigit()
    named = judges.get(judge, version=version) if is_number else judges.get(judge, tag=version)
    return named or judges.versions(judge)[0]


def _category(text: str) -> dict[str, Any]:
    value, separator, score = text.rpartition("=")
    try:
        return {"value": value, "score": float(score)} if separator else {"value": text}
    except ValueError:
        raise UsageError(f"--category {text!r:.60}: the part after = must be a number from 0 to 1") from None
