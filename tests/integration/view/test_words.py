"""What people say of a run counts on the page as soon as they have said it."""

from __future__ import annotations

from tests.integration.review.conftest import Maker, reviewed  # noqa: F401 (a fixture)
from tests.integration.view.conftest import Place
from tests.integration.view.test_safety import entered


def test_verdicts_are_counted_in_without_a_new_start(reviewed: Maker) -> None:  # noqa: F811
    run = reviewed("a")
    with Place(run.project).viewing() as address, entered(address) as client:
        key = client.get("/state").json()["runs"][0]["key"]
        assert "<dt>Waiting</dt>" in client.get(f"/report/{key}/nothing").text
        words = ("--case", "a", "--baseline", "old a", "--challenger", "new a", "--winner", "challenger")
        said = run.project.scoregate("verdicts", "add", "better", *words)
        assert said.exit_code == 0, said.output
        assert "<dt>Waiting</dt>" not in client.get(f"/report/{key}/nothing").text
        assert "<dt>Waiting</dt>" in client.get(f"/report/{key}/reported").text
