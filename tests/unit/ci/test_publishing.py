"""What one reporter cannot do costs no other."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from tests.unit.report.runs import Score, Told, Trial, make_run, view_of

from scoregate.ci.publish import files
from scoregate.ci.publish.delivery import Delivery, PublishTarget, deliver
from scoregate.ci.publish.files import publish_files
from scoregate.ci.publish.forked import start_work, while_process_runs
from scoregate.ci.report.view import ReportView
from scoregate.errors import UsageError

VIEW = view_of(make_run(Told("demo", [Trial("c", [Score("e", 1.0)])])))


def good(_view: ReportView) -> Iterator[str]:
    yield "whole"


def broken(_view: ReportView) -> Iterator[str]:
    yield "half"
    raise KeyError("is-equals")


def refused(_view: ReportView) -> Iterator[str]:
    yield "half"
    raise OSError(28, "No space left on device")


def test_a_report_that_cannot_be_made_costs_no_other(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("of an earlier run")
    reports = {"a": good, "b": broken, "c": refused, "d": good}
    delivery = anyio.run(publish_files, VIEW, PublishTarget(tmp_path, reports))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "whole", "d": "whole"}
    first, second = delivery.warnings
    assert first.startswith(f"cannot create {tmp_path / 'b'}: KeyError: 'is-equals' (test_publishing.py:")
    assert second == f"cannot write {tmp_path / 'c'}: No space left on device"


@pytest.mark.parametrize("error", [KeyError("x"), UsageError("no"), OSError(28, "full", "f"), TypeError("odd")])
def test_a_publisher_that_fails_costs_no_other(tmp_path: Path, error: Exception) -> None:
    async def fails(_view: ReportView, _outlet: PublishTarget) -> Delivery:
        raise error

    async def works(_view: ReportView, _outlet: PublishTarget) -> Delivery:
        return Delivery({"comment-url": "u"})

    delivery = anyio.run(deliver, VIEW, PublishTarget(tmp_path, {}), (fails, works))
    assert delivery.outputs == {"comment-url": "u"}
    assert len(delivery.warnings) == 1


def test_a_second_process_writes_the_first_reports_of_a_large_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_MANY_TRIALS", 1)
    monkeypatch.setattr("scoregate.ci.publish.forked._has_free_core", lambda: True)

    def process(_view: ReportView) -> Iterator[str]:
        yield str(os.getpid())

    reports = {"a": process, "b": broken, "c": refused, "d": process}
    delivery = anyio.run(publish_files, VIEW, PublishTarget(tmp_path, reports))
    pids = {path.name: int(path.read_text()) for path in tmp_path.iterdir()}
    assert pids == {"a": pids["a"], "d": os.getpid()}
    assert pids["a"] != os.getpid()
    assert [warning.split()[1] for warning in delivery.warnings] == ["create", "write"]


def test_a_second_process_that_dies_costs_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_MANY_TRIALS", 1)
    monkeypatch.setattr("scoregate.ci.publish.forked._has_free_core", lambda: True)
    pid = os.getpid()

    def dies(_view: ReportView) -> Iterator[str]:
        if os.getpid() != pid:
            os.kill(os.getpid(), signal.SIGKILL)
        yield "whole"

    delivery = anyio.run(publish_files, VIEW, PublishTarget(tmp_path, {"a": good, "b": dies, "c": good}))
    assert {path.name: path.read_text() for path in tmp_path.glob("?")} == {"a": "whole", "b": "whole", "c": "whole"}
    assert delivery == Delivery()


def test_a_second_process_that_hangs_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoregate.ci.publish.forked._has_free_core", lambda: True)
    monkeypatch.setattr("scoregate.ci.publish.forked._LEAST_WAIT_S", 0.1)
    pid = os.getpid()

    def hangs() -> list[str]:
        while os.getpid() != pid:
            signal.pause()
        return ["done here"]

    assert start_work(hangs)() == ["done here"]


def test_a_fork_ends_with_its_process() -> None:
    assert list(while_process_runs(os.getpid(), ["a"])) == ["a"]
    assert list(while_process_runs(os.getppid(), ["a"])) == ["a"]
    with pytest.raises(ProcessLookupError):
        next(while_process_runs(1 << 22, ["a"]))


def test_an_earlier_report_that_cannot_be_deleted_stops_the_others(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    with pytest.raises(UsageError, match="cannot delete"):
        anyio.run(publish_files, VIEW, PublishTarget(tmp_path, {"a": good}))
