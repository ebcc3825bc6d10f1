"""A set that keeps hashes instead of keys."""

from __future__ import annotations

import pytest

from scoregate.kernel.types.runs import text_column
from scoregate.kernel.types.runs.text_column import KeySet


@pytest.mark.parametrize("most", [200_000, 700, 0])
def test_added_keys_are_found_while_it_grows(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(text_column, "_MOST_AS_THEY_ARE", most)
    keys, texts = KeySet(), [f"case {number}" for number in range(5_000)]
    for text in texts:
        assert keys.add(text)
        assert not keys.add(text)
        assert keys.add((text, 1))
    assert len(keys) == 10_000
    assert all(text in keys and (text, 1) in keys for text in texts)
    assert not any(f"other {number}" in keys or (f"case {number}", 2) in keys for number in range(5_000))
    keys.clear()
    assert len(keys) == 0
    assert texts[0] not in keys


def test_a_key_with_the_hash_of_an_empty_slot_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_column, "_MOST_AS_THEY_ARE", 0)
    keys = KeySet()
    assert 0 not in keys
    keys.add(0)
    assert 0 in keys
    assert len(keys) == 1
    assert 2 not in keys
