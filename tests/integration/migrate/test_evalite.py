"""From Evalite: its own mean and what scoregate records agree."""

from __future__ import annotations

import json

from tests.integration.migrate.conftest import Reader
from tests.integration.migrate.environments import use_node
from tests.integration.migrate.runs import check_same, scores

NODE = "24.9.0"  # Evalite needs 22 or newer
PACKAGES = ("evalite@0.19.0", "vitest@4")


def test_the_page_works(reader: Reader) -> None:
    modules = use_node(reader, "evalite", PACKAGES, version=NODE)
    (reader.folder / "node_modules").symlink_to(modules)
    reader.follow()
    before, after = reader.folder / "before", reader.folder / "scoregate-out"
    check_same(before, after, ["mentions"], failed={"How long can I return a jacket?"})
    (own,) = json.loads((reader.folder / "results.json").read_text(encoding="utf-8"))["evals"]
    assert own["averageScore"] == sum(each["mentions"] for each in scores(before).values()) / 3
