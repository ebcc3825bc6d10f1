"""What a job's later steps and its summary get of a command that ended before it could report."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from scoregate.ci.github.commands import outputs_text
from scoregate.ci.github.context import read_context
from scoregate.ci.report.escape import fence
from scoregate.ci.report.text import excerpt
from scoregate.ci.secrets import Redactor, secret_values
from scoregate.core.rules import Conclusion

_LONGEST = 2_000
_OUTPUTS = {
    "conclusion": Conclusion.UNMEASURABLE.value,
    "pass-rate": "",
    "failed-gates": "0",
    "comment-url": "",
    "comment-pending": "false",
    "run-path": "",
    "report-path": "",
    "junit-path": "",
    "artifact-name": "",
}


def report_failure(problems: Sequence[str], *, outputs: bool = True) -> None:
    """Say in the summary why there is no report, and set the outputs, so that no step takes silence for a pass.

    Args:
        outputs: whether they are set; not where a part of the command has set them already.
    """
    github = read_context(os.environ)
    if github is None or not problems:
        return
    told = excerpt(Redactor(secret_values(os.environ)).text("\n\n".join(problems)), _LONGEST)
    _append(github.summary, f"## scoregate: could not be measured\n\n{fence(told.splitlines())}\n\n")
    if outputs:
        _append(github.output, outputs_text(_OUTPUTS))


def _append(path: Path | None, text: str) -> None:
    """A file that cannot be written to is no reason to hide the error itself."""
    with suppress(OSError):
        if path is not None:
            with path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(text)
