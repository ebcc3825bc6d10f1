"""The reference pages: up to date with the code, and complete."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from tools import reference

from scoregate.cli.main import COMMANDS, INTERNAL_ERROR, INTERRUPTED
from scoregate.kernel.gate import EXIT_CODES
from scoregate.kernel.judge.settings.limit_fields import RULES, RelaxableRule

PAGES = Path(__file__).parent.parent / "docs" / "reference"


@pytest.mark.parametrize("page", sorted(path.name for path in PAGES.glob("*.md")))
def test_a_page_is_up_to_date_with_the_code(page: str) -> None:
    text = (PAGES / page).read_text(encoding="utf-8")
    assert reference.render(text) == text, "run `python tools/reference.py`"


def test_the_list_of_pages_for_language_models_is_up_to_date() -> None:
    assert reference.LLMS.read_text(encoding="utf-8") == reference.list_pages(), "run `python tools/reference.py`"


def test_every_generated_part_is_on_a_page() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in PAGES.glob("*.md"))
    assert {name for name in reference.SECTIONS if f"<!-- generated: {name} -->" not in text} == set()


def test_every_command_has_a_section() -> None:
    headings = re.findall(r"^## scoregate (\w+)$", (PAGES / "cli.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == list(COMMANDS)


def test_every_rule_is_described_with_its_severity() -> None:
    text = (PAGES / "rules.md").read_text(encoding="utf-8")
    matches = dict(re.findall(r"^### (\w+)\n.*?Severity: (`warn`|`fail`|`off`|fixed)", text, re.DOTALL | re.MULTILINE))
    known = {rule.key for rule in RULES}
    assert set(matches) == known
    fixed = {name for name, severity in matches.items() if severity == "fixed"}
    assert fixed == known - set(get_args(RelaxableRule)) == {rule.key for rule in RULES if rule.is_fixed}
    assert {name for name, severity in matches.items() if severity == "`warn`"} == {"comparable", "judge_agreement"}
    assert {name for name, severity in matches.items() if severity == "`off`"} == {"same_model"}


def test_the_title_of_every_rule_is_on_the_page() -> None:
    text = " ".join((PAGES / "rules.md").read_text(encoding="utf-8").split())
    assert [rule.failed for rule in RULES if rule.failed not in text] == []


def test_every_exit_code_is_in_the_table() -> None:
    text = (PAGES / "exit_codes.md").read_text(encoding="utf-8")
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)}
    assert codes == {*EXIT_CODES.values(), 2, INTERNAL_ERROR, INTERRUPTED}
