"""Mistakes of the first hours: each is made again, and its message is the one that the documentation shows."""

from __future__ import annotations

import re

import pytest
from tools.mistakes.mistake import Made, Mistake, make
from tools.mistakes.page import GROUPS, PAGE, write_group

OWN_FRAME = re.compile(r"(?:File |at )\S*site-packages/scoregate/")


@pytest.mark.parametrize("group", GROUPS)
def test_each_message_is_the_documented_one(group: str) -> None:
    entries: dict[str, Made] = {}

    def make_once(mistake: Mistake) -> Made:
        return entries.setdefault(mistake.title, make(mistake))

    section = write_group(group, make_once)
    for mistake in GROUPS[group]:
        entry = entries[mistake.title]
        assert entry.code == mistake.code, f"{mistake.title}\n{entry.output}"
        assert entry.message, mistake.title
        # Python itself prints the frames of a script that raises.
        own = "\n".join(line for line in entry.output.splitlines() if not line.startswith("  | "))
        assert not OWN_FRAME.search(own), f"{mistake.title}\n{own}"
    documented = PAGE.read_text(encoding="utf-8")
    missing = [line for line in section.splitlines() if line not in documented.splitlines()]
    assert missing == [], "run python -m tools.mistakes"


def test_there_are_sixty_different_mistakes() -> None:
    titles = [mistake.title for group in GROUPS.values() for mistake in group]
    assert len(titles) == len(set(titles))
    assert len(titles) >= 60
