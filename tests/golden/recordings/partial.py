"""Runs that lack something: a part of the cases, a script, a key, a shard, or the end."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.golden.recordings.bench import Bench, Command, judge_commands, make_events, make_row, recording
from tests.integration.jobs import test_shards as shards

# A case raises while a file that git ignores exists.
UNSTABLE = """
from pathlib import Path

from scoregate import evaluate
from scoregate.scorers import equals


def task(input):
    if input in FAILING and Path("state/down").exists():
        raise RuntimeError("no answer")
    return input


evaluate("hours", data=[{"input": f"q{at}", "expected": f"q{at}"} for at in range(12)], task=task, scorers=[equals()])
"""


@recording
def resume(bench: Bench) -> None:
    """A run in which 3 of 12 cases had errors was resumed; the other results are reused."""
    prepare_resume(bench)
    bench.do("run", "--resume")


def prepare_resume(bench: Bench, *settings: str, failing: Sequence[int] = (3, 4, 5)) -> None:
    """A run with errors that a resumed run doesn't have."""
    bench.settings("fail_on_regression = true", *settings)
    bench.write("evals/hours.py", UNSTABLE.replace("FAILING", repr([f"q{at}" for at in failing])))
    bench.write("state/.gitignore", "*\n")
    bench.base()
    bench.write("state/down", "x")
    bench.change()
    (bench.root / "state/down").unlink()


@recording
def resume_twice(bench: Bench) -> None:
    """A run was resumed while its cases still had errors, and resumed again."""
    prepare_resume(bench)
    bench.write("state/down", "x")
    bench.do("run", "--resume")
    (bench.root / "state/down").unlink()
    bench.do("run", "--resume")


@recording
def stopped(bench: Bench) -> None:
    """`--max-failures` stopped a run at its second failing case."""
    bench.settings("min_pass_rate = 0")
    bench.suite("hours")
    bench.write(
        "evals/hours.py", (bench.root / "evals/hours.py").read_text().replace("equals()]", "equals()], concurrency=1")
    )
    bench.base()
    bench.prompt("hours", (2, 4, 6))
    bench.change("--max-failures", "2")


@recording
def stopped_quarantine(bench: Bench) -> None:
    """`--max-failures` where a failing case is in quarantine, which doesn't count."""
    bench.settings("min_pass_rate = 0")
    bench.suite("hours")
    bench.write(
        "evals/hours.py", (bench.root / "evals/hours.py").read_text().replace("equals()]", "equals()], concurrency=1")
    )
    bench.write(".scoregate/quarantine.toml", QUARANTINE)
    bench.base()
    bench.prompt("hours", (1, 4, 6, 9))
    bench.change("--max-failures", "2")


QUARANTINE = '[[quarantine]]\ncase = "q1"\nowner = "bo"\nreason = "the clock"\nuntil = 2999-12-31\n'


def _two_suites(bench: Bench, *settings: str) -> None:
    bench.settings("min_pass_rate = 0.5", *settings)
    bench.suite("hours", 12)
    bench.suite("refunds", 12)
    bench.base()
    bench.prompt("hours", (1, 10))


@recording
def select_cases(bench: Bench) -> None:
    """`-k` chose some cases."""
    _two_suites(bench)
    bench.change("-k", "q1")


@recording
def select_suite(bench: Bench) -> None:
    """`--suite` chose one of two suites."""
    _two_suites(bench)
    bench.change("--suite", "hours")


@recording
def select_failed(bench: Bench) -> None:
    """`--last-failed` after a run with two failing cases, one of which passes now."""
    _two_suites(bench)
    bench.change()
    bench.prompt("hours", (10,))
    bench.do("run", "--last-failed")


@recording
def max_cases(bench: Bench) -> None:
    """`--max-cases` with a base that has all."""
    _two_suites(bench, "max_drop = 0.1")
    bench.change("--max-cases", "4")


@recording
def key_missing(bench: Bench) -> None:
    """A script lacks a variable that its suite needs; the base had it."""
    _two_suites(bench, "[suites.refunds]", 'needs = ["SHOP_KEY"]')
    bench.do("run", "--baseline", "none", "--out", "base", SHOP_KEY="key-of-the-shop")
    bench.change()


@recording
def gone(bench: Bench) -> None:
    """A suite and some cases of the base are gone, and some are new."""
    _two_suites(bench, "max_drop = 0.1")
    (bench.root / "evals/refunds.py").unlink()
    bench.rows("hours", [make_row(at) for at in range(4, 20)])
    bench.change()


