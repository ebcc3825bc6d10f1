"""Parts of executors: leases of a budget, the project's archive, and events that come from workers."""

from __future__ import annotations

import hashlib
import os
import random
import tarfile
from pathlib import Path

import anyio
import pytest

from scoregate.features.cluster.budget import BudgetLeases
from scoregate.features.cluster.source_tree import pack_tree, unpack_tree
from scoregate.features.cluster.wire import decode_event, encode_event, move_launch
from scoregate.kernel.run.launch import EventsReceived, Finished, Printed
from scoregate.kernel.run.plan import Launch, SourceKind, SuiteSource
from scoregate.kernel.types.amounts import BudgetUse
from scoregate.kernel.types.events import CaseStarted, SuiteStarted
from scoregate.kernel.types.runs.run import Script


def test_leases_and_costs_never_exceed_the_budget() -> None:
    chance = random.Random(5)
    weights = {number: chance.uniform(1, 20) for number in range(1, 9)}
    leases = BudgetLeases(10.0, 1_000, weights)
    waiting, running = list(weights), {}
    while waiting or running:
        if waiting and (len(running) < 3 or chance.random() < 0.5):
            number = waiting.pop(0)
            limits = leases.begin(number)
            running[number] = BudgetUse(float(limits["SCOREGATE_MAX_COST"]), float(limits["SCOREGATE_MAX_TOKENS"]))
        else:
            number = chance.choice(list(running))
            lease = running.pop(number)
            share, is_complete = chance.random(), chance.random() < 0.7
            leases.end(number, BudgetUse(lease.cost * share, lease.tokens * share), is_complete=is_complete)
            if not is_complete:  # its worker died
                waiting.append(number)
        held = sum(running.values(), leases.spent)
        assert held.cost <= 10.0 + 1e-9
        assert held.tokens <= 1_000 + 1e-6


def test_the_share_of_a_dead_worker_returns() -> None:
    leases = BudgetLeases(9.0, None, {1: 1.0, 2: 1.0, 3: 1.0})
    assert leases.begin(1) == leases.begin(2) == {"SCOREGATE_MAX_COST": "3.0"}
    leases.end(1, BudgetUse(cost=1.0), is_complete=False)
    assert leases.begin(3) == {"SCOREGATE_MAX_COST": "2.5"}
    leases.end(2, BudgetUse(), is_complete=True)
    leases.end(3, BudgetUse(), is_complete=True)
    assert leases.begin(1) == {"SCOREGATE_MAX_COST": "8.0"}


def test_an_archive_has_files_but_no_reports(tmp_path: Path) -> None:
    root, target = tmp_path / "project", tmp_path / "there"
    for name in ("evals/eval_ü.py", "data/a b.json", "scoregate-out/run/run.json", ".venv/bin/python"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name, encoding="utf-8")
    (root / "evals/run.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (root / "evals/run.sh").chmod(0o755)
    (root / "link").symlink_to("data/a b.json")
    tree = anyio.run(lambda: pack_tree(root, tmp_path, left_out=root / "scoregate-out"))
    again = anyio.run(lambda: pack_tree(root, tmp_path, left_out=root / "scoregate-out"))
    assert tree.digest == again.digest
    unpack_tree(tree.path, tree.digest, target)
    found = {path.relative_to(target).as_posix() for path in target.rglob("*") if not path.is_dir()}
    assert found == {"evals/eval_ü.py", "evals/run.sh", "data/a b.json", "link"}
    assert (target / "link").read_text(encoding="utf-8") == "data/a b.json"
    assert os.access(target / "evals/run.sh", os.X_OK)


def test_a_damaged_or_escaping_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with tarfile.open(tmp_path / "evil.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "file", arcname="../outside")
    data = (tmp_path / "evil.tar.gz").read_bytes()
    digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    with pytest.raises(ValueError, match="outside of the project"):
        unpack_tree(data, digest, tmp_path / "there")
    with pytest.raises(ValueError, match="damaged"):
        unpack_tree(data + b"x", digest, tmp_path / "there")
    assert not (tmp_path / "outside").exists()
    assert not (tmp_path / "there").exists()


def test_events_round_trip_and_invalid_ones_are_refused() -> None:
    events = [SuiteStarted(suite="a"), CaseStarted(suite="a", case="c\ud800", input={"n": 1})]
    received = decode_event(encode_event(EventsReceived("evals/a.py", "1.jsonl", events)))
    assert isinstance(received, EventsReceived)
    assert [type(event) for event in received.events] == [SuiteStarted, CaseStarted]
    for event in (Printed("a", "line\n"), Finished(Script("a", exit_code=3, duration_s=1.5))):
        assert decode_event(encode_event(event)) == event
    hostile = (
        None, "Printed", [], ["Unknown", b"{}"], ["Printed"], ["Printed", "text"], ["Printed", b"{}"],
        ["Printed", b"["],
        ["EventsReceived", "a"], ["EventsReceived", "a", "b", b"[{}]", 1], ["EventsReceived", "a", "b", b"[", 1],
        ["EventsReceived", "a", "b", b"[]", -1], ["EventsReceived", "a", "b", b"7", 1], ["__class__", b"{}"],
        ["Finished", b'{"script": {"name": 5}}'], ["Printed", b" " * 9_000_000],
    )  # fmt: skip
    for values in hostile:
        with pytest.raises(ValueError):  # noqa: PT011
            decode_event(values)


def test_host_paths_become_worker_paths(tmp_path: Path) -> None:
    environment = {
        "SCOREGATE_ROOT": "/host/p",
        "BOTH": "/host/p/src:/usr/lib",
        "OTHER": "/host/project",
        "FILE": "/t/x",
    }
    source = SuiteSource("evals/a.py", SourceKind.PYTHON)
    launch = Launch(
        "a", ("python", "/host/p/evals/a.py"), Path("/host/p/evals"), SourceKind.PYTHON, source, environment
    )
    moved = move_launch(launch, "/host/p", tmp_path, {"/t/x": "/there/0"})
    assert moved.cwd == tmp_path / "evals"
    assert moved.argv == ("python", f"{tmp_path}/evals/a.py")
    assert moved.environment == {
        "SCOREGATE_ROOT": str(tmp_path),
        "BOTH": f"{tmp_path}/src:/usr/lib",
        "OTHER": "/host/project",
        "FILE": "/there/0",
    }
