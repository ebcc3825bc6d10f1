"""From Braintrust: what its reporter writes and the suite agree."""

from __future__ import annotations

from tests.integration.migrate.conftest import Reader
from tests.integration.migrate.environments import use_node, use_python
from tests.integration.migrate.runs import check_same

REQUIREMENTS = ("braintrust==0.48.1", "autoevals==0.4.1")
NODE = "24.9.0"
PACKAGES = ("braintrust@3.35.0",)


def test_the_page_works(reader: Reader) -> None:
    modules = use_node(reader, "braintrust", PACKAGES, version=NODE)
    (reader.folder / "node_modules").symlink_to(modules)
    # Both have a program of this name; npx runs that of node_modules.
    use_python(reader, "braintrust", REQUIREMENTS)
    reader.models.answers("", {"choice": "C", "reasons": "Both say the same."})
    reader.models.answers("within 30 days", {"choice": "A", "reasons": "The receipt is missing."})
    reader.follow()
    before, after = reader.folder / "before", reader.folder / "scoregate-out"
    check_same(before, after, ["Levenshtein", "Factuality"], failed={"How long can I return a jacket?"})
