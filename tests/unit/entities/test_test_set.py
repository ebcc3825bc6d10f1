"""Test sets: pushed, pulled, changed, deleted."""

from __future__ import annotations

import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from tests.unit.entities.builders import make_conversation, make_question, make_test_set, read_contents

from scoregate.entities import Test, Tests, TestSet, TestSets, use_store
from scoregate.enums import TestType
from scoregate.errors import EntityError, StoreError


def test_a_set_is_a_document_with_a_line_per_test(kept: Path) -> None:
    test_set = make_test_set("Safety Evaluation", make_question("a", id="1"), description="Two\nlines")
    kept_now = test_set.push()
    assert (test_set.id, kept_now["test_count"], test_set.test_set_type) == ("safety-evaluation", 1, "Single-Turn")
    folder = kept / "test_sets" / "safety-evaluation"
    assert sorted(path.name for path in folder.iterdir()) == ["test_set.toml", "tests.jsonl"]
    assert (folder / "tests.jsonl").read_text() == (
        '{"id": "1", "category": "Support", "topic": "Hours", "behavior": "Answers", "prompt": {"content": "a"},'
        ' "test_type": "Single-Turn"}\n'
    )
    head = (folder / "test_set.toml").read_text()
    assert head.startswith('id = "safety-evaluation"\nname = "Safety Evaluation"\ndescription = """\nTwo\nlines"""\n')


def test_sets_round_trip() -> None:
    test_set = make_test_set(
        "Talks",
        make_conversation(max_turns=3, metadata={"a": None}),
        description="d",
        short_description="s",
        metadata={"owner": "me"},
    )
    test_set.add_metrics(["accuracy", {"name": "tone"}])
    test_set.push()
    pulled = TestSets.pull(name="talks")
    assert pulled.to_dict() == test_set.to_dict()
    assert (pulled.categories, pulled.topics, pulled.behaviors) == (["Support"], ["Refunds"], ["Helps"])
    assert pulled.requirements == pulled.behaviors
    assert isinstance(UUID(pulled.tests[0].id), UUID)  # type: ignore[index]
    assert pulled.test_set_type is TestType.MULTI_TURN


def test_ids_are_slugs_and_given_ones_stay() -> None:
    assert [TestSet(name=name).push()["id"] for name in ("A & B!", "a b", "Ünï 安全", "…", "")] == [
        "a-b",
        "a-b-2",
        "ünï-安全",
        "test-set",
        "test-set-2",
    ]
    own = make_test_set("Mine", id="../set 1")
    own.push()
    assert TestSets.pull(id="../set 1").name == "Mine"


def test_a_second_push_replaces_everything() -> None:
    test_set = make_test_set("x", make_question("a"), make_question("b"))
    test_set.push()
    first = test_set.tests[0].id  # type: ignore[index]
    test_set.tests = [*(test_set.tests or [])[:1], make_question("c")]
    test_set.description = "new"
    test_set.push()
    pulled = TestSets.pull(id=test_set.id)
    assert (read_contents(pulled), pulled.description, pulled.tests[0].id) == ("ac", "new", first)  # type: ignore[index]
    assert len(TestSets.all()) == 1


def test_omitted_fields_stay() -> None:
    test_set = make_test_set("x", description="d", metadata={"a": 1})
    test_set.push()
    TestSet(id="x", name="y").push()
    pulled = TestSets.pull(id="x")
    assert (pulled.name, pulled.description, pulled.metadata, read_contents(pulled)) == ("y", "d", {"a": 1}, "ab")


def test_lists_count_tests_without_reading_them() -> None:
    make_test_set("x").push()
    (head,) = TestSets.all()
    assert head.tests is None
    assert (head.test_count, head.topics) == (2, ["Hours"])
    assert [test.prompt.content for test in head.fetch_tests(1, 5) if test.prompt] == ["b"]
    assert head.pull(include_tests=False) is head
    assert head.tests is None
    head.name = "renamed"
    head.push()
    assert read_contents(head.pull()) == "ab"


