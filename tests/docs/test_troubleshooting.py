"""The page about troubleshooting has an entry for every exit code and every rule, with the title that users see."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from scoregate.ci.settings.fields import RelaxableRule
from scoregate.core.gate import RUN_RULES, SUITE_RULES, Conclusion, Finding
from scoregate.core.gate import finding as titles

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
ENTRIES = dict(re.findall(r"^### `(\w+)`\n\n> (.+)\n", TEXT, re.MULTILINE))


def test_every_rule_has_an_entry_and_no_other() -> None:
    assert set(ENTRIES) == rules()


def test_every_entry_begins_with_the_title_that_users_see() -> None:
    for rule, example in ENTRIES.items():
        name = rule if rule == "assert_test" else rule.replace("_", " ")
        assert example.startswith(Finding(name, Conclusion.FAILED, "", "").title), rule


def test_rules_that_cannot_be_relaxed_are_listed() -> None:
    fixed = TEXT.partition("can't be relaxed:")[2]
    assert set(re.findall(r"`(\w+)`", fixed)) == rules() - set(get_args(RelaxableRule))


def test_every_exit_code_has_a_section() -> None:
    documented = set(re.findall(r"^## Exit code (\d+)$", TEXT, re.MULTILINE))
    assert documented == {"0", "1", "2", "3", "4", "130"}


def rules() -> set[str]:
    """Every name of a rule: those with a title of their own, those that a setting knows, and those in the source."""
    names = {*titles._TITLES, *get_args(RelaxableRule), *_literals()}
    return {name.replace(" ", "_") for name in names}


def _literals() -> Iterator[str]:
    """The names that rules give to what they find, where they are written out."""
    for module in {rule.__module__ for rule in (*RUN_RULES, *SUITE_RULES)}:
        path = sys.modules[module].__file__
        assert path is not None
        for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
            named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Finding"
            if named and node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value:
                yield str(node.args[0].value)
