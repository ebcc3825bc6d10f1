"""Ten planted repositories: how close is the estimate of `scoregate plan` to what the provider then charges?

    python -m benchmarks.estimate [--check] [NAME ...]

Each repository has a base run, and then a change. `scoregate plan` estimates the next run, which follows. The provider
is the fake of the tests: it draws the lengths of its answers at random, and adds up what it charges for every answer
that it sends. The estimate never sees this sum. `--check` fails if an estimate is off by more than 15 %.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes.github.exchange import Answer
from tests.fakes.openai import OpenAIServer, Question, Reply

TARGET = 0.15
# US dollars per million tokens, input and output.
PRICES = {"small": (100.0, 400.0), "large": (1_000.0, 3_000.0), "embedder": (50.0, 0.0)}
SETTINGS = 'model = "small"\n' + "".join(
    f"[prices.{name}]\ninput = {read}\noutput = {written}\n" for name, (read, written) in PRICES.items()
)
SUITE = """
import random
from openai import OpenAI
from scoregate.models import get_model, wrap
from scoregate.testing import BaseTestEvaluator, Evaluation, run_test_suite

CASES, JUDGES, MODELS, SKEW, EMBEDS, FAILS = {cases}, {judges}, {models!r}, {skew}, {embeds}, {fails}
client = wrap(OpenAI())
failed = set()

class Judge(BaseTestEvaluator):
    max_concurrency = 4

    def __init__(self, number):
        self.number = number

    @property
    def id(self):
        return f"judge-{{self.number}}"

    async def evaluate_test_case(self, test_case, output):
        await get_model(MODELS[-1]).a_generate(f"judge {{self.number}} {{test_case['q']}} {{output}}")
        return Evaluation(1.0)

def ask(case):
    key = case["q"]
    length = int(random.Random(key).lognormvariate(4, SKEW)) if SKEW else 60
    model = MODELS[random.Random(key).randrange(len(MODELS))]
    text = get_model(model).generate(f"answer {{key}} " + "word " * length).text
    if EMBEDS:
        client.embeddings.create(model="embedder", input="text " * (20 + length))
    if FAILS and key not in failed and random.Random(key).random() < FAILS:
        failed.add(key)
        raise ConnectionError("try again")
    return text

data = [{{"q": f"question {{number}}"}} for number in CASES]
judges = [Judge(number) for number in range(JUDGES)]
run_test_suite("planted", data, ask, judges, 8, test_case_hash=["q"], retry_count=2)
"""


@dataclass
class Shape:
    """A repository: its suite at the base, what changes, and the options of the next run."""

    base: Mapping[str, Any] = field(default_factory=dict)
    change: Mapping[str, Any] = field(default_factory=dict)
    base_settings: str = ""
    settings: str = ""
    cache: str = "off"
    keeps: float = 1.0
    refuses: float = 0.0
    probes: bool = False


SHAPES = {
    "judges": Shape({"judges": 3}),
    "repeats": Shape(base_settings="repeats = 3\n", settings="repeats = 3\n"),
    "retries": Shape({"fails": 0.3}, refuses=0.15),
    "warm cache": Shape(cache="on", keeps=0.4),
    "skewed": Shape({"skew": 1.2}),
    "models": Shape({"models": ["small", "large"], "judges": 2}),
    "embeddings": Shape({"embeds": True}),
    "new cases": Shape(change={"cases": "range(130)"}, probes=True),
    "removed cases": Shape({"skew": 0.8}, change={"cases": "range(0, 100, 2)"}, probes=True),
    "changed repeats": Shape(base_settings="repeats = 1\n", settings="repeats = 4\n"),
}
DEFAULTS = {"cases": "range(100)", "judges": 1, "models": ["small"], "skew": 0.5, "embeds": False, "fails": 0}


class Provider:
    """The fake, with answers of random lengths, and what it charges."""

    def __init__(self, seed: int) -> None:
        self.charged, self.refuses = 0.0, 0.0
        self._random = random.Random(seed)
        self.server = OpenAIServer.start()
        self.server.answer_with(self._reply)
        self._answer: Callable[[Any], Answer] = self.server.answer
        self.server.answer = self._charge  # type: ignore[method-assign]

    def _reply(self, _: Question) -> Reply:
        return Reply("an answer", output_tokens=int(self._random.lognormvariate(4, 0.6)))

    def _charge(self, exchange: Any) -> Answer:
        if self.refuses and self._random.random() < self.refuses:
            return Answer({"error": {"message": "overloaded", "code": "server_error"}}, status=503)
        answer = self._answer(exchange)
        body: Any = answer.content
        if isinstance(body, dict) and "usage" in body:
            usage, (read, written) = body["usage"], PRICES[exchange.json["model"]]
            self.charged += (usage["prompt_tokens"] * read + usage.get("completion_tokens", 0) * written) / 1e6
        return answer


def run_scoregate(root: Path, provider: Provider, *words: str) -> str:
    """Run a command in a repository; its standard output."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SCOREGATE_", "GITHUB_"))}
    environ = {**kept, **provider.server.environment}
    command = [sys.executable, "-m", "scoregate", *words]
    done = subprocess.run(command, cwd=root, env=environ, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(words)} exited with {done.returncode}: {done.stderr or done.stdout}")
    return done.stdout


