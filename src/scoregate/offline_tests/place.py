"""Where people find the results of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

REPORT_VARIABLE = "SCOREGATE_REPORT"


def results_url(environ: Mapping[str, str] = os.environ) -> str | None:
    """The page of the CI run, or the report of the `scoregate run` around this one; None where there is neither."""
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
    server, repository, run = (environ.get(name) for name in names)
    if environ.get("GITHUB_ACTIONS") == "true" and server and repository and run:
        return f"{server}/{repository}/actions/runs/{run}"
    report = environ.get(REPORT_VARIABLE)
    return Path(report).absolute().as_uri() if report else None
