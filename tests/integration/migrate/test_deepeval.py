"""From DeepEval: its results, imported, and the suite agree."""

from __future__ import annotations

from tests.integration.migrate.conftest import Reader
from tests.integration.migrate.environments import use_python
from tests.integration.migrate.runs import check_same

REQUIREMENTS = ("deepeval==4.3.1",)


def test_the_page_works(reader: Reader) -> None:
    use_python(reader, "deepeval", REQUIREMENTS)
    reader.environment["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"
    steps = {"steps": ["Compare what both outputs say."]}
    reader.models.answers("", {"reason": "It says everything.", "score": 9, **steps})
    reader.models.answers("within 30 days", {"reason": "The receipt is missing.", "score": 5, **steps})
    reader.follow()
    before, after = reader.folder / "before", reader.folder / "scoregate-out"
    check_same(before, after, ["Correctness [GEval]"], failed={"returns"})
