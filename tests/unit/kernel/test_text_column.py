"""A column of texts behaves as the list of these texts."""

from itertools import pairwise

import pytest

from scoregate.kernel.types.runs.text_column import TextColumn

TEXTS = ["270c7a56", "", "ü … 🙂", "a\nb\0c", "lone \ud800", "", "x" * 1000]


def test_it_holds_appended_texts() -> None:
    column = TextColumn(TEXTS[:2])
    column.append(TEXTS[2])
    column.extend(TEXTS[3:])
    assert list(column) == TEXTS
    assert (len(column), column[0], column[-1], column[2:5]) == (7, TEXTS[0], TEXTS[-1], TEXTS[2:5])
    assert dict(zip(column, range(7), strict=True))["x" * 1000] == 6
    for outside in (7, -8):
        with pytest.raises(IndexError):
            column[outside]


def test_it_equals_columns_and_lists_of_its_texts() -> None:
    assert TextColumn(TEXTS) == TextColumn(TEXTS) == TEXTS
    assert TextColumn(["ab", "c"]) != TextColumn(["a", "bc"])
    assert all(TextColumn(one) != TextColumn(other) for one, other in pairwise([TEXTS, TEXTS[:-1], []]))
    assert repr(TextColumn(["a"])) == "TextColumn(['a'])"
