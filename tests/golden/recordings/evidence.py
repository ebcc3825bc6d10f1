"""What counts: carried suites and kept cases, exemptions, slices, several base runs, labels, battles, people, tools."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.golden.recordings.bench import Bench, Command, judge_commands, make_events, make_row, recording
from tests.golden.recordings.partial import QUARANTINE
from tests.integration.jobs import test_coverage as coverage

ACCEPTED = """[[accepted]]
suite = "hours"
evaluator = "equals"
until = 2999-12-31
reason = "the new prompt"
by = "ana"
at_most = {most}
"""


@recording
def affected(bench: Bench) -> None:
    """Of two suites one is affected, and breaks; the other is carried."""
    bench.settings("affected = true", "min_pass_rate = 0.5", "fail_on_regression = true")
    bench.suite("hours")
    bench.suite("refunds", wrong=(1, 2))
    bench.base()
    bench.prompt("hours", range(6))
    bench.change()


@recording
def affected_none(bench: Bench) -> None:
    """No suite is affected: both are carried."""
    bench.settings("affected = true", "max_drop = 0.1")
    bench.suite("hours")
    bench.suite("refunds", wrong=(1,))
    bench.base()
    bench.write("notes.md", "new")
    bench.change("--min-pass-rate", "0.5")


def keep_cases(bench: Bench, *changed: int, cases: int = 20) -> None:
    """Change the expected answers of some cases, so that only they run."""
    rows = [make_row(at, expected="other") if at in changed else make_row(at) for at in range(cases)]
    bench.rows("hours", rows)


@recording
def kept(bench: Bench) -> None:
    """Rows of 3 cases changed, so the others are kept; a drop of those that ran."""
    bench.settings("affected = true", "min_pass_rate = 0.5", "max_drop = 0.5")
    bench.suite("hours")
    bench.base()
    keep_cases(bench, 3, 4, 5)
    bench.change()


@recording
def kept_large_limit(bench: Bench) -> None:
    """30 of 80 cases changed and failed: the limit is above the drop of the suite, and below that of what ran."""
    bench.settings("affected = true", "min_pass_rate = 0", "max_drop = 0.5")
    bench.suite("hours", 80)
    bench.base()
    keep_cases(bench, *range(30), cases=80)
    bench.change()


@recording
def kept_removed(bench: Bench) -> None:
    """Rows were removed and added; the cases that are left are kept."""
    bench.settings("affected = true", "min_pass_rate = 0.5")
    bench.suite("hours")
    bench.base()
    bench.rows("hours", [make_row(at) for at in range(4, 23)])
    bench.change()


@recording
def carried_twice(bench: Bench) -> None:
    """The base of a change carries a suite itself; the change carries it again."""
    bench.settings("affected = true", "min_pass_rate = 0.5")
    bench.suite("hours")
    bench.suite("refunds", wrong=(1,))
    bench.base()
    bench.prompt("hours", (2,))
    bench.commit()
    bench.do("run", "--out", "second")
    shutil.rmtree(bench.root / "base")
    (bench.root / "second").rename(bench.root / "base")
    bench.prompt("hours", (2, 3))
    bench.change()


def write_quarantine(bench: Bench, case: str = "q1*") -> None:
    bench.write(".scoregate/quarantine.toml", QUARANTINE.replace("q1", case))


@recording
def quarantine(bench: Bench) -> None:
    """11 of 20 cases are in quarantine; some of them fail, and one that isn't does."""
    bench.settings("min_pass_rate = 0.9", "fail_on_regression = true")
    write_quarantine(bench)
    bench.suite("hours", wrong=(11,))
    bench.base()
    bench.prompt("hours", (1, 10, 11, 12, 3))
    bench.change()


@recording
def quarantine_stable(bench: Bench) -> None:
    """Cases in quarantine passed in four runs in a row."""
    bench.settings("min_pass_rate = 0.9")
    write_quarantine(bench)
    bench.suite("hours", wrong=(11,))
    bench.base()
    for _ in range(3):
        bench.do("run", "--out", "next")
        shutil.rmtree(bench.root / "base")
        (bench.root / "next").rename(bench.root / "base")
    bench.change()


@recording
def accepted(bench: Bench) -> None:
    """A drop that is accepted."""
    bench.settings("min_pass_rate = 0", "fail_on_regression = true", "max_drop = 0.1")
    bench.write(".scoregate/accepted.toml", ACCEPTED.format(most=0.5))
    bench.suite("hours")
    bench.base()
    bench.prompt("hours", range(8))
    bench.change()


