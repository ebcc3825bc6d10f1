"""Finished runs, as the commands that work on them take them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from scoregate.ci.archive import read_run
from scoregate.ci.baseline import Baseline
from scoregate.ci.baseline.file import baseline_at
from scoregate.ci.flow import Outcome, judged
from scoregate.ci.settings import Settings
from scoregate.ci.wiring import gated
from scoregate.cli.options import settings_of
from scoregate.store import open_store
from scoregate.store.counting import counted


def gated_settings(root: Path, flags: Mapping[str, Any]) -> Settings:
    """The settings of a project and of its suites, by which finished runs are judged.

    Raises:
        SettingsError: all that is wrong with them.
    """
    return anyio.run(gated, root, settings_of(root, flags))


def rejudged(run: Path, baseline: Path | None, settings: Settings) -> Outcome:
    """A finished run and a base, both with what people have said since, judged under the present settings.

    Raises:
        RecordError: one of them cannot be read. StoreError: people's verdicts cannot be read.
    """
    found = Baseline(None, "no base was named") if baseline is None else baseline_at(baseline)
    by_now = partial(counted, store=open_store)
    return judged(by_now(read_run(run)), found.with_runs(by_now), settings)
