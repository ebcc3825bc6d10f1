"""Who asks and judges with models: scoregate, its peers and a bare loop, all on the same fake of OpenAI's protocol."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import Failed, Sample, run
from peers import REPOSITORY, SUITES, node_tool, tool

sys.path.append(str(SUITES))
from models_load import CRITERIA, MODEL, question

CONCURRENCY = 50
CALLS_A_CASE = 2
# Judges that ask for no schema are answered in the words that their prompts ask for.
ANSWERS = {
    r"GRADE: \$LETTER": "It is so.\n\nGRADE: C",
    r"an integer between 0 and 10": {"reason": "It is so.", "score": 10},
    r"<Rubric>": {"reason": "It is so.", "pass": True, "score": 1.0},
}
# Its log files too: they are at times closed before they are written, and it crashes once it is done.
_PROMPTFOO_OFF = ("TELEMETRY", "UPDATE", "REMOTE_GENERATION", "DEBUG_LOG", "ERROR_LOG")


@contextmanager
def server(*options: str, latency_s: float) -> Iterator[str]:
    """Start the fake as a process and yield its address."""
    with TemporaryDirectory() as folder:
        answers = Path(folder, "answers.json")
        answers.write_text(json.dumps(ANSWERS))
        fake = [tool("scoregate"), "-m", "tests.fakes.openai"]  # whose packages it needs
        command = [*fake, "--latency", str(latency_s), "--answers", str(answers)]
        with subprocess.Popen([*command, *options], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield process.stdout.readline().strip()
            finally:
                process.terminate()


def asked(address: str) -> int:
    """Return how many requests came since the last look."""
    log = urllib.request.Request(address.removesuffix("/v1") + "/fake/requests", method="DELETE")
    with urllib.request.urlopen(log) as reply:
        return len(json.load(reply))


def expect(address: str, calls: int, who: str) -> None:
    """Raise unless so many requests came since the last look."""
    if (found := asked(address)) != calls:
        raise Failed(f"{who} asked the server {found} times, not {calls}")


def _environment(address: str) -> dict[str, str]:
    return {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none"}


def suite(peer: str, name: str, address: str, *, cases: int, cache: str = "off") -> Sample:
    """Run the suite of this name in a peer's environment."""
    load = {"BENCH_CASES": str(cases), "BENCH_CONCURRENCY": str(CONCURRENCY), "SCOREGATE_CACHE": cache}
    quiet = {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_FILE_SYSTEM": "READ_ONLY"}
    sample = run([tool(peer), str(SUITES / f"models_on_{name}.py")], env={**_environment(address), **load, **quiet})
    if sample.measured["scored"] != cases:
        raise Failed(f"{name} scored {sample.measured['scored']} of {cases} cases")
    return sample


def promptfoo(address: str, *, cases: int) -> Sample:
    """Run it on promptfoo, with its llm-rubric; cache, table, logs and telemetry off, results written to a file."""
    with TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "config.json").write_text(json.dumps(_promptfoo_config(cases)))
        switches = {f"PROMPTFOO_DISABLE_{name}": "1" for name in _PROMPTFOO_OFF}
        command = [node_tool("promptfoo"), "eval", "-c", "config.json", "-o", "out.json", "-j", str(CONCURRENCY)]
        flags = ["--no-cache", "--no-table", "--no-progress-bar", "--no-write"]
        env = {**_environment(address), **switches, "PROMPTFOO_CONFIG_DIR": folder}
        sample = run([*command, *flags], env=env, cwd=home)
        stats = json.loads((home / "out.json").read_text())["results"]["stats"]
    if stats["successes"] != cases:
        raise Failed(f"promptfoo passed {stats['successes']} of {cases} cases")
    return replace(sample, printed=json.dumps({"seconds": stats["durationMs"] / 1000, "scored": cases}))


def _promptfoo_config(cases: int) -> dict[str, object]:
    provider = {"id": f"openai:chat:{MODEL}", "config": {"temperature": 0}}
    return {
        "prompts": ["{{question}}"],
        "providers": [provider],
        "defaultTest": {"assert": [{"type": "llm-rubric", "provider": provider, "value": CRITERIA}]},
        "tests": [{"vars": {"question": question(number)}} for number in range(cases)],
    }


Contender = Callable[..., Sample]
CONTENDERS: dict[str, Contender] = {
    "asyncio": partial(suite, "scoregate-models", "asyncio"),
    "scoregate": partial(suite, "scoregate-models", "scoregate"),
    "pydantic-evals": partial(suite, "pydantic-evals-models", "pydantic_evals"),
    "deepeval": partial(suite, "deepeval", "deepeval"),
    "promptfoo": promptfoo,
    "inspect-ai": partial(suite, "inspect-ai", "inspect"),
}
