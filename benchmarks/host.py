"""The host: `scoregate run` on a suite, and what it stored counted."""

import gzip
import shutil
from pathlib import Path
from xml.etree.ElementTree import iterparse

from contenders import Load, check_scored
from measure import Failed, Sample, run
from peers import tool

REPORT = "junit.xml"


def stored_run(out: Path) -> Path:
    """Return the folder of the one run that is stored in `out`."""
    found = [path.parent for path in out.rglob("run.json")]
    if len(found) != 1:
        raise Failed(f"{len(found)} stored runs in {out}, not one")
    return found[0]


def _check_stored(out: Path, load: Load) -> None:
    with gzip.open(stored_run(out) / "cases.jsonl.gz", "rt") as lines:
        scored = sum(line.count('"score":') for line in lines)
    check_scored("scoregate run", scored, load)


def check_junit(xml: Path, load: Load) -> None:
    """Raise unless a JUnit file holds every case with its scores; the gate's own test cases are not counted."""
    names = (element.get("name", "") for _, element in iterparse(xml) if element.tag == "property")
    check_scored(str(xml), sum(name.startswith("score.") for name in names), load)


def run_host(suite: Path, out: Path, load: Load) -> Sample:
    """Run one suite file through `scoregate run` without a baseline, its record and reports in `out`; all scored."""
    shutil.rmtree(out, ignore_errors=True)
    command = [tool("scoregate", "scoregate"), "run", str(suite), "--out", str(out), "--baseline", "none"]
    sample = run(command, env=load.env, cwd=suite.parent)
    _check_stored(out, load)
    check_junit(out / REPORT, load)
    return sample
