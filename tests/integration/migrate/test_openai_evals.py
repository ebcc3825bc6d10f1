"""From OpenAI's hosted evals: what its client exports, the recorded results and the graders agree."""

from __future__ import annotations

import json
import sys

from tests.docs.page import Block, read_blocks
from tests.docs.project import Project
from tests.integration.migrate.conftest import Reader
from tests.integration.migrate.openai_platform import EVAL, open_platform
from tests.integration.migrate.runs import check_same, scores


def test_the_page_works(reader: Reader) -> None:
    answer = {"reason": "As it should be."}
    reader.models.answers("Is the answer polite", {**answer, "answer": "polite"})
    reader.models.answers("how complete", {**answer, "answer": 7})
    reader.models.answers("(?s)how complete.*You have 30 days", {**answer, "answer": 3})
    reader.models.answers("(?s)how complete.*Yes, item 7", {**answer, "answer": 6})
    reader.follow(sys.modules[__name__])
    before, after = reader.folder / "before", reader.folder / "scoregate-out"
    check_same(before, after, ["names the number", "politeness", "completeness", "short"], failed={"1"})
    similar = {case: each["similarity"] for case, each in scores(after).items()}
    assert all(score >= 0.3 for score in similar.values()), similar
    assert {question["model"] for question in reader.models.asked()} == {"gpt-6-luna"}


def export(project: Project, block: Block) -> str:
    """The export, with OpenAI's own client, from an API that has the eval of the page."""
    with open_platform(_definition(project)) as address:
        outcome = project.run(["env", f"OPENAI_BASE_URL={address}", "bash", "-ec", block.text])
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout


def compare_definition(project: Project, block: Block) -> str:
    """What the page shows is what was exported."""
    exported = json.loads((project.folder / "openai-evals" / EVAL / "eval.json").read_text(encoding="utf-8"))
    document = json.loads(block.text)
    assert {name: exported[name] for name in document} == document
    return block.text


def _definition(project: Project) -> dict[str, object]:
    (block,) = (block for block in read_blocks(project.page) if block.language == "json")
    document: dict[str, object] = json.loads(block.text)
    return document
