"""The options of a command in groups, the most common ones first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

_OTHERS = "Other options"
RUN_GROUPS: Mapping[str, Sequence[str]] = {
    "Common options": (
        "--baseline", "-k", "--last-failed", "--repeats", "--max-cases", "--model", "--cache", "--max-cost", "--watch",
        "--verbose",
    ),
    "Suites and cases": (
        "--suite", "--config", "--affected", "--sample", "--seed", "--failed-first", "-x", "--max-failures", "--resume",
        "--force", "--working-directory",
    ),
    "Gates": (
        "--min-pass-rate", "--max-drop", "--fail-on-regression", "--fail-on-broken-cases", "--max-error-rate",
        "--confirm", "--policy-from",
    ),
    "Reports": ("--out", "--message", "--show-outputs", "--json", "--quiet"),
    "Processes": (
        "--max-suites", "--timeout", "--env-file", "--python", "--python-version", "--install", "--install-groups",
        "--shard", "--partition", "--executor", "--scheduler", "--retries",
    ),
    "Calls of models": ("--max-tokens", "--gateway", "--cassettes"),
    "Pull requests": (
        "--base-branch", "--comment", "--annotations", "--check-run", "--key", "--github-token", "--approved",
        "--allow-skip",
    ),
}  # fmt: skip
"""Each option of `scoregate run` by one of its names. What is in no group follows under another title."""


class RunCommand(click.Command):
    """`scoregate run`, whose help has groups of options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by their groups."""
        groups = {name: title for title, names in RUN_GROUPS.items() for name in names}
        records: dict[str, list[tuple[int, tuple[str, str]]]] = {title: [] for title in (*RUN_GROUPS, _OTHERS)}
        for parameter in self.get_params(ctx):
            if not isinstance(parameter, click.Option) or (record := parameter.get_help_record(ctx)) is None:
                continue
            name = next((each for each in parameter.opts if each in groups), "")
            title = groups.get(name, _OTHERS)
            records[title].append((RUN_GROUPS[title].index(name) if name else 0, record))
        for title, rows in records.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl([record for _, record in sorted(rows, key=lambda row: row[0])])
