"""A project in which real commands run, and suites that depend on its files only."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.integration.host.conftest import Project, Ran

Command = tuple[str, ...]
RUN = "scoregate-out"
FORMATS = ("markdown", "junit", "html", "ctrf")
IGNORED = "scoregate-out/\nbase/\nshards/\n.scoregate-cache/\n__pycache__/\n"

# A prompt lists the inputs that get a wrong answer; the rows of the cases are in a file of data.
ROWS = """
from pathlib import Path

from scoregate import evaluate
from scoregate.scorers import equals

wrong = Path("prompts/{name}.md").read_text().split()


def task(input):
    return "wrong" if input in wrong else input


evaluate("{name}", data="data/{name}.jsonl", task=task, scorers=[equals()])
"""


class Bench(Project):
    """A project with a base run and a run, whose suites answer without a model."""

    def settings(self, *lines: str) -> None:
        """Write the settings; the baseline is the run in `base`."""
        self.write("scoregate.toml", "".join(f"{line}\n" for line in ('baseline = "base"', *lines)))

    def suite(self, name: str, cases: int = 20, *, wrong: Sequence[int] = ()) -> None:
        """Write a suite, its prompt and its rows."""
        self.write(f"evals/{name}.py", ROWS.format(name=name))
        self.prompt(name, wrong)
        self.rows(name, [make_row(at) for at in range(cases)])

    def prompt(self, name: str, wrong: Iterable[int]) -> None:
        """Let a suite answer some of its cases wrongly."""
        self.write(f"prompts/{name}.md", " ".join(f"q{at}" for at in wrong))

    def rows(self, name: str, rows: Iterable[dict[str, Any]]) -> None:
        """Write the cases of a suite."""
        self.write(f"data/{name}.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))

    def base(self, *arguments: str, **environment: str) -> Ran:
        """Commit, and run the base."""
        self.write(".gitignore", IGNORED)
        self.commit("base")
        return self.do("run", "--baseline", "none", "--out", "base", *arguments, **environment)

    def change(self, *arguments: str, **environment: str) -> Ran:
        """Commit to a branch, and run the change."""
        self.git("checkout", "-qb", "change")
        self.git("add", "-A")
        self.git("commit", "-qm", "change", "--allow-empty")
        return self.do("run", *arguments, **environment)

    def do(self, *arguments: str, **environment: str) -> Ran:
        """Run a command whose exit code is that of a verdict."""
        ran = self.scoregate(*arguments, **environment)
        assert ran.exit_code in (0, 1, 3), ran.output
        print(f"    {' '.join(arguments)}: {ran.exit_code}")
        return ran

    def log(self, suite: str, events: Iterable[dict[str, Any]]) -> str:
        """Write a log of events, and return the shell line that emits it."""
        lines = "".join(f"{json.dumps({'suite': suite, **event})}\n" for event in events)
        self.write(f"logs/{suite}.jsonl", lines)
        return f'cp logs/{suite}.jsonl "$SCOREGATE_EVENTS/{suite}.jsonl"'


def make_row(at: int, **fields: Any) -> dict[str, Any]:
    """A case; one of three is French."""
    return {"input": f"q{at}", "expected": f"q{at}", "lang": "fr" if at % 3 == 0 else "en", **fields}


def make_events(cases: int, *, wrong: Sequence[int] = (), cost: float | None = 0.01) -> list[dict[str, Any]]:
    """The events of a suite in another language, whose calls cost money."""
    events: list[dict[str, Any]] = [{"type": "suite_started", "cases": cases, "evaluators": [{"id": "right"}]}]
    usage = {"input_tokens": 100, "output_tokens": 20, "model": "m", **({} if cost is None else {"cost": cost})}
    for at in range(cases):
        place = {"case": f"c{at}", "repeat": 0}
        score = float(at not in wrong)
        events += [
            {"type": "case_started", **place, "name": f"case {at}", "input": {"number": at}},
            {"type": "case_output", **place, "output": f"answer {at}", "duration_ms": 100 + at, "usage": usage},
            {"type": "scored", **place, "evaluator": "right", "score": score, "threshold": {"gte": 1}},
            {"type": "case_finished", **place},
        ]
    return [*events, {"type": "suite_finished"}]


Record = Callable[[Bench], Sequence[Command] | None]


@dataclass(frozen=True)
class Recording:
    """A function that records a world.

    Attributes:
        name: the name of the world.
        about: what was recorded.
        record: records it, and returns the commands that judge it; None for those of most worlds.
    """

    name: str
    about: str
    record: Record


RECORDINGS: list[Recording] = []


def recording(record: Record) -> Record:
    """Add a function to the recordings."""
    assert record.__doc__, record
    RECORDINGS.append(Recording(f"run-{record.__name__.replace('_', '-')}", record.__doc__.strip(), record))
    return record


def judge_commands(run: str = RUN, *, all_reports: bool = False) -> list[Command]:
    """The commands that judge a run. `merge` prints and writes most reports, of a run without its drift control."""
    own = () if run == RUN else (run,)
    forms = FORMATS if all_reports else FORMATS[-1:]
    return [
        ("gate", *own, "--json"),
        *(("report", "--format", form, *own) for form in forms),
        ("merge", run, "--out", "alone" if own else "merged"),
        ("history", "import", run),
    ]
