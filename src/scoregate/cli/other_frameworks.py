"""What `scoregate list` and `scoregate init` print about evals of other frameworks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from scoregate.kernel.judge.settings.sources import OWN_FILE, SHARED_FILE, read_file_layer
from scoregate.kernel.run.frameworks import FoundFramework, format_settings, guide_url


def find_settings_table(root: Path) -> tuple[str, str]:
    """The file of a project's settings, and the table in it; the table is empty for the top level.

    Raises:
        SettingsError: the settings can't be read.
    """
    if not (root / OWN_FILE).exists() and read_file_layer(root).values:
        return SHARED_FILE, "tool.scoregate"
    return OWN_FILE, ""


def explain_settings(frameworks: Sequence[FoundFramework], root: Path) -> Iterator[str]:
    """Which lines make suites of evals of other frameworks."""
    file, table = find_settings_table(root)
    lines = tuple(format_settings(frameworks, table=table))
    if lines:
        if (root / file).exists():
            place = f"the table [{table}] in {file}" if table else file
            yield f"Add these lines to {place} to make them suites:"
        else:
            yield f"`scoregate init` makes them suites. It writes these lines to {file}, and a workflow:"
        yield ""
        yield from (f"  {line}" if line else "" for line in lines)
    for each in frameworks:
        if each.command is None and not each.suite_paths:
            yield ""
            yield f"{each.name} needs some lines of code to report to scoregate: {guide_url(each)}"
