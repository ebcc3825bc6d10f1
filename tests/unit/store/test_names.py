"""Any name becomes a file name and round-trips, on every file system."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.unit.store.builders import correction

from scoregate.errors import StoreError
from scoregate.store import (
    BASELINE_OUTPUTS,
    OVERRIDES,
    Store,
    add_override,
    load_baseline_outputs,
    set_baseline_outputs,
)
from scoregate.store.paths import to_names, to_parts

NAMES = st.lists(st.text() | st.sampled_from(["con", "A", "a", "..", ".", "-x", "x" * 300, "~", "%", "+"]), max_size=3)


@given(NAMES)
@example(["\ud800"])
@example(["a" * 99 + "é"])
@example(["x" * 100, "x" * 101])
def test_names_round_trip(names: list[str]) -> None:
    assert to_names(to_parts(names)) == tuple(names)


@given(NAMES)
def test_parts_are_portable(names: list[str]) -> None:
    for part in to_parts(names):
        assert part.isascii()
        assert part == part.lower()
        assert 0 < len(part) <= 110
        assert not set(part) & set('/\\:*?"<>| ')
        assert part[0] not in ".-"
        assert part[-1] != "."
        assert part.split(".")[0] not in {"con", "prn", "aux", "nul", "com1", "lpt9"}


@given(NAMES, NAMES)
def test_two_names_are_two_files(one: list[str], other: list[str]) -> None:
    assert (to_parts(one) == to_parts(other)) == (one == other)


@pytest.mark.parametrize(
    ("part", "proper"),
    [
        ("Accuracy", "+accuracy"),
        ("a b", "a%20b"),
        ("%61", "a"),
        ("%4", "4"),
        ("%ff", "%ef%bf%bd"),
        ("+", "%2b"),
        ("x~", ""),
    ],
)
def test_another_form_is_refused_with_the_valid_one(part: str, proper: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(proper)}$"):
        to_names([part])


@pytest.mark.parametrize(
    "name",
    ["accuracy", "Accuracy", "a/b", "../../etc", "è", "e\u0300", "con", "x" * 300, "", ".", " ", "a.jsonl", "评"],
)
def test_a_key_of_any_name_is_listed_and_read(store: Store, name: str) -> None:
    add_override(store, name, correction("yo"))
    set_baseline_outputs(store, name, "champion", outputs={"1": "yo"})
    assert list(store.list_keys(OVERRIDES)) == [(name,)]
    assert list(store.list_keys(BASELINE_OUTPUTS)) == [(name, "champion")]
    assert load_baseline_outputs(store, name, "champion") == {"1": "yo"}


def test_names_that_differ_in_case_are_two_keys(store: Store, tmp_path: Path) -> None:
    for name in ("ab", "AB", "Ab"):
        add_override(store, name, correction(name))
    assert sorted(store.list_keys(OVERRIDES)) == [("AB",), ("Ab",), ("ab",)]
    files = [path.name for path in (tmp_path / ".scoregate" / "overrides").iterdir()]
    assert len({name.lower() for name in files}) == 3


def test_a_file_of_another_name_fails(store: Store, tmp_path: Path) -> None:
    add_override(store, "accuracy", correction("yo"))
    folder = tmp_path / ".scoregate" / "overrides"
    (folder / "accuracy.jsonl").rename(folder / "Accuracy.jsonl")
    with pytest.raises(StoreError, match=r"Accuracy\.jsonl is not valid in the store.*\n.*\+accuracy\.jsonl"):
        list(store.list_keys(OVERRIDES))


def test_a_link_that_leaves_the_store_is_not_followed(store: Store, tmp_path: Path) -> None:
    add_override(store, "accuracy", correction("yo"))
    secret = tmp_path / "secret"
    secret.write_text("{}")
    (tmp_path / ".scoregate" / "overrides" / "other.jsonl").symlink_to(secret)
    with pytest.raises(StoreError, match="outside the store"):
        list(store.read(OVERRIDES, ("other",)))
    with pytest.raises(StoreError, match="outside the store"):
        add_override(store, "other", correction("yo"))
    assert secret.read_text() == "{}"
