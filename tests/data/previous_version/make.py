"""Makes the run, store and cache that `test_previous_version.py` reads: `python -m tests.data.previous_version.make`.

Made once with each released version, with that version's code. What is committed is never made again with newer code:
the test shows that newer code reads it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.fakes.openai.server import OpenAIServer

PROJECT = Path(__file__).parent / "project"
KEEP = ("evals", "scoregate.toml")
LEAVE = (".git", ".gitignore", ".lock", "__pycache__", "report.html")

STORE = """
from scoregate import Client
from scoregate.entities import Behavior, Endpoint, Prompt, Test, TestSet
from scoregate.metrics import CategoricalJudge, NumericJudge

def question(content, expected=None):
    prompt = Prompt(content=content, expected_response=expected)
    return Test(category="Support", topic="Hours", behavior="Answers", prompt=prompt)

TestSet(name="Opening Hours", tests=[question("When do you open?", "At nine."), question("When do you close?")]).push()
TestSet(
    name="Refunds",
    tests=[Test(category="Support", topic="Refunds", behavior="Stays polite", goal="Get a refund", max_turns=3)],
).push()
NumericJudge("Does it stay calm?", name="calm").push()
CategoricalJudge("Which tone?", name="tone", categories=["kind", "cold"], passing_categories=["kind"]).push()
Behavior(name="Answers", metrics=["calm"]).push()
Endpoint(name="Support Bot", connection_type="SDK", function="support_bot:reply").push()

client = Client(project_name="support-bot")
golden = client.datasets.create(
    "golden-set", examples=[{"input": "When do you open?", "expected_output": "At nine."}]
)
golden.add_examples([{"input": "When do you close?", "expected_output": "At five."}])
judges = client.judges
judges.create("helpfulness", "Is this a helpful answer?\\nQuestion: {{input}}\\nAnswer: {{output}}")
judges.update("helpfulness", prompt="Is this a helpful, polite answer?\\nQuestion: {{input}}\\nAnswer: {{output}}")
judges.tag("helpfulness", "prod", "0.0")
judges.create("faithfulness", "How close is it to {{expected_output}}?", score_type="numeric", min_score=1, max_score=5)
judges.create(
    "tone",
    "Which tone has {{output}}?",
    score_type="categorical",
    categories=[{"value": "kind", "score": 1}, {"value": "cold", "score": 0}],
)
judges.register("my_judges:Short", "short")
judges.register("my_judges:Length", "length")
judges.register("my_judges:ToneOf", "tone-of")
client.offline_tests.create_config(
    name="nightly-regression",
    dataset="golden-set",
    judges=["helpfulness", "faithfulness", "tone", "short", "length", "tone-of"],
)
"""


def main() -> None:
    """Fill the project anew, in a repository of its own."""
    with OpenAIServer() as server, tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "project")
        for name in KEEP:
            copy = shutil.copytree if (PROJECT / name).is_dir() else shutil.copy
            project.mkdir(exist_ok=True)
            copy(PROJECT / name, project / name)
        subprocess.run(["git", "init", "-q", str(project)], check=True)
        environ = {
            **os.environ,
            "OPENAI_API_KEY": "sk-no-key",
            "OPENAI_BASE_URL": server.url,
            "PYTHONPATH": str(project / "evals"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        environ.pop("CI", None)

        def run(*command: str, codes: tuple[int, ...] = (0,)) -> None:
            done = subprocess.run([sys.executable, *command], cwd=project, env=environ, check=False)
            if done.returncode not in codes:
                raise SystemExit(f"{command} ended with {done.returncode}")

        run("-c", STORE)
        scoregate = ("-m", "scoregate")
        run(*scoregate, "run", "--baseline", "none", "--out", "base", codes=(0, 3))
        score = (
            "--output",
            "At five.",
            "--original",
            "1",
            "--score",
            "0.5",
            "--by",
            "Ada",
            "--comment",
            "no time zone",
        )
        run(*scoregate, "overrides", "add", "accuracy", "--input", "When do you close?", *score)
        environ["GREETING"] = "Hello! "
        run(*scoregate, "run", "--baseline", "base", "--out", "first", codes=(0, 1, 3))
        pair = ("--baseline", "At five.", "--challenger", "Hello! At five.", "--winner", "challenger", "--by", "Ada")
        run(*scoregate, "verdicts", "add", "manual-battle", "--case", "When do you close?", *pair)
        run(*scoregate, "run", "--baseline", "base", "--out", "run", codes=(0, 1, 3))
        shutil.rmtree(PROJECT)
        shutil.copytree(
            project, PROJECT, ignore=shutil.ignore_patterns(".git", ".gitignore", ".lock", "__pycache__", "report.html")
        )


if __name__ == "__main__":
    main()
