"""Settings accept exactly the formats of result files that have readers."""

from __future__ import annotations

from scoregate.features.imports.reader import IMPORTERS
from scoregate.kernel.judge.settings.tables import IMPORT_FORMATS


def test_settings_accept_exactly_the_formats_with_readers() -> None:
    assert {*IMPORT_FORMATS, "junit"} == IMPORTERS.keys()
    assert "junit" not in IMPORT_FORMATS


def test_every_format_has_a_reader() -> None:
    assert all(callable(form.read) for form in IMPORTERS.values())
