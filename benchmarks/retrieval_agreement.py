"""How far scoregate's scorers of retrieval agree with ragas and DeepEval, on sixty answers and with one model.

    python benchmarks/retrieval_agreement.py

The model is a server on this machine that judges by a fixed rule (`text_rules.py`). All tools ask this model, so scores
differ only by what a tool asks and how it counts. The answers are in `retrieval_answers.jsonl`. The tools run in a
network namespace that has loopback alone.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agreement import Comparison, compare
from isolation import SILENT, name_network, restart_isolated
from measure import Failed, environment
from peers import REPOSITORY, SUITES, tool
from scripted_judge import answer_prompt

sys.path.append(str(REPOSITORY))
from tests.fakes.openai import OpenAIServer, Question

ROWS = Path(__file__).with_name("retrieval_answers.jsonl")
PEERS = ("ragas", "deepeval")
PAIRS = (
    ("faithfulness", "ragas", "faithfulness"),
    ("faithfulness", "deepeval", "faithfulness"),
    ("faithfulness", "deepeval", "faithfulness, strict"),
    ("hallucination_free", "deepeval", "hallucination"),
    ("answer_relevancy", "deepeval", "answer_relevancy"),
    ("context_precision", "ragas", "context_precision"),
    ("context_precision", "deepeval", "context_precision"),
    ("context_recall", "ragas", "context_recall"),
    ("context_recall", "deepeval", "context_recall"),
)


def main() -> None:
    """Measure in a namespace without a network, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for peer in PEERS:
        parser.add_argument(f"--{peer}", metavar="PYTHON", help=f"of an environment with {peer}; else one is made")
    parser.add_argument("--isolated", action="store_true", help=argparse.SUPPRESS)
    arguments = vars(parser.parse_args())
    # Made before the network is gone, since that takes a package index.
    pythons = {peer: arguments[peer] or tool(peer) for peer in PEERS}
    if not arguments["isolated"]:
        restart_isolated(__file__, [word for peer, python in pythons.items() for word in (f"--{peer}", python)])
    rows = read_rows()
    found = measure({"scoregate": sys.executable, **pythons})
    print(f"Network of the tools: {name_network()}")
    versions = (f"{name} {each['version']}" for name, each in found.items())
    print(f"Versions: {', '.join(versions)}\n")
    comparisons = [
        compare(rows, (own, found["scoregate"]["scores"][own]), (f"{peer}: {other}", found[peer]["scores"][other]))
        for own, peer, other in PAIRS
    ]
    print_table(comparisons)


def read_rows() -> list[dict[str, Any]]:
    """Read the answers that are judged."""
    return [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]


def measure(pythons: Mapping[str, str], answers: Path = ROWS) -> dict[str, Any]:
    """Let each tool score all rows, one after the other.

    Args:
        pythons: the interpreter of each tool.
        answers: the file with the rows.

    Returns:
        For each tool its version, and by scorer the score and verdicts of each row.

    Raises:
        Failed: a tool crashed, or asked something that the scripted model doesn't know.
    """
    unknown: list[str] = []

    def answer(question: Question) -> Mapping[str, Any] | None:
        found = answer_prompt(question.last)
        if found is None:
            unknown.append(question.last[:300])
        return found

    with OpenAIServer.start() as server:
        server.answer_with(answer)
        found = {name: _run_suite(name, python, answers, server.environment) for name, python in pythons.items()}
    if unknown:
        raise Failed(f"{len(unknown)} prompts are unknown, such as: {unknown[0]}")
    return found


def _run_suite(name: str, python: str, answers: Path, server: Mapping[str, str]) -> Any:
    with TemporaryDirectory() as folder:
        scores = Path(folder, "scores.json")
        command = [python, str(SUITES / f"agreement_on_{name}.py"), str(answers), str(scores)]
        env = environment({**server, **SILENT, "HOME": folder})
        done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failed(f"{name}: {done.stderr[-2000:]}")
        return json.loads(scores.read_text(encoding="utf-8"))


def print_table(comparisons: Sequence[Comparison]) -> None:
    """Print the comparisons as a Markdown table, then the answers that differ most."""
    print(
        "| scoregate | peer | answers | no score: scoregate, peer | same at 0.5 | mean difference | rank correlation |"
    )
    print("|---|---|--:|--:|--:|--:|--:|")
    for each in comparisons:
        print(each)
    for each in comparisons:
        print(f"\n{each.own}, {each.other}:")
        for line in each.largest or ["no differences"]:
            print(f"- {line}")


if __name__ == "__main__":
    main()
