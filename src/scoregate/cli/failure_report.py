"""The summary and outputs of a GitHub job if a command fails before it can report."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from scoregate.kernel.host.secrets import Redactor, secret_values
from scoregate.kernel.job.github.commands import outputs_text
from scoregate.kernel.job.github.context import read_github_job
from scoregate.kernel.report.markdown import fence
from scoregate.kernel.report.text import excerpt
from scoregate.kernel.types.amounts import Conclusion

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
    """Write to the summary why there is no report, and set outputs, so that later steps don't assume a pass.

    Args:
        problems: what went wrong; nothing is written if there are none.
        outputs: whether to set outputs; False if the command has set them already.
    """
    github = read_github_job(os.environ)
    if github is None or not problems:
        return
    text = excerpt(Redactor(secret_values(os.environ)).text("\n\n".join(problems)), _LONGEST)
    _append(github.summary, f"## scoregate: could not be measured\n\n{fence(text.splitlines())}\n\n")
    if outputs:
        _append(github.output, outputs_text(_OUTPUTS))


def _append(path: Path | None, text: str) -> None:
    """Append to a file; if that fails, the error of the command is still the one to report."""
    with suppress(OSError):
        if path is not None:
            with path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(text)
