"""Versions and tags: created by programs, by hand edits, and by both."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.fakes.read_only import refuse_locks
from tests.unit.judges.documents import document, edit, history, lines

from scoregate.errors import JudgmentConflictError, JudgmentValidationError, StoreError
from scoregate.judges import JudgesFactory
from scoregate.store import DirectoryStore, Store

NAME = "helpfulness"


def create_judge(judges: JudgesFactory, prompt: str = "Is it helpful? {{output}}") -> str:
    return judges.create(NAME, prompt).version


def list_versions(judges: JudgesFactory) -> list[str]:
    return [each.version for each in judges.versions(NAME)]


def test_a_judge_starts_at_0_0_and_every_change_is_the_next_minor_version(judges: JudgesFactory) -> None:
    assert create_judge(judges) == "0.0"
    assert judges.update(NAME, prompt="Is it? {{output}}").version == "0.1"
    second = judges.update(NAME, model="openai/gpt-6-luna")
    assert (second.version, second.prompt, second.model) == ("0.2", "Is it? {{output}}", "openai/gpt-6-luna")
    assert judges.update(NAME, prompt="Really?", major=True).version == "1.0"
    assert judges.update(NAME, source="0.0", model="m").prompt == "Is it helpful? {{output}}"
    assert list_versions(judges) == ["1.1", "1.0", "0.2", "0.1", "0.0"]


def test_fields_without_effect_make_no_version(judges: JudgesFactory) -> None:
    create_judge(judges)
    assert judges.update(NAME, description="for support").version == "0.0"
    judges.tag(NAME)
    assert judges.get(NAME).description == "for support"  # type: ignore[union-attr]
    assert list_versions(judges) == ["0.0"]
    assert judges.update(NAME, major=True).version == "1.0"


def test_versions_sort_as_numbers(judges: JudgesFactory, store: Store) -> None:
    create_judge(judges)
    for number in range(11):
        judges.update(NAME, prompt=f"p{number}")
    assert list_versions(judges)[0] == "0.11"
    assert [line["version"] for line in lines(store)] == [f"0.{number}" for number in range(12)]


def test_another_score_type_drops_old_fields(judges: JudgesFactory) -> None:
    judges.create("tone", "How?", score_type="categorical", categories=["good", {"value": "bad", "score": 0}])
    changed = judges.update("tone", score_type="numeric", min_score=1, max_score=5)
    assert (changed.categories, changed.scale) == ((), (1.0, 5.0))


def test_a_version_is_found_by_tag_and_number_and_prod_is_the_default(judges: JudgesFactory) -> None:
    create_judge(judges)
    judges.update(NAME, prompt="b", major=True)
    judges.update(NAME, prompt="c")
    assert str(judges.tag(NAME, version="0.0")) == "helpfulness: prod: not set -> 0.0"
    assert str(judges.tag(NAME, "beta", "1.0")) == "helpfulness: beta: not set -> 1.0"
    found = [
        judges.get(NAME),
        judges.get(NAME, tag="beta"),
        judges.get(NAME, version="1"),
        judges.get(NAME, tag="latest"),
    ]
    assert [each and each.version for each in found] == ["0.0", "1.0", "1.1", "1.1"]
    assert found[0] is not None
    assert found[0].tags == ("prod",)
    assert judges.get(found[0].id) == found[0]
    assert str(judges.tag(NAME)) == "helpfulness: prod: 0.0 -> 1.1"
    assert str(judges.untag(NAME)) == "helpfulness: prod: 1.1 -> not set"
    judges.update(NAME, prompt="d")
    assert judges.get(NAME) == judges.get(NAME, tag="latest")


def test_missing_ones_are_named(judges: JudgesFactory) -> None:
    assert judges.get("nope") is None
    assert judges.delete("nope") is False
    create_judge(judges)
    judges.tag(NAME)
    for call, message in (
        (lambda: judges.get(NAME, version="9.9"), "'helpfulness' has no version 9.9\nIt has 0.0."),
        (lambda: judges.get(NAME, tag="beta"), "has no tag 'beta'\nIt has prod, latest."),
        (lambda: judges.tag(NAME, "prod", "9.9"), "has no version 9.9"),
        (lambda: judges.untag(NAME, "beta"), "has no tag 'beta'"),
        (lambda: judges.tag(NAME, "1.0"), "must be a letter"),
        (lambda: judges.tag(NAME, "latest"), "and not latest"),
        (lambda: judges.update("nope", prompt="x"), "Judges not found: nope"),
        (lambda: judges.versions("nope"), "Judges not found: nope"),
        (lambda: judges.update(NAME, score_type="numeric"), "a numeric judge needs"),
        (lambda: judges.create("", "x"), "a name must be a string"),
        (lambda: judges.create("a\nb", "x"), "a name must be on one line"),
        (lambda: judges.create("b", " "), "a prompt judge needs a prompt"),
        (lambda: judges.create("b\ud800", "x"), "a name must be on one line"),
        (lambda: judges.create("b", "x", score_type="categorical", categories=["a", "a"]), "at least two categories"),
        (lambda: judges.create("b", "x", score_type="numeric", min_score=1, max_score=float("nan")), "max_score"),
    ):
        with pytest.raises(JudgmentValidationError) as exc_info:
            call()  # type: ignore[no-untyped-call]
        assert message in str(exc_info.value)
    assert [each.name for each in judges.list()] == [NAME]


def test_a_lone_surrogate_is_a_question_mark(judges: JudgesFactory) -> None:
    assert judges.create(NAME, "x\ud800", description="\udfff").prompt == "x?"
    assert list_versions(judges) == ["0.0"]


def test_a_name_is_reserved_until_the_judge_is_deleted(judges: JudgesFactory, store: Store) -> None:
    create_judge(judges, "a")
    judges.update(NAME, prompt="b")
    with pytest.raises(JudgmentConflictError, match="there is a judge 'helpfulness' already"):
        create_judge(judges)
    assert judges.delete(NAME) is True
    assert not history(store).exists()
    assert (create_judge(judges, "c"), list_versions(judges)) == ("0.0", ["0.0"])


def test_an_edited_prompt_becomes_the_next_version_at_use(judges: JudgesFactory, store: Store) -> None:
    create_judge(judges)
    judges.tag(NAME)
    edit(store, "prompt", "Does it help? {{output}}")
    assert judges.get(NAME, tag="latest").version == "0.1"  # type: ignore[union-attr]
    assert judges.get(NAME).prompt == "Is it helpful? {{output}}"  # type: ignore[union-attr]
    assert 'version = "0.1"' in document(store).read_text()
    assert [line["version"] for line in lines(store)] == ["0.0", "0.1"]


@pytest.mark.parametrize(
    ("version", "prompt", "expected"),
    [
        ("0.2", "the second", "0.2"),  # nothing happened
        ("0.2", "another", "0.3"),  # edited
        ("0.0", "the first", "0.3"),  # rolled back
        ("0.1", "the second", "0.2"),  # only the number changed
        ("3.0", "another", "3.0"),  # a custom version
        ("3.0", "the second", "3.0"),
    ],
)
def test_the_document_wins(judges: JudgesFactory, store: Store, version: str, prompt: str, expected: str) -> None:
    for made_prompt in ("the first", "the middle", "the second"):
        judges.update(NAME, prompt=made_prompt) if document(store).exists() else create_judge(judges, made_prompt)
    edit(store, "version", version)
    edit(store, "prompt", prompt)
    newest = judges.versions(NAME)[0]
    assert (newest.version, newest.prompt) == (expected, prompt)
    assert judges.versions(NAME)[0] == newest, "used again, it is no newer"


def test_a_handwritten_judge_gets_missing_fields(judges: JudgesFactory, store: Store) -> None:
    document(store).parent.mkdir(parents=True)
    document(store).write_text('# mine\nscore_type = "binary"\nprompt = "Is it polite? {{output}}"\n')
    found = judges.get(NAME)
    assert found is not None
    assert (found.name, found.version) == (NAME, "0.0")
    assert judges.get(found.id) == found
    text = document(store).read_text()
    assert text.startswith("# mine\n")
    assert f'id = "{found.id}"' in text


def test_a_copy_with_the_old_name_or_id_is_refused(judges: JudgesFactory, store: Store) -> None:
    create_judge(judges)
    copy = document(store, "copy")
    copy.write_text(document(store).read_text())
    with pytest.raises(StoreError, match="its `name` is 'helpfulness', but the file is named for 'copy'"):
        judges.get("copy")
    copy.write_text(document(store).read_text().replace('name = "helpfulness"', 'name = "copy"'))
    with pytest.raises(StoreError, match="have one id"):
        judges.list()


def test_a_version_changed_in_the_history_is_named(judges: JudgesFactory, store: Store) -> None:
    create_judge(judges)
    judges.update(NAME, prompt="b")
    history(store).write_text(history(store).read_text().replace("Is it helpful?", "Is it great?"))
    with pytest.raises(StoreError, match=r"helpfulness\.history\.jsonl:1: version 0\.0 was changed"):
        judges.get(NAME)


def test_a_lost_history_restarts_from_the_document(judges: JudgesFactory, store: Store) -> None:
    create_judge(judges)
    judges.update(NAME, prompt="b")
    history(store).unlink()
    assert list_versions(judges) == ["0.1"]


def test_a_read_only_store_has_the_same_version(
    judges: JudgesFactory, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read-only work tree. Root can write everywhere, so the system refuses the lock instead."""
    create_judge(judges)
    edit(store, "prompt", "Does it help? {{output}}")
    refuse_locks(monkeypatch)
    assert list_versions(judges) == ["0.1", "0.0"]
    assert 'version = "0.0"' in document(store).read_text()
    with pytest.raises(StoreError, match="Read-only file system"):
        judges.update(NAME, prompt="c")


