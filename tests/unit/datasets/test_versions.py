"""Whatever people do to a dataset, every version gives back what was there."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.unit.store.builders import TEXTS

from scoregate import Client
from scoregate.datasets import open_version
from scoregate.datasets.versions import compare_versions

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=4,
)
ROWS = st.fixed_dictionaries(
    {"text": TEXTS | st.sampled_from(["a", "b"]), "more": st.dictionaries(TEXTS, _JSON, max_size=2)}
)
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}, "more": {"type": "object"}}}


@dataclass
class KnownVersion:
    """The rows of a version and their ids."""

    rows: list[dict[str, Any]]
    ids: list[int | None] = field(default_factory=list)


class Editing(RuleBasedStateMachine):
    """A program that adds rows and a person who edits the file, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.client = Client(store=self.folder.name)
        self.known: list[KnownVersion] = []

    @property
    def file(self) -> Path:
        return Path(self.folder.name) / ".scoregate" / "datasets" / "d" / "rows.jsonl"

    @initialize(rows=st.lists(ROWS, max_size=4))
    def create(self, rows: list[dict[str, Any]]) -> None:
        self.client.datasets.create("d", SCHEMA, rows)
        self.known = [KnownVersion(rows)]

    @rule(rows=st.lists(ROWS, max_size=4))
    def add(self, rows: list[dict[str, Any]]) -> None:
        self.client.datasets.get("d").add_examples(rows)
        if rows:
            self.known.append(KnownVersion(self.known[-1].rows + rows))

    @rule(
        seed=st.integers(0, 2**16),
        new=st.lists(ROWS, max_size=3),
        look=st.booleans(),
        indent=st.sampled_from(["", " "]),
    )
    def edit(self, seed: int, new: list[dict[str, Any]], look: bool, indent: str) -> None:
        """Delete, add and move rows, with other key order and spaces."""
        dice, rows = random.Random(seed), list(self.known[-1].rows)
        for _ in range(dice.randrange(3)):
            if rows:
                rows.pop(dice.randrange(len(rows)))
        for row in new:
            rows.insert(dice.randrange(len(rows) + 1), row)
        if dice.random() < 0.3:
            dice.shuffle(rows)
        lines = [json.dumps(dict(reversed(row.items())), ensure_ascii=dice.random() < 0.5) for row in rows]
        self.file.write_text("".join(f"{indent}{line}\n{indent}\n" for line in lines), encoding="utf-8")
        # The order of a row's columns is the schema's, so another order in the file is no change.
        if repr(list(map(_ordered, rows))) != repr(list(map(_ordered, self.known[-1].rows))):
            self.known.append(KnownVersion(rows))
        if look:
            self.client.datasets.versions("d")
        else:
            self.client.datasets.get("d").add_examples([])

    @rule(cut=st.integers(1, 400))
    def die_between_the_files(self, cut: int) -> None:
        """Leave the files of a process that was killed after the rows and a part of the history."""
        history = self.file.with_name("history.jsonl")
        before = history.read_bytes()
        self.client.datasets.get("d").add_examples([{"text": "killed", "more": {}}])
        written = history.read_bytes()
        history.write_bytes(before + written[len(before) : -1][:-cut])
        self.known.append(KnownVersion([*self.known[-1].rows, {"text": "killed", "more": {}}]))

    @invariant()
    def every_version_gives_back_what_was_there(self) -> None:
        store, seen = self.client.store, dict[int, Any]()
        for number, known in enumerate(self.known, 1):
            version, examples = open_version(store, "d", number)
            found = list(examples)
            assert [each.properties for each in found] == known.rows
            assert [repr(each.properties) for each in found] == [repr(_ordered(row)) for row in known.rows]
            assert version.item_count == len(known.rows)
            ids = [each.example_id for each in found]
            known.ids = known.ids or ids
            assert known.ids == ids, "an id is for ever"
            assert len(set(ids)) == len(ids)
            for each in found:
                assert each.example_id is not None
                assert seen.setdefault(each.example_id, each.properties) == each.properties, "an id is one row's"
        if self.known:
            assert len(self.client.datasets.versions("d")) == len(self.known)
            (info,) = self.client.datasets.list()
            assert (info.current_version, info.entries) == (len(self.known), len(self.known[-1].rows))

        self.differences_are_what_is_in_one_alone()

    def differences_are_what_is_in_one_alone(self) -> None:
        if len(self.known) > 1:
            one, other = self.known[-2:]
            changes = compare_versions(self.client.store, "d", len(self.known) - 1)
            gone, come = [each.example_id for each in changes.removed], [each.example_id for each in changes.added]
            assert gone == [each for each in one.ids if each not in other.ids]
            assert come == [each for each in other.ids if each not in one.ids]
            assert changes.kept == len(one.ids) - len(gone) == len(other.ids) - len(come)

    def teardown(self) -> None:
        self.folder.cleanup()


def _ordered(row: dict[str, Any]) -> dict[str, Any]:
    return {"text": row["text"], "more": row["more"]}


TestEditing = Editing.TestCase
TestEditing.settings = settings(max_examples=25, stateful_step_count=8, deadline=None)
