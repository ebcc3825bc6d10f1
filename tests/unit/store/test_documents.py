"""Documents in TOML: any content round-trips, comments of people stay, and errors have a line."""

from __future__ import annotations

import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.unit.store.builders import NASTY

from scoregate.errors import StoreError
from scoregate.store import CONFIGS, JUDGES, Store, StoredJudge, open_store
from scoregate.store.judges import Category

SHELF = ("helpfulness",)
QUOTES = st.sampled_from(
    ['"""', "'''", '"', "\\", "\\n", "<<<<<<< HEAD", ">>>>>>> x", "=======", "# no", "\n", "\u202e"]
)
TEXTS = st.lists(QUOTES | NASTY | st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=5).map(
    "".join
)
VERSIONS = st.tuples(st.integers(0, 20), st.integers(0, 20)).map(lambda pair: f"{pair[0]}.{pair[1]}")
CATEGORIES = st.lists(
    st.builds(Category, value=TEXTS.filter(bool), description=TEXTS, score=st.none() | st.floats(0, 1)),
    min_size=2,
    unique_by=lambda category: category.value,
)
KINDS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({"score_type": "binary"}),
    st.builds(
        lambda low, high: {"score_type": "numeric", "min_score": low, "max_score": high},
        st.floats(-9, 0),
        st.floats(1, 9),
    ),
    CATEGORIES.map(lambda categories: {"score_type": "categorical", "categories": tuple(categories)}),
)
JUDGE = st.builds(
    lambda fields, kind: StoredJudge(**fields, **kind),
    st.fixed_dictionaries(
        {
            "name": TEXTS,
            "id": TEXTS,
            "version": VERSIONS,
            "description": TEXTS,
            "prompt": TEXTS.map(lambda text: f"x{text}"),
            "model": st.none() | TEXTS,
            "tags": st.dictionaries(st.from_regex(r"[a-z][a-z0-9_-]{0,5}", fullmatch=True), VERSIONS, max_size=3),
        }
    ),
    KINDS,
)


def file_of(store: Store) -> Path:
    return Path(store.location(JUDGES, SHELF))


def save_judge(store: Store, judge: StoredJudge) -> None:
    store.update(JUDGES, SHELF, lambda _: [judge])


def read(store: Store) -> StoredJudge:
    (judge,) = store.read(JUDGES, SHELF)
    return judge


def write(store: Store, text: str) -> None:
    file_of(store).parent.mkdir(parents=True, exist_ok=True)
    file_of(store).write_text(text, encoding="utf-8")


@settings(deadline=None)
@given(JUDGE)
@example(StoredJudge(score_type="binary", prompt='a\n"""b"""\r\n<<<<<<< ours\n\\ "'))
@example(StoredJudge(score_type="binary", prompt='a\n""'))
@example(StoredJudge(score_type="binary", prompt='a\n\\"'))
@example(StoredJudge(score_type="binary", prompt='\n"""""'))
def test_any_document_round_trips(judge: StoredJudge) -> None:
    with TemporaryDirectory() as folder:
        store = open_store(folder)
        save_judge(store, judge)
        assert read(store).model_dump() == judge.model_dump()
        text = file_of(store).read_bytes().decode()
    assert not {char for char in text if not char.isprintable()} & set("\u202e\u200b\ufeff\x1b\x00\r")


@settings(deadline=None)
@given(JUDGE, JUDGE)
def test_another_judge_replaces_it_and_keeps_comments(first: StoredJudge, second: StoredJudge) -> None:
    with TemporaryDirectory() as folder:
        store = open_store(folder)
        save_judge(store, first)
        write(store, f"# mine\n{file_of(store).read_text()}\n# the end\n")
        save_judge(store, read(store).model_copy(update=dict(second)))
        assert read(store).model_dump() == second.model_dump()
        assert file_of(store).read_text().startswith("# mine\n")


BY_HAND = """\
# Ask Ada before you change this.
score_type = "binary"   # yes or no
prompt = \'\'\'
Is it C:\\new and polite?
{{output}}\'\'\'
description = ""

# who runs what
[tags]
prod = "0.1"  # since May
"""


def test_comments_and_order_by_hand_survive_a_change(store: Store) -> None:
    write(store, BY_HAND)
    judge = read(store)
    assert judge.prompt == "Is it C:\\new and polite?\n{{output}}"
    save_judge(store, judge.model_copy(update={"tags": {"prod": "0.2"}, "description": "polite"}))
    text = file_of(store).read_text()
    for line in BY_HAND.splitlines():
        expected = line.replace('"0.1"', '"0.2"').replace('description = ""', 'description = "polite"')
        assert expected in text.splitlines()
    assert tomllib.loads(text)["version"] == "0.0"