@recording
def crashed(bench: Bench) -> None:
    """A script crashed after its suite had ended, and another before its suite began."""
    _two_suites(bench)
    bench.write("evals/hours.py", (bench.root / "evals/hours.py").read_text() + "\nraise SystemExit(7)\n")
    bench.write("evals/refunds.py", "from scoregate import evaluate\nimport no_such_module_here\n")
    bench.change()


@recording
def timed_out(bench: Bench) -> None:
    """A script exceeded its time."""
    _two_suites(bench)
    source = (bench.root / "evals/hours.py").read_text()
    bench.write(
        "evals/hours.py",
        source.replace("    return", "    import time; time.sleep(60 * (input == 'q7'))\n    return", 1),
    )
    bench.change("--timeout", "3")


@recording
def invalid_lines(bench: Bench) -> None:
    """A program wrote lines that are no events, and doesn't end its suite."""
    line = bench.log("shop", make_events(6))
    bench.settings("[[commands]]", 'name = "shop"', f"run = ['sh', '-c', '{line}']")
    bench.base()
    text = (bench.root / "logs/shop.jsonl").read_text().splitlines()
    bench.write("logs/shop.jsonl", "\n".join([*text[:9], "{", '{"type": "unknown", "suite": "shop"}', *text[9:-1], ""]))
    bench.change()


@recording
def errors(bench: Bench) -> None:
    """Cases and evaluators raised, and an evaluator returned nothing for some cases."""
    body = (
        "def right(output, expected):\n    if output == 'q5':\n        raise ValueError('no judge')\n"
        "    return None if output == 'q6' else float(output == expected)\n"
    )
    bench.settings("max_error_rate = 0.5", "max_lost_scores = 0.5", "max_drop = 0.3")
    bench.suite("hours")
    source = (bench.root / "evals/hours.py").read_text().replace("equals()]", "equals(), right]")
    bench.write(
        "evals/hours.py", source.replace("def task", f"{body.replace('q5', 'x').replace('q6', 'y')}\n\ndef task")
    )
    bench.base()
    failing = "def task(input):\n    if input == 'q2':\n        raise KeyError('hours')\n"
    bench.write(
        "evals/hours.py", source.replace("def task", f"{body}\n\ndef task").replace("def task(input):\n", failing)
    )
    bench.change()


SHARDS = "shards/*"
SHARD_COMMANDS: tuple[Command, ...] = (
    ("merge", SHARDS, "--baseline", "base", "--max-drop", "0.02", "--out", "merged", "--json"),
    *judge_commands("merged"),
    ("gate", "shards/2/run"),
)


def record_shards(bench: Bench, *, of: int = 3, quality: str = "change") -> None:
    """A base and a change in shards, whose longest suite is divided."""
    shards.plant(bench, suite=shards.QUALITY_SUITE.replace("cases(60)", "cases(24)"))
    shards.plan(bench, "--shards", str(of))
    for number in range(1, of + 1):
        shards.run_shard(bench, number, of, quality=quality)


@recording
def shards_divided(bench: Bench) -> Sequence[Command]:
    """Three shards with repeats, confirmations, a grid and battles; the longest suite is divided."""
    record_shards(bench)
    return [*SHARD_COMMANDS]


@recording
def shards_missing(bench: Bench) -> Sequence[Command]:
    """The run of one of three shards is missing."""
    record_shards(bench, quality="base")
    shutil.rmtree(bench.root / "shards/1")
    return [*SHARD_COMMANDS]


@recording
def matrix(bench: Bench) -> Sequence[Command]:
    """Two legs of a matrix, merged; one has a regression, and a third is missing."""
    bench.settings("min_pass_rate = 0.5", "max_drop = 0.1")
    bench.suite("hours", 12)
    bench.base()
    for leg, wrong in (("py311", ()), ("py312", (1, 2, 3))):
        bench.prompt("hours", wrong)
        bench.do("run", "--out", f"legs/{leg}")
        Path(bench.root, f"legs/{leg}/report.html").unlink(missing_ok=True)
    return [
        ("merge", "legs/py311", "legs/py312", "--out", "merged"),
        ("merge", "legs/py311", "legs/py312", "--expect", "3", "--out", "expected"),
        *judge_commands("merged"),
        ("compare", "legs/py312", "--baseline", "legs/py311"),
    ]
