"""How long the JUnit report of a stored run of 100,000 cases takes, whole process, and how large it is."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from contenders import Load
from host import check_junit, run_host, stored_run
from measure import interleaved, median, run
from peers import SUITES, home, tool
from rows import Row

LOAD = Load(100_000)


def _stored() -> Path:
    out = home() / "runs" / str(LOAD.cases)
    if not out.exists():
        run_host(SUITES / "on_scoregate.py", out, LOAD)
    return stored_run(out)


def _check(xml: str) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "junit.xml"
        file.write_text(xml)
        check_junit(file, LOAD)


def measure(runs: int) -> Iterator[Row]:
    """Yield the seconds of `scoregate report --format junit`, and its peak RSS."""
    folder = _stored()
    command = [tool("scoregate", "scoregate"), "report", str(folder), "--format", "junit"]
    samples = interleaved({"report": partial(run, command, env={})}, runs)["report"]
    _check(samples[0].printed)
    yield Row(
        "junit, 100,000 cases",
        median(samples),
        "s",
        1.5,
        f"CPU {median(samples, 'cpu'):.2f} s; {len(samples[0].printed) / 1e6:.1f} MB of XML",
    )
    yield Row("junit, 100,000 cases, peak RSS", max(sample.own_mb for sample in samples), "MB")
