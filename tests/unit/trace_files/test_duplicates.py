"""Near duplicates: what is one, the same result in every process, and time for many texts of one template."""

from __future__ import annotations

import random
import subprocess
import sys
import time

import pytest

from scoregate.trace_files.duplicates import DuplicateFinder

WORDS = "order refund parcel invoice address voucher colour size shop return late early broken gift card mail phone"
ORDER = """
from scoregate.trace_files.duplicates import _make_keys
print(_make_keys("where is my parcel 12"))
"""


def make_texts(count: int) -> list[str]:
    rng = random.Random(1)
    return [f"Please help me with {' and '.join(rng.choices(WORDS.split(), k=8))}, thank you" for _ in range(count)]


def test_duplicates_match() -> None:
    pytest.importorskip("rapidfuzz", reason="the extra scorers has it")
    finder = DuplicateFinder(0.9)
    assert finder.add("Where is my parcel? It should arrive in 30 days.") == 0
    same = ("where is my parcel - it should arrive in 30 days", "Where is my parcels? It should arrive in 30 days!")
    other = ("Where is my parcel? It should arrive in 31 days.", "Where is my refund?", "", "?!")
    assert [finder.find(text) for text in same] == [0, 0]
    assert [finder.find(text) for text in other] == [None] * 4
    assert DuplicateFinder(1).is_exact
    exact = DuplicateFinder(1)
    exact.add(same[0])
    assert [exact.find(same[0].upper()), exact.find(same[1])] == [0, None]


def test_a_negation_makes_two_cases() -> None:
    pytest.importorskip("rapidfuzz", reason="the extra scorers has it")
    text = "Is it {} that I {} return my new shoes{} after I used them for a week, and is the parcel refundable?"
    plain = text.format("possible", "can", "")
    others = (
        text.format("impossible", "can", ""),
        text.format("not possible", "can", ""),
        text.format("possible", "can't", ""),
        text.format("possible", "can’t", ""),
        text.format("possible", "cannot", ""),
        text.format("possible", "can never", ""),
        text.format("possible", "can", " without a bill"),
        text.format("impossible", "can", ", if possible,"),
        plain.replace("refundable", "non-refundable"),
        plain.replace("refundable", "nonrefundable"),
    )
    for one, other in [(plain, each) for each in others] + [(each, plain) for each in others]:
        finder = DuplicateFinder(0.8)
        finder.add(one)
        assert finder.find(other) is None, other
    finder = DuplicateFinder(0.9)
    for each in (others[0], plain, text.format("possible", "do not", "")):
        finder.add(each)
    # A closer opposite doesn't hide what a text repeats.
    assert finder.find(plain.replace("shoes", "shoe")) == 1
    assert finder.find(others[0].replace("shoes", "shoe")) == 0
    assert finder.find(text.format("possible", "don't", "")) == 2


def test_a_changed_letter_is_found_among_texts_of_one_template() -> None:
    pytest.importorskip("rapidfuzz", reason="the extra scorers has it")
    texts, finder, rng = make_texts(1_000), DuplicateFinder(0.95), random.Random(2)
    for text in texts:
        finder.add(text)
    missed = []
    for text in texts:
        place = rng.randrange(len(text))
        missed += [text] if finder.find(f"{text[:place]}q{text[place + 1 :]}") is None else []
    assert len(missed) <= 5


def test_ten_thousand_texts_of_one_template_are_fast() -> None:
    pytest.importorskip("rapidfuzz", reason="the extra scorers has it")
    finder, started = DuplicateFinder(0.99), time.process_time()
    for text in make_texts(10_000):
        if finder.find(text) is None:
            finder.add(text)
    assert time.process_time() - started < 40  # 4 s where nothing else runs; all pairs would take minutes


def test_blocks_are_the_same_in_every_process() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", ORDER], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            check=True, capture_output=True, text=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(printed) == 1