class JudgeLifecycle(RuleBasedStateMachine):
    """A judge changed by programs and people: no version changes, and the newest equals the document."""

    prompts = st.sampled_from(["one", "two\nlines", "three {{output}}", '"""', "x\\"])
    kept: dict[str, str]

    @initialize()
    def begin(self) -> None:
        self.folder = TemporaryDirectory()
        self.store = DirectoryStore(Path(self.folder.name) / ".scoregate")
        self.judges = JudgesFactory(self.store)
        self.judges.create(NAME, "one")
        self.kept = {"0.0": "one"}
        self.newest = "one"

    @rule(prompt=prompts, major=st.booleans())
    def update(self, prompt: str, major: bool) -> None:
        self.kept[self.judges.update(NAME, prompt=prompt, major=major).version] = self.newest = prompt

    @rule(prompt=prompts)
    def edited(self, prompt: str) -> None:
        edit(self.store, "prompt", prompt)
        self.newest = prompt

    @rule(number=st.tuples(st.integers(0, 3), st.integers(0, 3)))
    def renumbered(self, number: tuple[int, int]) -> None:
        edit(self.store, "version", f"{number[0]}.{number[1]}")

    @rule(data=st.data(), tag=st.sampled_from(["prod", "beta"]))
    def tag(self, data: st.DataObject, tag: str) -> None:
        version = data.draw(st.sampled_from(sorted(self.kept)))
        self.judges.tag(NAME, tag, version)
        assert self.judges.resolve([NAME], [{"name": NAME, "tag": tag}])[0].version == version

    @precondition(lambda self: len(self.kept) > 2)
    @rule()
    def crashed(self) -> None:
        """Leave the files of a process that died after it wrote the document."""
        before = lines(self.store)
        self.judges.update(NAME, prompt="one", major=True)
        history(self.store).write_text(history(self.store).read_text().rpartition("{")[0])
        assert lines(self.store) == before
        self.newest = "one"

    @invariant()
    def holds(self) -> None:
        if not hasattr(self, "judges"):
            return
        found = {each.version: each.prompt for each in self.judges.versions(NAME)}
        assert found.items() >= self.kept.items()
        assert self.judges.versions(NAME)[0].prompt == self.newest
        self.kept = {version: prompt or "" for version, prompt in found.items()}

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()


TestLife = JudgeLifecycle.TestCase
TestLife.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)
