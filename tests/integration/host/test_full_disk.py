"""A disk that is full, and reports that cannot be written: what is there is whole and of this run, and named."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.integration.host.conftest import Project, Ran, clean_environment, suite

from scoregate.kernel.job.reports import REPORTS

RUN = ("run", "--baseline", "none")
FILES = {name for name, _ in REPORTS.values()}
# Outputs that gzip cannot shorten, so that reports take much more space than the record.
LONG = "import random\n\ndef says(case):\n    return random.Random(case.input).randbytes({size}).hex()\n"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Makes a file system of so many kilobytes at a folder."""
    mounted: list[Path] = []

    def mount(kilobytes: int) -> Path:
        folder = tmp_path / f"disk-{len(mounted)}"
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode:
            pytest.skip(f"no file system can be mounted here: {process.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", str(folder)], check=True)


def run(project: Project, *arguments: str, **environment: str) -> Ran:
    """Run in a process of its own, which leaves no file open on the disk."""
    return project.finish(project.start(*RUN, *arguments, **environment))


def check_reports(out: Path, output: str, title: str) -> set[str]:
    """Every file is whole and of the run of that title, and exactly what is there is named."""
    there = {path.name for path in out.iterdir() if path.name in FILES}
    assert not list(out.glob(".*.partial"))
    if "junit.xml" in there:
        assert ET.parse(out / "junit.xml").getroot().tag == "testsuites"
    if "result.json" in there:
        assert json.loads((out / "result.json").read_text())["run"]["message"] == title
    if "comment.md" in there:
        assert title in (out / "comment.md").read_text()
    if "report.html" in there:
        assert (out / "report.html").read_text().rstrip().endswith("</html>")
    last = " ".join(output[output.rindex("Reports:") :].split())
    named, _, missing = last.partition("Not written:")
    assert {name for name in FILES if name in named} == there
    assert {name for name in FILES if name in missing} == FILES - there
    return there


@pytest.mark.parametrize("kilobytes", [500, 900, 1_400, 2_700])
def test_a_full_disk_leaves_no_partial_or_old_report(
    project: Project, small_disk: Callable[[int], Path], kilobytes: int
) -> None:
    out = small_disk(kilobytes)
    project.write("evals/demo.py", suite(LONG.format(size=2_000), fn="says", good=3))
    first = run(project, "--out", str(out), "-m", "the first run")
    assert first.exit_code == 1, first.output
    assert check_reports(out, first.output, "the first run") == FILES
    project.write("evals/demo.py", suite(LONG.format(size=6_000), fn="says", good=40))
    second = run(project, "--out", str(out), "-m", "the second run")
    assert second.exit_code == 1, second.output
    there = check_reports(out, second.output, "the second run")
    if there != FILES:
        assert "No space left on device" in " ".join(second.output.split())
    assert kilobytes > 1_000 or there != FILES


def test_a_failed_report_keeps_the_others(project: Project) -> None:
    """Here files may have 120 kB, and the page has more."""
    project.write("evals/demo.py", suite(LONG.format(size=1_000), fn="says", good=20))
    process = subprocess.run(
        [sys.executable, "-m", "scoregate", *RUN, "-m", "the run"],
        cwd=project.root,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, 120_000)),
    )
    assert process.returncode == 1, process.stdout
    out = project.root / "scoregate-out"
    assert check_reports(out, process.stdout, "the run") == FILES - {"report.html"}
    assert "report.html: File too large" in " ".join(process.stdout.split())


def test_a_full_disk_of_temporary_files_is_named(project: Project, small_disk: Callable[[int], Path]) -> None:
    project.write("evals/demo.py", suite(LONG.format(size=6_000), fn="says", good=40))
    folder = small_disk(100)
    outcome = run(project, TMPDIR=str(folder))
    assert outcome.exit_code == 2, outcome.output
    text = " ".join(outcome.output.split())
    assert (
        f"error: the disk of {folder} is full, so the results of evals/demo.py are incomplete Free some space" in text
    )
    assert "DiskFull: the results of demo can't be written to" in text


@pytest.mark.parametrize("streams", [{"stdout"}, {"stdout", "stderr"}])
@pytest.mark.parametrize("arguments", [("list",), (*RUN, "--json"), (*RUN, "--quiet")], ids=" ".join)
def test_an_output_on_a_full_disk_is_no_internal_error(
    project: Project, streams: set[str], arguments: tuple[str, ...]
) -> None:
    project.write("evals/demo.py", suite(good=3))
    command = [sys.executable, "-m", "scoregate", *arguments]
    with Path("/dev/full").open("w") as full:
        outputs = {name: full if name in streams else subprocess.PIPE for name in ("stdout", "stderr")}
        environment = clean_environment()
        end = subprocess.run(command, cwd=project.root, env=environment, text=True, check=False, **outputs)
    assert end.returncode == 2, end.stderr
    if "stderr" not in streams:
        assert "error: the disk is full, so the output can't be written\nFree some space" in end.stderr
        assert "Traceback" not in end.stderr


@pytest.mark.parametrize("ci", ["", "true"])
def test_earlier_reports_are_removed_if_a_run_cannot_be_recorded(
    project: Project, small_disk: Callable[[int], Path], ci: str
) -> None:
    out = small_disk(600)
    project.write("evals/demo.py", suite(good=3))
    assert run(project, "--out", str(out)).exit_code == 0
    project.write("evals/demo.py", suite(LONG.format(size=20_000), fn="says", good=40))
    outcome = run(project, "--out", str(out), CI=ci)
    assert outcome.exit_code in (2, 3), outcome.output
    assert "No space left on device" in " ".join(outcome.output.split())
    # On one's own machine the page stays with its run, which is still there.
    assert {path.name for path in out.iterdir()} & FILES == (set() if ci else {"report.html"})
