"""The page about troubleshooting has an entry for every exit code and every rule, with the title that users see."""

from __future__ import annotations

import re
from pathlib import Path

from scoregate.kernel.gate import RUN_CHECKS, SUITE_CHECKS
from scoregate.kernel.judge.settings.limit_fields import RULES as ALL_RULES
from scoregate.kernel.types.declarations.kernel import RULES as KERNEL_RULES

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
RULES = {rule.key: rule for rule in ALL_RULES}
ENTRIES = dict(re.findall(r"^### `(\w+)`\n\n> (.+)\n", TEXT, re.MULTILINE))


def test_every_rule_has_an_entry_and_no_other() -> None:
    assert set(ENTRIES) == set(RULES)


def test_every_entry_begins_with_the_title_that_users_see() -> None:
    for rule, example in ENTRIES.items():
        assert example.startswith(RULES[rule].titles[0]), rule


def test_rules_that_cannot_be_relaxed_are_listed() -> None:
    fixed = TEXT.partition("can't be relaxed:")[2]
    assert set(re.findall(r"`(\w+)`", fixed)) == {rule.key for rule in RULES.values() if rule.is_fixed}


def test_every_exit_code_has_a_section() -> None:
    documented = set(re.findall(r"^## Exit code (\d+)$", TEXT, re.MULTILINE))
    assert documented == {"0", "1", "2", "3", "4", "130"}


def test_every_rule_of_the_kernel_is_applied() -> None:
    assert {rule for check in (*RUN_CHECKS, *SUITE_CHECKS) for rule in check.rules} == set(KERNEL_RULES)
