"""The first hour with each framework, in one table: lines, processor time, and what is reported about five mistakes.

    python benchmarks/first_hour.py

Lines and processor time are those of the examples in `docs/migrate/lines_of_code.md`. The mistakes are in
`first_hour_mistakes.py`: mypy and pyright check each suite, then it runs. A mistake counts as explained if the output
has an error and names what is wrong. Examples that ask a model ask a server on this machine. The frameworks run in a
network namespace that has loopback alone.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from first_hour_mistakes import BRAINTRUST, DEEPEVAL, MISTAKES, NAMED, PYDANTIC_EVALS, SCOREGATE, Snippets
from isolation import SILENT, name_network, restart_isolated
from measure import Sample, environment, interleaved, median, run
from peers import REPOSITORY, tool, version

sys.path.append(str(REPOSITORY))
from tests.docs.page import read_blocks
from tests.docs.test_lines_of_code import PAGE, PAIRS, count_lines, format_source
from tests.fakes.openai import OpenAIServer

PYRIGHT = REPOSITORY / "tests" / "node_modules" / "pyright" / "index.js"
SUBJECT = "scoregate"
PEERS = {"pydantic-evals": PYDANTIC_EVALS, "braintrust-autoevals": BRAINTRUST, "deepeval": DEEPEVAL}
# Without an account its example can't send its results anywhere.
UNSENT = ('    "Autoevals",\n', '    "Autoevals",\n    no_send_logs=True,\n')
# Later ones win. GEval asks for steps, and then for a score, in prompts alone.
ANSWERS = {
    r".": {"choice": "C", "reasons": "It is so."},
    r"(?i)evaluation steps": {"steps": ["Compare both texts."], "reason": "It is so.", "score": 10},
}


@dataclass(frozen=True)
class Example:
    """An example of the page: its lines as written and formatted alike, and the processor seconds of its runs."""

    written: int
    formatted: int
    cpu_s: float


def main() -> None:
    """Measure in a namespace without a network, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="runs of each example; default: 5")
    parser.add_argument("--messages", action="store_true", help="print what each framework says about each mistake")
    parser.add_argument("--isolated", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    pythons = {SUBJECT: sys.executable, **{peer: tool(peer) for peer in PEERS}}  # made while there is a network
    if not arguments.isolated:
        restart_isolated(__file__, sys.argv[1:])
    print(f"Network of the frameworks: {name_network()}; {arguments.runs} runs\n")
    with OpenAIServer.start() as server:
        for pattern, reply in ANSWERS.items():
            server.answers(pattern, reply)
        env = {**server.environment, **SILENT}
        print_examples(pythons, env, arguments.runs)
        print_mistakes(pythons, env, messages=arguments.messages)


def print_examples(pythons: Mapping[str, str], env: Mapping[str, str], runs: int) -> None:
    """Print the lines and the processor time of each pair of the page."""
    print("| Example | Lines: framework | scoregate | Formatted alike | scoregate | CPU | scoregate |")
    print("|:--|--:|--:|--:|--:|--:|--:|")
    sources = {block.path: block.content for block in read_blocks(PAGE)}
    for peer, (example, suite) in zip(PEERS, PAIRS, strict=True):
        first, second = measure_pair(peer, pythons, (sources[example], sources[suite]), env, runs)
        cells = (first.written, second.written, first.formatted, second.formatted)
        times = f"{first.cpu_s:.2f} s | {second.cpu_s:.2f} s"
        print(f"| {peer} {version(peer)} | {' | '.join(map(str, cells))} | {times} |", flush=True)


def measure_pair(
    peer: str, pythons: Mapping[str, str], sources: tuple[str, str], env: Mapping[str, str], runs: int
) -> tuple[Example, Example]:
    """Run an example and the same suite of scoregate in turns."""
    with TemporaryDirectory() as folder:
        example, suite = Path(folder, "test_example.py"), Path(folder, "evals", "eval_example.py")
        suite.parent.mkdir()
        example.write_text(sources[0].replace(*UNSENT), encoding="utf-8")
        suite.write_text(sources[1], encoding="utf-8")
        own_env = {**env, "HOME": folder}

        def run_framework() -> Sample:
            pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider"] if "assert_test" in sources[0] else []
            return run([pythons[peer], *pytest, str(example)], env=own_env, cwd=Path(folder))

        def run_scoregate() -> Sample:
            command = [pythons[SUBJECT], "-m", "scoregate", "run", str(suite), "--baseline", "none"]
            return run(command, env=own_env, cwd=Path(folder))

        contenders = {"framework": run_framework, SUBJECT: run_scoregate}
        interleaved(contenders, 1)
        samples = interleaved(contenders, runs)
    lines = [(count_lines(each), count_lines(format_source(each))) for each in sources]
    first, second = (Example(*each, median(samples[name], "cpu")) for each, name in zip(lines, contenders, strict=True))
    return first, second


def print_mistakes(pythons: Mapping[str, str], env: Mapping[str, str], *, messages: bool) -> None:
    """Print how many mistakes type checkers find, and how many are explained at run time."""
    print("\n| Framework | mypy | pyright | at run time | missed by mypy; pyright; run |")
    print("|:--|--:|--:|--:|:--|")
    said = []
    for name, snippets in {SUBJECT: SCOREGATE, **PEERS}.items():
        with TemporaryDirectory() as folder:
            write_snippets(snippets, Path(folder))
            outputs = [run_wrong(name, pythons[name], Path(folder), number, env) for number in range(len(MISTAKES))]
            found = (
                find_with_mypy(pythons[name], Path(folder)),
                find_with_pyright(pythons[name], Path(folder)),
                [explains(output, named) for output, named in zip(outputs, NAMED, strict=True)],
            )
        said += [f"{name}, {mistake}: {output[-600:]}" for mistake, output in zip(MISTAKES, outputs, strict=True)]
        missed = "; ".join(
            ", ".join(str(number) for number, is_found in enumerate(each, 1) if not is_found) or "none"
            for each in found
        )
        print(f"| {name} | {' | '.join(f'{sum(each)} of {len(each)}' for each in found)} | {missed} |", flush=True)
    print("\n" + "; ".join(f"{number}: {mistake}" for number, mistake in enumerate(MISTAKES, 1)))
    if messages:
        print("\n".join(said))


def write_snippets(snippets: Snippets, folder: Path) -> None:
    """Write a file for each mistake, and one without any."""
    for number, suite in enumerate((snippets.right, *snippets.wrong)):
        (folder / f"eval_{number}.py").write_text(f"{snippets.prelude}{suite}\n", encoding="utf-8")


def find_with_mypy(python: str, folder: Path) -> list[bool]:
    """Return for each mistake whether mypy finds an error in its file that the right suite lacks."""
    options = ("--python-executable", python, "--cache-dir", str(folder / "cache"), "--no-error-summary")
    command = [sys.executable, "-m", "mypy", *options, *sorted(map(str, folder.glob("eval_*.py")))]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return _compare_files(re.findall(r"eval_(\d)\.py:\d+: error: (.*)", done.stdout))


def find_with_pyright(python: str, folder: Path) -> list[bool]:
    """Return for each mistake whether pyright finds an error in its file that the right suite lacks."""
    command = ["node", str(PYRIGHT), "--pythonpath", python, "--outputjson", str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    found = [each for each in json.loads(done.stdout)["generalDiagnostics"] if each["severity"] == "error"]
    return _compare_files([(Path(each["file"]).stem.removeprefix("eval_"), each["message"]) for each in found])


def _compare_files(errors: list[tuple[str, str]]) -> list[bool]:
    usual = {message for number, message in errors if number == "0"}
    return [
        any(int(number) == mistake and message not in usual for number, message in errors)
        for mistake in range(1, len(MISTAKES) + 1)
    ]


def run_wrong(name: str, python: str, folder: Path, number: int, env: Mapping[str, str]) -> str:
    """Run the suite with a mistake, and return what it prints."""
    file = f"eval_{number + 1}.py"
    command = ["-m", "scoregate", "run", file, "--baseline", "none"] if name == SUBJECT else [file]
    done = subprocess.run(
        [python, *command],
        cwd=folder,
        env=environment({**env, "HOME": str(folder)}),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def explains(output: str, named: Sequence[str]) -> bool:
    """Return whether an output has an error that names what is wrong."""
    return "error" in output.lower() and all(re.search(each, output) for each in named)


if __name__ == "__main__":
    main()