@pytest.mark.parametrize(
    ("tests", "test_type", "message"),
    [
        (
            [make_question(), make_conversation()],
            None,
            r"mixed test types: \['Multi-Turn', 'Single-Turn'\]\. Split the tests into",
        ),
        ([make_question()], TestType.MULTI_TURN, "mixed test types"),
        (
            [make_question(), make_question(behavior=None)],
            None,
            "^Test at index 1 is missing required fields: behavior$",
        ),
        ([Test()], None, "^Test at index 0 is missing required fields: category, behavior$"),
        ([make_question(id="1"), make_question(id="1")], None, "Tests at indexes 0 and 1 have one id, '1'"),
        ([make_question(), make_question(metadata={"a": float("nan")})], None, "the test"),
    ],
)
def test_an_invalid_push_changes_nothing(tests: list[Test], test_type: TestType | None, message: str) -> None:
    make_test_set("x", make_question("before")).push()
    with pytest.raises(ValueError, match=message):
        TestSet(id="x", name="x", tests=tests, test_set_type=test_type).push()
    assert read_contents(TestSets.pull(id="x")) == "before"
    with pytest.raises(ValueError, match=message):
        TestSet(name="y", tests=tests, test_set_type=test_type).push()
    assert [each.id for each in TestSets.all()] == ["x"]


def test_an_empty_set_has_the_given_type() -> None:
    assert TestSet(name="x").push()["test_set_type"] == "Single-Turn"
    assert TestSet(name="y", test_set_type=TestType.MULTI_TURN).push()["test_set_type"] == "Multi-Turn"


def test_a_name_is_needed_and_values_outside_toml_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^Required fields for push: name$"):
        TestSet().push()
    with pytest.raises(EntityError, match=r"metadata cannot be kept as it is"):
        TestSet(name="x", metadata={"a": None}).push()
    with pytest.raises(EntityError, match="'x'"):
        TestSet(name="x", metadata={"a": object()}).push()


def test_tests_can_change() -> None:
    test_set = make_test_set("x", make_question("a"))
    for act in (test_set.add_tests, test_set.remove_tests):
        with pytest.raises(ValueError, match="Test set ID must be set"):
            act([])
    test_set.push()
    loose = make_question("loose", id="loose")
    loose.push()
    uuid = uuid4()
    make_question("u", id=str(uuid)).push()
    done = test_set.add_tests(
        [make_question("b"), "loose", {"id": uuid}, {"category": "c", "behavior": "b", "goal": ""}]
    )
    assert (done["success"], done["total_tests"], done["message"]) == (True, 5, "4 added, 0 replaced")
    assert read_contents(test_set) == read_contents(TestSets.pull(id="x")) == "abloose" + "u"
    loose.prompt.content = "changed"  # type: ignore[union-attr]
    assert test_set.add_tests([loose])["message"] == "0 added, 1 replaced"
    elsewhere = make_question("elsewhere", id="elsewhere")
    elsewhere.push()
    done = test_set.remove_tests(["loose", uuid, elsewhere])
    assert (done["removed_associations"], done["total_tests"]) == (2, 3)
    assert done["message"] == "2 removed, 1 were not there"
    for reference in ("none", make_question("without id"), {"name": "a"}, 7):
        with pytest.raises(EntityError, match="Cannot resolve test reference: there is no test "):
            test_set.remove_tests([test_set.tests[0], reference])  # type: ignore[index,list-item]
    assert TestSets.pull(id="x").test_count == 3
    assert read_contents(test_set) == read_contents(TestSets.pull(id="x")) == "ab"
    assert Tests.exists("loose"), "it stays where else it is"
    with pytest.raises(EntityError, match="there is no test 'none'"):
        test_set.add_tests(["none"])
    with pytest.raises(EntityError, match="mixed"):
        test_set.add_tests([make_conversation()])


def test_an_empty_set_gets_the_type_of_the_first_tests() -> None:
    test_set = TestSet(name="x")
    test_set.push()
    test_set.add_tests([make_conversation()])
    assert TestSets.pull(id="x").test_set_type is TestType.MULTI_TURN


def test_a_shared_test_changes_in_all_sets() -> None:
    shared = make_question("old", id="shared")
    for name in ("x", "y"):
        make_test_set(name, make_question(name), shared).push()
    test = Tests.pull(id="shared")
    test.prompt.content = "new"  # type: ignore[union-attr]
    test.push()
    assert [read_contents(TestSets.pull(id=name)) for name in "xy"] == ["xnew", "ynew"]
    assert [each.id for each in Tests.all()].count("shared") == 1
    assert test.delete()
    assert [read_contents(TestSets.pull(id=name)) for name in "xy"] == ["x", "y"]


def test_a_set_is_deleted_with_its_tests(kept: Path) -> None:
    test_set = make_test_set("x")
    with pytest.raises(ValueError, match=r"^Entity has no ID$"):
        test_set.delete()
    test_set.push()
    assert (test_set.delete(), test_set.delete()) == (True, False)
    assert not (kept / "test_sets" / "x").exists()
    with pytest.raises(ValueError, match="there is no test set 'x'"):
        test_set.pull()


