"""The baseline's outputs in the process of a suite, for evaluators that compare with them."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from scoregate.engine.trial import CURRENT, Trial
from scoregate.errors import InvalidSuite
from scoregate.kernel.types.runs.baseline_outputs import BASELINE_OUTPUTS_VARIABLE, battle_key, read_baseline_outputs


def current_trial() -> Trial:
    """The current trial.

    Raises:
        InvalidSuite: no suite runs.
    """
    if (trial := CURRENT.get()) is None:
        raise InvalidSuite(
            "a comparison with the baseline needs the suite that it is a part of",
            advice="Call run_test_suite or evaluate.",
        )
    return trial


def recorded_baseline(trial: Trial) -> Any:
    """The base run's output for this case, as JSON; None if there is none."""
    if not (file := os.environ.get(BASELINE_OUTPUTS_VARIABLE)):
        return None
    return _read_recorded_outputs(file).get((battle_key(trial.log.suite, trial.params), trial.case.hash))


@lru_cache(maxsize=1)
def _read_recorded_outputs(file: str) -> dict[tuple[str, str], Any]:
    with Path(file).open("rb") as lines:
        return read_baseline_outputs(lines)