@recording
def accepted_too_large(bench: Bench) -> None:
    """A drop that is larger than what is accepted, and an entry that ended."""
    old = ACCEPTED.format(most=0.9).replace("2999", "2020")
    bench.settings("min_pass_rate = 0", "fail_on_regression = true")
    bench.write(".scoregate/accepted.toml", ACCEPTED.format(most=0.1) + old)
    bench.suite("hours")
    bench.base()
    bench.prompt("hours", range(15))
    bench.change()


@recording
def slices(bench: Bench) -> None:
    """French cases get worse: the drop of their slice is above its limit."""
    bench.settings("min_pass_rate = 0", 'slices = ["lang"]', 'max_slice_drop = { "lang=*" = 0.2 }')
    bench.suite("hours", 30)
    bench.base()
    bench.prompt("hours", range(0, 24, 3))
    bench.change()


@recording
def several_bases(bench: Bench) -> None:
    """The base is three runs: two of its commit, and one of an earlier commit."""
    bench.settings("affected = true", "min_pass_rate = 0", "base_runs = 4", "fail_on_regression = true")
    bench.suite("hours", 30, wrong=(4,))
    bench.write(".gitignore", "scoregate-out/\nbase/\n.scoregate-cache/\n__pycache__/\n")
    for number in range(3):
        bench.write("notes.md", str(min(number, 1)))
        bench.git("add", "-A")
        bench.git("commit", "-qm", "base", "--allow-empty") if number < 2 else None
        bench.do("run", "--all", "--baseline", "none", "--out", f"made/{number}")
        Path(bench.root, "base").mkdir(exist_ok=True)
        shutil.move(bench.root / f"made/{number}/run", bench.root / f"base/{number}")
        shutil.rmtree(bench.root / "made")
    bench.prompt("hours", (4, 5, 6, 7, 8, 9, 10, 11))
    bench.change()


@recording
def previous(bench: Bench) -> Sequence[Command]:
    """Four runs without a named baseline: each is compared with the one before, and the history has all."""
    bench.write("scoregate.toml", "min_pass_rate = 0\n")
    bench.write(".gitignore", "scoregate-out/\n__pycache__/\n.scoregate-cache/\n")
    bench.suite("hours")
    bench.commit()
    for wrong in ((), (1,), (1, 2, 3), (2,)):
        bench.prompt("hours", wrong)
        bench.do("run")
    questions: tuple[Command, ...] = (
        ("trend", "hours", "equals"),
        ("flaky",),
        ("cost",),
        ("cost", "--by", "month"),
        ("page", "--output", "page.html"),
    )
    return [*judge_commands(), *(("history", *question) for question in questions)]


@recording
def labels(bench: Bench) -> None:
    """An evaluator that gives labels without a score; their counts changed."""

    def write(odd: int) -> str:
        events = make_events(12, cost=None)
        for at in range(12):
            place = {"case": f"c{at}", "repeat": 0, "evaluator": "tone"}
            end = next(
                i for i, each in enumerate(events) if each["type"] == "case_finished" and each["case"] == f"c{at}"
            )
            events.insert(end, {"type": "labelled", **place, "label": "odd" if at < odd else "kind"})
        events[0]["evaluators"].append({"id": "tone"})
        return bench.log("shop", events)

    bench.settings("min_pass_rate = 0.5")
    settings = (bench.root / "scoregate.toml").read_text()
    bench.write("scoregate.toml", f"{settings}[[commands]]\nname = 'shop'\nrun = ['sh', '-c', '{write(2)}']\n")
    bench.base()
    write(7)
    bench.change()