def test_the_git_diff_of_a_longer_prompt_is_the_added_line(store: Store) -> None:
    judge = StoredJudge(score_type="binary", prompt="Is it polite?\nAnd short?\n{{output}}\n")
    save_judge(store, judge)
    before = file_of(store).read_text().splitlines()
    save_judge(store, read(store).model_copy(update={"prompt": "Is it polite?\nAnd short?\nAnd true?\n{{output}}\n"}))
    after = file_of(store).read_text().splitlines()
    assert [line for line in after if line not in before] == ["And true?"]
    assert [line for line in before if line not in after] == []


RIGHT = 'score_type = "binary"\nprompt = "x"\n'


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (f"{RIGHT}promt = 1\n", 3, "promt: there is no such field"),
        (f'{RIGHT}version = "1"\n', 3, "version: must be a version such as 1.2, not '1'"),
        (f"{RIGHT}version = 1.2\n", 3, "version: must be a valid string, not 1.2"),
        (f'{RIGHT}\n[tags]\nprod = "x"\n', 5, "tags.prod: must be a version such as 1.2, not 'x'"),
        (f'{RIGHT}tags.latest = "1.0"\n', 3, "and not latest"),
        (
            'score_type = "yes"\nprompt = "x"\n',
            1,
            "score_type: must be 'binary', 'categorical' or 'numeric', not 'yes'",
        ),
        ('prompt = "x"\n', 1, "score_type: is missing"),
        ('score_type = "binary"\n', 1, "a prompt judge needs a prompt"),
        ('score_type = "numeric"\nprompt = "x"\nmin_score = 5\nmax_score = 1\n', 1, "a max_score that is greater"),
        (f"{RIGHT}[[categories]]\nvalue = 'a'\n", 1, "a binary judge has no categories"),
        (f"{RIGHT}version = = 1\n", 3, "Invalid value"),
        (f'{RIGHT}prompt = "y"\n', 3, "Cannot overwrite a value"),
        (f'{RIGHT}description = """\nno end', 4, "Unterminated string"),
        (f"<<<<<<< HEAD\n{RIGHT}=======\n{RIGHT}>>>>>>> theirs\n", 1, "git left a merge conflict here"),
        (f"{RIGHT}>>>>>>> theirs\n", 3, "git left a merge conflict here"),
        ("", 1, "is missing"),
    ],
)
def test_errors_have_file_and_line(store: Store, text: str, line: int, message: str) -> None:
    write(store, text)
    with pytest.raises(StoreError) as exc_info:
        read(store)
    assert f"helpfulness.toml:{line}: " in str(exc_info.value)
    assert message in str(exc_info.value)
    assert file_of(store).read_text() == text


def test_binary_data_is_an_error(store: Store) -> None:
    write(store, RIGHT)
    file_of(store).write_bytes(RIGHT.encode() + b'description = "\xff"\n')
    with pytest.raises(StoreError, match=r"helpfulness\.toml:3: is not UTF-8"):
        read(store)


def test_a_heading_in_a_prompt_is_no_conflict(store: Store) -> None:
    write(store, 'score_type = "binary"\nprompt = """\nRules\n=======\n{{output}}\n"""\n')
    assert "=======" in (read(store).prompt or "")


def test_windows_line_ends_and_a_byte_order_mark_are_read(store: Store) -> None:
    write(store, "x")
    file_of(store).write_bytes(b'\xef\xbb\xbfscore_type = "binary"\r\nprompt = """\r\na\r\nb"""\r\n')
    judge = read(store)
    assert judge.prompt == "a\nb"
    save_judge(store, judge.model_copy(update={"version": "0.1"}))
    assert read(store).prompt == "a\nb"


def test_configs_keep_lists_of_several_lines(store: Store) -> None:
    path = Path(store.location(CONFIGS, ("nightly",)))
    path.parent.mkdir(parents=True)
    path.write_text('dataset = "golden"\njudges = [\n    "a", # first\n    "b",\n]\n')
    store.update(
        CONFIGS, ("nightly",), lambda present: [each.model_copy(update={"description": "d"}) for each in present]
    )
    assert '    "a", # first\n' in path.read_text()
