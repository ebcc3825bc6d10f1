"""The start-up cost of import, command and a small suite, compared with pydantic, click and pytest."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from contenders import Load
from host import run_host
from measure import Failed, Sample, interleaved, median, run
from peers import SUITES, home, tool
from rows import Row

REPEAT = 5
SMALL = Load(20)


def _python(peer: str, statement: str) -> Callable[[], Sample]:
    return partial(run, [tool(peer), "-c", statement], env={})


def _pytest() -> Sample:
    with TemporaryDirectory() as folder:
        (Path(folder) / "test_cases.py").write_text((SUITES / "pytest_cases.py").read_text())
        sample = run([tool("pytest", "pytest"), "-q"], env=SMALL.env, cwd=Path(folder))
    if f"{SMALL.cases} passed" not in sample.printed:
        raise Failed(f"pytest did not pass {SMALL.cases} cases:\n{sample.printed}")
    return sample


def _row(name: str, ours: Callable[[], Sample], peer: Callable[[], Sample], target: float, runs: int) -> Row:
    interleaved({"ours": ours, "peer": peer}, 1)
    samples = interleaved({"ours": ours, "peer": peer}, runs * REPEAT)
    first, second = median(samples["ours"]), median(samples["peer"])
    cpu = [median(samples[each], "cpu") for each in ("ours", "peer")]
    note = f"{first * 1000:.0f} ms, {second * 1000:.0f} ms; CPU {cpu[0] * 1000:.0f} ms, {cpu[1] * 1000:.0f} ms"
    return Row(f"start, {name}", first / second, "x", target, note)


def measure(runs: int) -> Iterator[Row]:
    """Yield three ratios of wall times, of five times as many runs as asked: these are short."""
    testing = _python("scoregate", "import scoregate.testing")
    model = _python("pydantic", "from pydantic import BaseModel")
    yield _row("import scoregate.testing, of pydantic's BaseModel", testing, model, 1.3, runs)
    version = partial(run, [tool("scoregate", "scoregate"), "--version"], env={})
    yield _row("scoregate --version, of import click", version, _python("click", "import click"), 1.1, runs)
    suite = partial(run_host, SUITES / "on_scoregate.py", home() / "runs" / str(SMALL.cases), SMALL)
    yield _row("scoregate run on 20 cases, of pytest", suite, _pytest, 2, runs)