def measure(shape: Shape, seed: int) -> tuple[Mapping[str, float], float]:
    """The estimate of the run after a change, and what it was charged."""
    provider = Provider(seed)
    try:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            _write(root, {**DEFAULTS, **shape.base}, shape.base_settings)
            provider.refuses = shape.refuses
            run_scoregate(root, provider, "run", "--cache", shape.cache)
            _forget_answers(root / ".scoregate-cache" / "answers.sqlite", shape.keeps)
            _write(root, {**DEFAULTS, **shape.base, **shape.change}, shape.settings)
            probe = ("--probe",) if shape.probes else ()
            planned = json.loads(
                run_scoregate(root, provider, "plan", "--format", "json", "--cache", shape.cache, *probe)
            )
            provider.charged = 0.0
            run_scoregate(root, provider, "run", "--cache", shape.cache)
            return planned["total"]["cost"], provider.charged
    finally:
        provider.server.close()


def _write(root: Path, values: Mapping[str, Any], settings: str) -> None:
    (root / "evals").mkdir(exist_ok=True)
    (root / "evals" / "planted.py").write_text(SUITE.format(**values), encoding="utf-8")
    (root / "scoregate.toml").write_text(settings + SETTINGS, encoding="utf-8")


def _forget_answers(path: Path, share: float) -> None:
    """Keep a share of the stored answers, as a cache that was pruned."""
    if not path.exists():
        return
    with sqlite3.connect(path) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM answers ORDER BY name")]
        gone = random.Random(1).sample(names, round(len(names) * (1 - share)))
        connection.executemany("DELETE FROM answers WHERE name = ?", [(name,) for name in gone])


def measure_all(names: list[str], seed: int) -> Iterator[tuple[str, Mapping[str, float], float]]:
    """The estimate and the charge of each repository."""
    for number, (name, shape) in enumerate(SHAPES.items()):
        if not names or name in names:
            yield name, *measure(shape, seed + number)


def main() -> int:
    """Print a table, and return 1 if a target is missed and `--check` is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"repositories: {', '.join(SHAPES)}")
    parser.add_argument("--check", action="store_true", help="exit 1 if a target is missed")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    missed = 0
    print("| repository | estimate | 90 % interval | charged | off by | target | |\n|---|--:|--:|--:|--:|--:|---|")
    for name, cost, charged in measure_all(arguments.names, arguments.seed):
        error = cost["expected"] / charged - 1
        is_ok = abs(error) <= TARGET
        missed += not is_ok
        interval = f"{cost['low']:.2f} to {cost['high']:.2f}"
        state = "ok" if is_ok else "MISSED"
        print(
            f"| {name} | ${cost['expected']:.2f} | {interval} | ${charged:.2f} | {error:+.1%} | ± 15 % | {state} |",
            flush=True,
        )
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
