"""A failing reporter does not stop the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from tests.unit.report.runs import ExampleSuite, Score, Trial, make_run, view_of

from scoregate.errors import UsageError
from scoregate.kernel.job.publish.delivery import Delivery, PublishTarget, deliver
from scoregate.kernel.job.publish.files import publish_files
from scoregate.kernel.report.view import ReportView

VIEW = view_of(make_run(ExampleSuite("demo", [Trial("c", [Score("e", 1.0)])])))


def working_report(_view: ReportView) -> Iterator[str]:
    yield "whole"


def failing_report(_view: ReportView) -> Iterator[str]:
    yield "half"
    raise KeyError("is-equals")


def refused_report(_view: ReportView) -> Iterator[str]:
    yield "half"
    raise OSError(28, "No space left on device")


def test_a_failing_report_stops_no_other(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("of an earlier run")
    files = {"a": working_report, "b": failing_report, "c": refused_report, "d": working_report}
    delivery = anyio.run(publish_files, VIEW, PublishTarget(tmp_path, files))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "whole", "d": "whole"}
    first, second = delivery.warnings
    assert first.startswith(f"cannot create {tmp_path / 'b'}: KeyError: 'is-equals' (test_publishing.py:")
    assert second == f"cannot write {tmp_path / 'c'}: No space left on device"


@pytest.mark.parametrize("error", [KeyError("x"), UsageError("no"), OSError(28, "full", "f"), TypeError("odd")])
def test_a_failing_publisher_stops_no_other(tmp_path: Path, error: Exception) -> None:
    async def fails(_view: ReportView, _outlet: PublishTarget) -> Delivery:
        raise error

    async def works(_view: ReportView, _outlet: PublishTarget) -> Delivery:
        return Delivery({"comment-url": "u"})

    delivery = anyio.run(deliver, VIEW, PublishTarget(tmp_path, {}), (fails, works))
    assert delivery.outputs == {"comment-url": "u"}
    assert len(delivery.warnings) == 1


def test_an_earlier_report_that_cannot_be_deleted_stops_the_others(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    with pytest.raises(UsageError, match="cannot delete"):
        anyio.run(publish_files, VIEW, PublishTarget(tmp_path, {"a": working_report}))