def test_metrics_are_names_and_change_in_the_store_at_once() -> None:
    test_set = make_test_set("x")
    assert test_set.add_metric("accuracy") == ["accuracy"]
    test_set.push()
    test_set.add_metrics(["tone", "accuracy"])
    other = TestSets.pull(id="x")
    assert (other.get_metrics(), test_set.remove_metric("accuracy")) == (["accuracy", "tone"], ["tone"])
    assert TestSets.pull(id="x").get_metrics() == ["tone"]
    with pytest.raises(TypeError, match="a name"):
        test_set.add_metric(3)


def test_concurrent_pushes_lose_nothing() -> None:
    def push(_: int) -> None:
        make_test_set("x").push()

    contexts = [copy_context() for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda context: context.run(push, 0), contexts))
    assert sorted(each.id or "" for each in TestSets.all()) == ["x", *(f"x-{n}" for n in range(2, 9))]
    first = TestSets.pull(id="x")
    contexts = [copy_context() for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda context: context.run(TestSet(id=first.id).add_tests, [make_question()]), contexts))
    assert TestSets.pull(id="x").test_count == 10


def test_the_store_can_be_elsewhere(tmp_path: Path) -> None:
    make_test_set("here").push()
    with use_store(tmp_path / "there"):
        make_test_set("there").push()
        assert [each.id for each in TestSets.all()] == ["there"]
    assert [each.id for each in TestSets.all()] == ["here"]


def test_a_large_set_is_streamed() -> None:
    make_test_set("x", *(make_question(f"question {n} " * 10) for n in range(3000))).push()
    head = TestSets.all()[0]
    tracemalloc.start()
    assert (head.test_count, head.behaviors) == (3000, ["Answers"])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2_000_000


def edit(kept: Path, old: str, new: str, file: str = "tests.jsonl") -> None:
    path = kept / "test_sets" / "x" / file
    path.write_text(path.read_text().replace(old, new))


def test_hand_edits_are_read_and_comments_stay(kept: Path) -> None:
    make_test_set("x", make_question("a", id="1")).push()
    edit(kept, 'name = "x"', '# ours\nname = "The x"', "test_set.toml")
    line = '{"requirement": "b", "category": "c", "prompt": {"content": "new"}}\n'
    edit(kept, "}\n", "}\n\n" + line * 2)
    pulled = TestSets.pull(name="THE X")
    assert (read_contents(pulled), pulled.tests[1].turns) == ("anew", TestType.SINGLE_TURN)  # type: ignore[index]
    digest = pulled.tests[1].id  # type: ignore[index]
    assert Tests.pull(id=digest).behavior == "b", "a line without an id is known by what it says"
    pulled.description = "d"
    pulled.push()
    assert "# ours" in (kept / "test_sets" / "x" / "test_set.toml").read_text()
    assert TestSets.pull(id="x").to_dict() == pulled.to_dict()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "must be an object"),
        ('{"category": "c"}', "behavior: is missing"),
        ('{"category": "c", "behavior": "b", "promt": 1}', "promt: there is no such field"),
        ('{"category": "c", "behavior": "b", "test_type": "Both"}', "test_type: must be 'Single-Turn' or 'Multi-Turn'"),
        ('{"id": "1", "category": "c", "behavior": "b"}', "differs from"),
        ("<<<<<<< HEAD", "git left a merge conflict here"),
    ],
)
def test_a_wrong_line_fails(kept: Path, line: str, message: str) -> None:
    make_test_set("x", make_question("a", id="1")).push()
    edit(kept, "}\n", f"}}\n{line}\n")
    for act in (lambda: TestSets.pull(id="x"), Tests.all, lambda: TestSet(id="x").add_tests([make_question()])):
        with pytest.raises(StoreError) as exc_info:
            act()
        assert "x/tests.jsonl:2: " in exc_info.value.message
        assert message in exc_info.value.message
    assert (kept / "test_sets" / "x" / "tests.jsonl").read_text().endswith(f"{line}\n")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('id = "x"', 'id = "y"', "has the id 'y'"),
        ("name =", "nmae =", r"test_set.toml:2: nmae: there is no such field"),
        ('name = "x"', "name = 3", r"test_set.toml:2: name: must be a valid string"),
        ("id =", "<<<<<<< HEAD\nid =", r"test_set.toml:1: git left a merge conflict"),
    ],
)
def test_a_wrong_document_fails(kept: Path, old: str, new: str, message: str) -> None:
    make_test_set("x").push()
    edit(kept, old, new, "test_set.toml")
    for act in (lambda: TestSets.pull(id="x"), TestSets.all):
        with pytest.raises(StoreError, match=message):
            act()
