"""From promptfoo: its results, imported, and the suite agree."""

from __future__ import annotations

from tests.integration.migrate.conftest import Reader
from tests.integration.migrate.environments import use_node
from tests.integration.migrate.runs import check_same

NODE = "24.9.0"  # promptfoo needs 22.22 or newer
# Of the optional packages, which take gigabytes, it needs this one.
PACKAGES = ("promptfoo@0.123.1", "@libsql/{platform}-gnu@0.5.29")


def test_the_page_works(reader: Reader) -> None:
    use_node(reader, "promptfoo", PACKAGES, version=NODE, optional=False)
    quiet = ("PROMPTFOO_DISABLE_TELEMETRY", "PROMPTFOO_DISABLE_UPDATE", "NODE_NO_WARNINGS")
    reader.environment |= dict.fromkeys(quiet, "1")
    reader.environment["PROMPTFOO_CONFIG_DIR"] = str(reader.folder.parent / "promptfoo")
    reader.models.answers("When do you open", "We open at nine, Monday to Saturday.")
    reader.models.answers("return a jacket", "You can return it within 30 days.")
    reader.models.answers("open on Sunday", "No, we are closed on Sundays.")
    # promptfoo asks for other fields than scoregate: each finds its own in one object.
    reader.models.answers("polite", {"reason": "It is friendly.", "pass": True, "score": 1, "answer": "Yes"})
    reader.follow()
    before, after = reader.folder / "before", reader.folder / "scoregate-out"
    check_same(before, after, ["contains", "llm-rubric"], failed={"returns"})
    questions = [question["messages"][-1]["content"] for question in reader.models.asked()]
    assert sum(text.startswith("Answer the customer") for text in questions) == 6, "each suite asks each question once"
