"""The script that updates the table of retired models, on pages in the forms of providers."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from tools import retired_models

MARKDOWN = """
| Shutdown date | Affected model | Status | Recommended replacement |
|---|---|---|---|
| Jan 14, 2027 | `gpt-4o-2024-08-06` \\| `gpt-4o` | Deprecated | gpt-6-luna or gpt-6-sol |
| 2027-05-01 | gpt-9-new | Deprecated | |

| Model | Release date | Shutdown date | Recommended replacement |
|---|---|---|---|
| gemini-2.5-pro | June 17, 2025 | December 1, 2026 | gemini-3.8-flash |
| gemini-2.0-flash | February 5, 2025 | Earliest February 2026 | gemini-2.5-flash |
"""
HTML = """<table><tr><th>API model name</th><th>Current state</th><th>Retirement date</th></tr>
<tr><td><code>claude-2.1</code></td><td>Retired</td><td>July 21, 2025</td></tr></table>"""


def test_tables_of_all_forms_are_read() -> None:
    assert retired_models.read_page(MARKDOWN) == {
        "gpt-4o-2024-08-06": (date(2027, 1, 14), "gpt-6-luna"),
        "gpt-4o": (date(2027, 1, 14), "gpt-6-luna"),
        "gpt-9-new": (date(2027, 5, 1), ""),
        "gemini-2.5-pro": (date(2026, 12, 1), "gemini-3.8-flash"),
    }
    assert retired_models.read_page(HTML) == {"claude-2.1": (date(2025, 7, 21), "")}
    assert retired_models.read_page("no tables, <b>nothing</b>") == {}


def test_the_table_is_written_as_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = retired_models.TABLE.read_text("utf-8")
    _, before = retired_models.read_table(text)
    assert retired_models.write_table(text[: text.index("[[models]]")], before) == text
    copy, page = tmp_path / "table.toml", tmp_path / "page.md"
    copy.write_text(text, "utf-8")
    page.write_text(MARKDOWN, "utf-8")
    monkeypatch.setattr(retired_models, "TABLE", copy)
    assert retired_models.main([f"openai={page}"]) == 0
    _, after = retired_models.read_table(copy.read_text("utf-8"))
    assert after["openai", "gpt-9-new"] == (date(2027, 5, 1), "", "")
    assert before.items() <= after.items()
    assert "gpt-9-new: 2027-05-01" in capsys.readouterr().out
