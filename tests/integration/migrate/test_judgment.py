"""From Judgment: a code judge gives the same rows under its SDK and scoregate's."""

from __future__ import annotations

from tests.integration.migrate.conftest import Reader
from tests.integration.migrate.environments import use_python
from tests.integration.migrate.judgment_platform import open_platform
from tests.integration.migrate.runs import check_same

REQUIREMENTS = ("judgeval==1.6.0",)


def test_the_page_works(reader: Reader) -> None:
    use_python(reader, "judgment", REQUIREMENTS)
    with open_platform() as address:
        reader.environment |= {"JUDGMENT_API_URL": address, "JUDGMENT_API_KEY": "key", "JUDGMENT_ORG_ID": "org"}
        reader.follow()
    before, after = reader.folder / "before", reader.folder / "scoregate-out"
    check_same(before, after, ["MentionsExpected"], failed={"How long can I return a jacket?"})
