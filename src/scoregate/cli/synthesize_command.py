"""`scoregate synthesize`: tests that a model writes, as a table to review."""

from __future__ import annotations

import os
import shlex
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from scoregate.cli.listing import complain, say
from scoregate.cli.options import model_options, project_root, settings_of
from scoregate.core.evaluation import Usage
from scoregate.core.metering import METER, Meter
from scoregate.entities import TestSet
from scoregate.errors import UsageError
from scoregate.synthesizers import ConfigSynthesizer, GenerationConfig, MultiTurnSynthesizer

_MOST_NAMES = 8
# What a spreadsheet may take for the beginning of a formula.
_FORMULAS = ("=", "+", "-", "@")
_path = click.Path(dir_okay=False, path_type=Path)


@click.command("synthesize")
@click.argument("prompt")
@click.option("--num-tests", type=click.IntRange(1), default=20, show_default=True, metavar="N")
@click.option("--out", type=_path, required=True, metavar="FILE", help="The table (.csv) to write.")
@click.option("--force", is_flag=True, help="Write over what is there.")
@click.option("--multi-turn", is_flag=True, help="Conversations with goals instead of single questions.")
@click.option(
    "--source", "sources", type=_path, multiple=True, metavar="FILE", help="Draw tests from this file; repeatable."
)
@click.option("--behavior", "behaviors", multiple=True, metavar="NAME", help="Only these behaviors; repeatable.")
@click.option("--category", "categories", multiple=True, metavar="NAME", help="Only these categories; repeatable.")
@click.option("--topic", "topics", multiple=True, metavar="NAME", help="Only these topics; repeatable.")
@click.option("--batch-size", type=click.IntRange(1), metavar="N", help="Tests that one question asks for.")
@model_options
def command(
    prompt: str,
    num_tests: int,
    out: Path,
    force: bool,
    multi_turn: bool,
    sources: tuple[Path, ...],
    batch_size: int | None,
    **flags: Any,
) -> None:
    """Have a model write tests as PROMPT says, into a table that is to be reviewed before it is relied upon."""
    _check_out(out, force=force)
    names = {name: flags.pop(name) for name in ("behaviors", "categories", "topics")}
    config = _config(prompt, names)
    root = project_root()
    os.environ.update(settings_of(root, flags).environment(root=root))
    maker = MultiTurnSynthesizer if multi_turn else ConfigSynthesizer
    asked = maker(config, sources=sources, batch_size=batch_size or maker.default_batch_size)
    with _costed(), _told_warnings():
        test_set = asked.generate(num_tests)
    _write(test_set, out)
    _say_written(test_set, out)


def _config(prompt: str, names: dict[str, Any]) -> GenerationConfig:
    try:
        return GenerationConfig(generation_prompt=prompt, **names)
    except ValueError:
        raise UsageError("PROMPT is empty, or a name is", advice="Say in words what tests are wanted.") from None


def _check_out(out: Path, *, force: bool) -> None:
    """Before anything is paid for."""
    if out.suffix.lower() != ".csv":
        raise UsageError(f"{out}: tests are written as a table, whose name ends in .csv")
    if out.exists() and not force:
        raise UsageError(f"{out} is there already", advice="Choose another name, or write over it with --force.")
    if not out.absolute().parent.is_dir():
        raise UsageError(f"{out}: there is no folder {out.parent}")


def _write(test_set: TestSet, out: Path) -> None:
    """All of it or nothing."""
    part = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        test_set.to_csv(part)
        part.replace(out)
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def _say_written(test_set: TestSet, out: Path) -> None:
    tests = test_set.tests or []
    say(f"{out}: {len(tests)} of {test_set.metadata['requested_tests']} tests, {test_set.test_set_type}")
    counts = Counter(test.behavior for test in tests).most_common()
    shown = ", ".join(f"{name} ({count})" for name, count in counts[:_MOST_NAMES])
    say(f"behaviors: {shown}{f' and {len(counts) - _MOST_NAMES} more' if len(counts) > _MOST_NAMES else ''}")
    texts = [test.prompt.content if test.prompt else test.test_configuration.goal for test in tests]  # type: ignore[union-attr]
    if formulas := sum(text.startswith(_FORMULAS) for text in texts):
        complain(f"warning: {formulas} of them begin as formulas do: a spreadsheet may carry them out")
    say(
        "A model wrote them. Review them before you rely on them: delete what is wrong, correct what is expected, then:"
    )
    say(f"scoregate testset import {shlex.quote(str(out))} --name {shlex.quote(test_set.name or out.stem)}")


@contextmanager
def _costed() -> Iterator[None]:
    """Tell what models took in this block, also where it fails."""
    meter = Meter()
    token = METER.set(meter)
    try:
        yield
    finally:
        METER.reset(token)
        if meter.usages:
            say(_cost(meter.usages))


def _cost(usages: tuple[Usage, ...]) -> str:
    paid = [usage for usage in usages if not usage.cached]
    known = [usage.cost for usage in paid if usage.cost is not None]
    cost = f"${sum(known):.4f}" if len(known) == len(paid) else "a cost that is not known"
    tokens = f"{sum(each.input_tokens for each in paid):,} tokens in, {sum(each.output_tokens for each in paid):,} out"
    models = ", ".join(sorted({usage.model for usage in usages if usage.model}))
    return f"{models}: {cost} ({tokens}; {len(usages) - len(paid)} of {len(usages)} answers from the cache)"


@contextmanager
def _told_warnings() -> Iterator[None]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            complain(f"warning: {warning.message}")
