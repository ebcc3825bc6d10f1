"""From Autoblocks: its SDKs' suites, as they are, and with one name in the imports replaced."""

from __future__ import annotations

from tests.fakes.openai.question import Question
from tests.integration.foreign import environment
from tests.integration.migrate.conftest import Reader
from tests.integration.migrate.environments import prepend_path
from tests.integration.migrate.runs import check_same


def grade(question: Question) -> dict[str, str]:
    """Both SDKs have this choice, in different spelling."""
    return {"reason": "It is friendly.", "answer": "Not Toxic" if "Not Toxic" in str(question.body) else "Not toxic"}


def test_the_page_works(reader: Reader) -> None:
    python, modules = environment.python(), environment.node()
    prepend_path(reader, python.parent)
    (reader.folder / "node_modules").symlink_to(modules)
    reader.models.answer_with(grade)
    reader.follow()
    before, after = reader.folder / "before", reader.folder / "scoregate-out"
    check_same(before, after, ["has-all-substrings", "is-not-toxic"], failed={"How long can I return a jacket?"})
