"""From Braintrust: what its reporter writes and the suite agree."""

from __future__ import annotations

from tests.integration.migrate.conftest import Reader
from tests.integration.migrate.environments import use_python
from tests.integration.migrate.runs import check_same

REQUIREMENTS = ("braintrust==0.47.0", "autoevals==0.4.1")


def test_the_page_works(reader: Reader) -> None:
    use_python(reader, "braintrust", REQUIREMENTS)
    reader.models.answers("", {"choice": "C", "reasons": "Both say the same."})
    reader.models.answers("within 30 days", {"choice": "A", "reasons": "The receipt is missing."})
    reader.follow()
    before, after = reader.folder / "before", reader.folder / "scoregate-out"
    check_same(before, after, ["Levenshtein", "Factuality"], failed={"How long can I return a jacket?"})
