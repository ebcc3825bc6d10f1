"""The style sheets of the pages: a block that isn't closed hides every rule after it."""

from __future__ import annotations

from pathlib import Path

import pytest

import scoregate

PACKAGE = Path(scoregate.__file__).parent


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.css")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_block_is_closed(path: Path) -> None:
    depth = 0
    for character in path.read_text(encoding="utf-8"):
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert 0 <= depth <= 2  # a rule in a media query
    assert depth == 0
