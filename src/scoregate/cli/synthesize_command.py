"""`scoregate synthesize`: generate tests with a model, as a CSV file to review."""

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

from scoregate.cli.options import load_project_settings, model_options, project_root
from scoregate.cli.text_output import print_line, print_warning
from scoregate.entities import TestSet
from scoregate.errors import UsageError
from scoregate.kernel.types.usage import METER, UsageMeter
from scoregate.synthesizers import ConfigSynthesizer, GenerationConfig, MultiTurnSynthesizer

_MOST_NAMES = 8
# Spreadsheets may read a cell with such a beginning as a formula.
_FORMULAS = ("=", "+", "-", "@")
_path = click.Path(dir_okay=False, path_type=Path)


@click.command("synthesize")
@click.argument("prompt")
@click.option(
    "--num-tests", type=click.IntRange(1), default=20, show_default=True, metavar="N", help="Number of tests."
)
@click.option("--out", type=_path, required=True, metavar="FILE", help="CSV file to write.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option("--multi-turn", is_flag=True, help="Generate conversations with goals instead of single prompts.")
@click.option(
    "--source", "sources", type=_path, multiple=True, metavar="FILE", help="File to derive tests from (repeatable)."
)
@click.option(
    "--behavior", "behaviors", multiple=True, metavar="NAME", help="Generate tests of this behavior only (repeatable)."
)
@click.option(
    "--category", "categories", multiple=True, metavar="NAME", help="Generate tests of this category only (repeatable)."
)
@click.option(
    "--topic", "topics", multiple=True, metavar="NAME", help="Generate tests of this topic only (repeatable)."
)
@click.option("--batch-size", type=click.IntRange(1), metavar="N", help="Number of tests requested per model call.")
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
    """Generate tests that match PROMPT with a model. Review the CSV file before you use it."""
    # Check the output file before any model is called.
    if out.suffix.lower() != ".csv":
        raise UsageError(f"{out}: the name of the file must end in .csv")
    if out.exists() and not force:
        raise UsageError(f"{out} exists", advice="Choose another name, or overwrite it with --force.")
    if not out.absolute().parent.is_dir():
        raise UsageError(f"{out}: the folder {out.parent} does not exist")
    names = {name: flags.pop(name) for name in ("behaviors", "categories", "topics")}
    try:
        config = GenerationConfig(generation_prompt=prompt, **names)
    except ValueError:
        raise UsageError("PROMPT or a name is empty", advice="Describe the tests to generate.") from None
    root = project_root()
    os.environ.update(load_project_settings(root, flags).environment(root=root))
    kind = MultiTurnSynthesizer if multi_turn else ConfigSynthesizer
    synthesizer = kind(config, sources=sources, batch_size=batch_size or kind.default_batch_size)
    with _print_cost(), _print_warnings():
        test_set = synthesizer.generate(num_tests)
    _write(test_set, out)
    _print_summary(test_set, out)


def _write(test_set: TestSet, out: Path) -> None:
    """Write the whole file or nothing."""
    part = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        test_set.to_csv(part)
        part.replace(out)
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def _print_summary(test_set: TestSet, out: Path) -> None:
    tests = test_set.tests or []
    print_line(f"{out}: {len(tests)} of {test_set.metadata['requested_tests']} tests, {test_set.test_set_type}")
    counts = Counter(test.behavior for test in tests).most_common()
    shown = ", ".join(f"{name} ({count})" for name, count in counts[:_MOST_NAMES])
    print_line(f"behaviors: {shown}{f' and {len(counts) - _MOST_NAMES} more' if len(counts) > _MOST_NAMES else ''}")
    texts = [test.prompt.content if test.prompt else test.test_configuration.goal for test in tests]  # type: ignore[union-attr]
    if formulas := sum(text.startswith(_FORMULAS) for text in texts):
        print_warning(f"warning: {formulas} of the tests look like formulas; a spreadsheet may execute them")
    print_line("A model wrote these tests. Review them before you use them: delete or correct wrong ones. Then run:")
    print_line(f"scoregate testset import {shlex.quote(str(out))} --name {shlex.quote(test_set.name or out.stem)}")


@contextmanager
def _print_cost() -> Iterator[None]:
    """Print the cost of the model calls in this block, even if it fails."""
    meter = UsageMeter()
    token = METER.set(meter)
    try:
        yield
    finally:
        METER.reset(token)
        if usages := meter.usages:
            paid = [usage for usage in usages if not usage.cached]
            costs = [usage.cost for usage in paid if usage.cost is not None]
            cost = f"${sum(costs):.4f}" if len(costs) == len(paid) else "unknown cost"
            tokens_in, tokens_out = sum(each.input_tokens for each in paid), sum(each.output_tokens for each in paid)
            models = ", ".join(sorted({usage.model for usage in usages if usage.model}))
            cached = f"{len(usages) - len(paid)} of {len(usages)} answers from the cache"
            print_line(f"{models}: {cost} ({tokens_in:,} tokens in, {tokens_out:,} out; {cached})")


@contextmanager
def _print_warnings() -> Iterator[None]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)  # Python shows a repeated warning only once by default
        yield
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            print_warning(f"warning: {warning.message}")
