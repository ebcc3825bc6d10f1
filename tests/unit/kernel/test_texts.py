"""Texts, numbers, globs and variables of the kernel: what is cut, sorted, shown and refused."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest

from scoregate.kernel.types import lazy_names
from scoregate.kernel.types.backoff import backoff_s, retry_after_s
from scoregate.kernel.types.cleanup import CLEANUPS, close_at_end
from scoregate.kernel.types.loopback import exclude_from_proxies
from scoregate.kernel.types.relative_paths import is_below, join_path, matches_path
from scoregate.kernel.types.shell_operators import find_shell_operator
from scoregate.kernel.types.text import (
    case_name,
    case_sort_key,
    describe_width,
    format_dollars,
    format_local_time,
    is_positive_number,
    is_whole_number,
    matches_filters,
    natural_sort_key,
    parse_amount,
    parse_number,
    rank_names,
    replace_surrogates,
    sort_by_name,
    suggest_names,
    truncate_middle,
)


def test_a_long_text_keeps_its_start_and_its_end() -> None:
    assert truncate_middle("x" * 100, 100) == "x" * 100
    text = "a" * 5_000 + "b" * 5_000
    assert truncate_middle(text, 100) == f"{'a' * 30}… 9,940 characters left out …{'b' * 30}"
    assert truncate_middle(text, 101) == truncate_middle(text, 100)
    assert truncate_middle(text, 102) == f"{'a' * 31}… 9,938 characters left out …{'b' * 31}"


def test_lone_surrogates_become_question_marks() -> None:
    assert [replace_surrogates(each) for each in ("a", "ä", "a\ud800ä")] == ["a", "ä", "a?ä"]


def test_the_name_of_a_case_is_its_hash_or_its_first_text() -> None:
    assert case_name("x" * 81, {}) == "x" * 80
    digest = "0123456789abcdef"
    assert case_name(digest[:15], {"q": "text"}) == digest[:15]
    assert case_name(digest, {"n": 1, "q": " a\n b ", "r": "c"}) == "a b"
    assert case_name(digest.upper(), {"q": "x" * 81}) == "x" * 80
    assert case_name(digest, {"q": " " * 319 + "ab"}) == "a"
    assert case_name(digest, {"n": 1}) == case_name(digest, ["a"]) == ""


def test_numbers_in_names_are_compared_by_value() -> None:
    names = ["case 10", "case 2", "b", "case 02x", "case " + "9" * 5_000, "case 1"]
    assert sorted(names, key=natural_sort_key) == ["b", "case 1", "case 2", "case 02x", "case 10", names[4]]
    assert rank_names(["c 10", "c 2", "c 1"]) == [2, 1, 0]
    assert rank_names([]) == []
    assert list(sort_by_name({"c 10": 1, "c 2": 2, "c 02": 3})) == ["c 02", "c 2", "c 10"]
    assert sort_by_name({"b": 1}) == {"b": 1}
    assert list(sort_by_name({"b": 1, "a": 2}).items()) == [("a", 2), ("b", 1)]
    assert case_sort_key("0123456789abcdef") == case_sort_key("fedcba9876543210") == ()
    assert case_sort_key("case 2") < case_sort_key("case 10")


def test_similar_names_are_suggested_or_known_ones_listed() -> None:
    known = ["accuracy", "accurate", "accuracies", "accuracy2", "brevity"]
    assert suggest_names("acuracy", known) == "Did you mean 'accuracy' or 'accuracy2' or 'accuracies'?"
    assert suggest_names("zzz", known[:1]) == "There are: 'accuracy'"
    many = [f"n{index}" for index in range(21)]
    assert suggest_names("zzz", many) == f"There are: {', '.join(map(repr, many[:20]))}"
    assert suggest_names("zzz", []) == ""
    assert suggest_names("zzz", ["x" * 200]) == f"There are: '{'x' * 99}"


def test_filters_are_globs_of_which_one_must_match() -> None:
    assert matches_filters("bot", [])
    assert matches_filters("bot", ["x", "b*"])
    assert not matches_filters("bot", ["x", "B*"])


def test_numbers_of_untrusted_files() -> None:
    assert [parse_number(each) for each in (1, 0.5, True, "1", None, 10**400)] == [1, 0.5, None, None, None, None]
    assert parse_number(math.inf) == math.inf
    assert [parse_amount(each) for each in (0, -0.1, math.inf, math.nan, 2, False)] == [0, None, None, None, 2, None]
    assert [is_whole_number(each, 1) for each in (1, 0, 2, True, 1.0, "1")] == [True, False, True, False, False, False]
    assert [is_positive_number(each) for each in (1, 0, 0.1, True, math.inf, "1", -1)] == [
        True, False, True, False, True, False, False,
    ]  # fmt: skip


def test_dollars_have_cents_or_two_digits() -> None:
    for dollars, text in (
        (0, "$0.00"), (0.42, "$0.42"), (12.3, "$12.30"), (1_234.5, "$1,234.50"), (0.01, "$0.01"), (0.0042, "$0.0042"),
        (0.00996, "$0.01"), (0.000_012_3, "$0.000012"), (0.00001, "$0.00001"), (0.000_009, "<$0.00001"),
        (-0.5, "$-0.50"), (1e-13, "$0.00"), (0.1 + 0.2 - 0.29, "$0.01"),
    ):  # fmt: skip
        assert format_dollars(dollars) == text


def test_times_and_widths_as_people_read_them() -> None:
    shown = format_local_time(datetime(2026, 1, 31, 9, 30, tzinfo=UTC).timestamp())
    assert shown[:4] + shown[10:11] + shown[13:14] == "2026 :"
    assert shown.count(" ") >= 2
    assert describe_width(1, 2) == "has 1 cell, but the header has 2"
    assert describe_width(0, 2) == "has 0 cells, but the header has 2"


def test_a_delay_doubles_up_to_its_limit() -> None:
    assert [backoff_s(attempt, first_s=0.5) for attempt in (1, 2, 3)] == [0.5, 1, 2]
    assert backoff_s(10, first_s=0.5, longest_s=30) == 30
    assert backoff_s(61, first_s=1) == backoff_s(10_000, first_s=1) == 2.0**60


def test_the_delay_that_a_server_asks_for() -> None:
    for headers, delay in (
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "-5"}, 0.0),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "-1"}, 0.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 60.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:10 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ):
        assert retry_after_s(headers, now=40) == delay


def test_paths_below_a_folder() -> None:
    assert [is_below(each, "a/b") for each in ("a/b", "a/b/c", "a/bc", "a", "x/a/b")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert is_below("x", "")
    assert (join_path(".", "a"), join_path("x/y", "a")) == ("a", "x/y/a")


def test_globs_of_paths() -> None:
    for pattern, matching, others in (
        ("*.py", ("a.py",), ("a/b.py", "a.pyc")),
        ("a/*", ("a/b",), ("a", "a/b/c")),
        ("**", ("a", "a/b/c"), ()),
        ("**/b", ("b", "a/b", "a/a/b"), ("a/c", "b/a")),
        ("a/**", ("a", "a/b", "a/b/c"), ("b", "b/a")),
        ("a/**/c", ("a/c", "a/b/c", "a/b/b/c"), ("a/c/d", "c")),
        ("**/a/**/b", ("a/b", "x/a/y/b"), ("b/a",)),
        ("x/**/**", ("x",), ("y",)),
    ):
        assert [path for path in (*matching, *others) if matches_path(path, pattern)] == list(matching), pattern


def test_operators_that_a_shell_would_act_on() -> None:
    for command, found in (
        ("run a", None), ("run a | cat", ("|", 7)), ("a && b", ("&&", 3)), ("a || b", ("||", 3)), ("a >> b", (">>", 3)),
        ("a > b", (">", 3)), ("a < b", ("<", 3)), ("a & b", ("&", 3)), ("a; b", (";", 2)), ("a $(b)", ("$(", 3)),
        ("a `b`", ("`", 3)), ("a\nb", ("\n", 2)), ("a\n ", None), ("  a | b", ("|", 5)), ("! a", ("!", 1)),
        ("  !\ta", ("!", 3)), ("!a", None), ("a !", None), ("a '|' \"|\"", None), ("a \"$(b)\"", ("$(", 4)),
        ("a \"`b`\"", ("`", 4)), ("a '$(b)'", None), ("a \\| b", None), ("a '\\' | b", ("|", 7)),
        ("a \"\\\"|\" b", None), ("a '\"' | b", ("|", 7)), ("a \"'\" | b", ("|", 7)), ("a $b", None), ("", None),
        ("a \\", None),
    ):  # fmt: skip
        assert find_shell_operator(command) == found, command


def test_this_machine_is_excluded_from_proxies() -> None:
    local = "127.0.0.1,localhost"
    assert exclude_from_proxies({"no_proxy": "x"}) == exclude_from_proxies({"http_proxy": ""}) == {}
    for name in ("http_proxy", "HTTPS_PROXY", "all_proxy"):
        assert exclude_from_proxies({name: "p"}) == {"no_proxy": local, "NO_PROXY": local}
    own = {"http_proxy": "p", "NO_PROXY": " a , ,localhost"}
    assert exclude_from_proxies(own) == dict.fromkeys(("no_proxy", "NO_PROXY"), "a,localhost,127.0.0.1")
    both = exclude_from_proxies({"http_proxy": "p", "NO_PROXY": "a", "no_proxy": "b"})
    assert both == {"no_proxy": f"b,{local}", "NO_PROXY": f"a,{local}"}


def test_names_are_imported_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    package = "scoregate.kernel.types"
    module = __import__(package, fromlist=["x"])
    read = lazy_names.make_getattr(package, {".backoff": ["backoff_s"], ".text": ["LONGEST_NAME"]})
    monkeypatch.delattr(module, "backoff_s", raising=False)
    assert read("backoff_s") is backoff_s
    assert vars(module).pop("backoff_s") is backoff_s
    with pytest.raises(AttributeError, match=r"module 'scoregate\.kernel\.types' has no attribute 'other'"):
        read("other")
    monkeypatch.setattr(module, "__all__", ["zzz", "text"], raising=False)
    names = lazy_names.make_dir(package)()
    assert names == sorted({*(name for name in vars(module) if name.startswith("__")), "zzz", "text"})


@pytest.mark.anyio
async def test_callbacks_run_at_the_end_the_last_first() -> None:
    called: list[int] = []

    async def note(number: int) -> None:
        called.append(number)
        if number == 2:
            raise ValueError

    assert CLEANUPS.get() is None
    async with close_at_end():
        cleanups = CLEANUPS.get()
        assert cleanups is not None
        cleanups.extend(lambda number=number: note(number) for number in (1, 2, 3))
        assert called == []
    assert called == [3, 2, 1]
    assert CLEANUPS.get() is None
