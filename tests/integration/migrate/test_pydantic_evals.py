"""From pydantic-evals: the imported report and the suite agree."""

from __future__ import annotations

from tests.integration.migrate.conftest import Reader
from tests.integration.migrate.environments import use_python
from tests.integration.migrate.runs import check_same

REQUIREMENTS = ("pydantic-evals==2.62.0", "pydantic-ai-slim[openai]==2.62.0")


def test_the_page_works(reader: Reader) -> None:
    use_python(reader, "pydantic-evals", REQUIREMENTS)
    # pydantic-evals asks for other fields than scoregate: each finds its own in one object.
    reader.models.answers("polite", {"reason": "It is friendly.", "pass": True, "score": 1, "answer": "Yes"})
    reader.follow()
    before, after = reader.folder / "before", reader.folder / "scoregate-out"
    check_same(before, after, ["mentions", "brevity", "LLMJudge"], failed={"returns"})
