"""The hook of result files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scoregate.ci.steps import Step

if TYPE_CHECKING:
    from scoregate.ci.launch import ReadResultFile
    from scoregate.ci.secrets import Redactor


class ImportsStep(Step):
    """Reads the result files of other tools."""

    name = "imports"

    def open_reader(self, redact: Redactor) -> ReadResultFile:
        from scoregate.features.imports.reader import Reader

        return Reader(redact)


STEP = ImportsStep()
