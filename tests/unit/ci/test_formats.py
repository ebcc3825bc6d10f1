"""The formats of result files: those that settings take are those that are read."""

from __future__ import annotations

from scoregate.ci.importers import IMPORTERS
from scoregate.ci.settings.commands import IMPORTED


def test_settings_take_every_format_that_is_read_and_no_other() -> None:
    assert {*IMPORTED, "junit"} == IMPORTERS.keys()
    assert "junit" not in IMPORTED


def test_every_format_has_its_reader() -> None:
    assert all(callable(form.read) for form in IMPORTERS.values())