@recording
def scales(bench: Bench) -> None:
    """Scores on a scale, booleans, assertions, a trajectory, clusters and scores without a threshold."""

    def write(low: float) -> str:
        events = make_events(16, cost=0.002)
        more: list[dict[str, object]] = []
        for each in events:
            if each["type"] == "case_started":
                each |= {"cluster": f"group {int(each['case'][1:]) // 4}", "tags": ["plain"]}
            if each["type"] == "case_finished":
                place = {"case": each["case"], "repeat": 0}
                at = int(each["case"][1:])
                search = {"name": "search", "arguments": {"q": at}, "result": "x", "duration_ms": 5}
                kind = {"criterion": "is kind", "passed": at % 5 != 0, "required": True}
                more += [
                    {"type": "tool_called", **place, **search},
                    {"type": "scored", **place, "evaluator": "stars", "score": 4 if at % 3 else low},
                    {"type": "scored", **place, "evaluator": "polite", "score": at % 5 != 0, "assertions": [kind]},
                ]
            more.append(each)
        more[0]["evaluators"] = [
            {"id": "right"}, {"id": "stars", "scale": [1, 5], "fingerprint": {"source": f"s{low}"}},
            {"id": "polite", "boolean": True},
        ]  # fmt: skip
        return bench.log("shop", more)

    bench.settings("min_pass_rate = 0.5", "max_drop = { stars = 0.1 }")
    settings = (bench.root / "scoregate.toml").read_text()
    bench.write("scoregate.toml", f"{settings}[[commands]]\nname = 'shop'\nrun = ['sh', '-c', '{write(4)}']\n")
    bench.base()
    write(1)
    bench.change()


WAITS = """
from dataclasses import dataclass

from scoregate.testing.evaluators import BaseManualBattle
from scoregate.testing.models import BaseTestCase, BaseTestEvaluator, Evaluation, Threshold
from scoregate.testing.run import run_test_suite


@dataclass
class Case(BaseTestCase):
    input: str

    def hash(self):
        return self.input


class Better(BaseManualBattle):
    id = "better"
    criteria = "The better answer is short."

    def output_mapper(self, output):
        return output


class Short(BaseTestEvaluator):
    id = "short"

    def evaluate_test_case(self, test_case, output):
        return Evaluation(score=float(len(output) < 30), threshold=Threshold(gte=1))


cases = [Case(f"hi {n}") for n in range(6)]
run_test_suite("greeting", cases, lambda case: "ANSWER to " + case.input, [Better(), Short()])
"""


def record_reviews(bench: Bench) -> None:
    """Battles against the outputs of the base, that people have to decide."""
    bench.settings("min_pass_rate = 0.5")
    bench.write("evals/eval_greeting.py", WAITS.replace("ANSWER", "old answer"))
    bench.base()
    bench.write("evals/eval_greeting.py", WAITS.replace("ANSWER", "new answer"))
    bench.change()


@recording
def reviews_pending(bench: Bench) -> None:
    """Battles against the outputs of the base, which wait for people."""
    record_reviews(bench)


@recording
def reviews_decided(bench: Bench) -> None:
    """People decided most of the battles after the run."""
    record_reviews(bench)
    for number in range(5):
        pair = ("--baseline", f"old answer to hi {number}", "--challenger", f"new answer to hi {number}")
        winner = "challenger" if number else "baseline"
        bench.do("verdicts", "add", "better", "--case", f"hi {number}", *pair, "--winner", winner, "--by", "Ada")


@recording
def tool_coverage(bench: Bench) -> None:
    """Tools and prompts that the cases of a suite don't use."""
    bench.settings('coverage_tools = ["tools.json"]', 'coverage_prompts = ["prompts/*"]', "affected = true")
    bench.write("evals/demo.py", coverage.SUITE.replace("SILENT", "'-'"))
    bench.write("tools.json", json.dumps(coverage.TOOLS, indent=1))
    for name in ("used", "unused"):
        bench.write(f"prompts/{name}.md", name)
    bench.base()
    bench.write("evals/demo.py", coverage.SUITE.replace("SILENT", "'012'"))
    bench.change()


@recording
def old_version(bench: Bench) -> Sequence[Command]:
    """A project whose runs scoregate 0.1.0 wrote."""
    made = Path(__file__).parents[2] / "data/previous_version/project"
    for path in made.iterdir():
        copy = shutil.copytree if path.is_dir() else shutil.copy
        copy(path, bench.root / path.name)
    compared = ("--baseline", "base")
    return [
        ("gate", "run", *compared, "--json"),
        ("gate", "first", *compared),
        *(("report", "run", *compared, "--format", form) for form in ("markdown", "junit", "html", "ctrf")),
        ("merge", "run", "first", "--baseline", "none", "--out", "merged"),
        ("merge", "run", *compared, "--out", "alone"),
        ("history", "import", "base", "first", "run"),
        ("history", "trend", "sdk", "accuracy"),
    ]
