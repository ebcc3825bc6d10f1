"""The time to write report.html of many cases with a baseline, and to open it in headless Chromium."""

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from contenders import Load
from host import run_host, stored_run
from measure import Sample, interleaved, median, run
from peers import SUITES, home, tool
from rows import Row

LOADS = {Load(10_000): (2.0, 6.0), Load(100_000): (None, 5.0)}
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def _stored(load: Load) -> Path:
    out = home() / "runs" / str(load.cases)
    if not out.exists():
        run_host(SUITES / "on_scoregate.py", out, load)
    return stored_run(out)


def _written(load: Load) -> Sample:
    folder = str(_stored(load))
    command = [tool("scoregate", "scoregate"), "report", folder, "--baseline", folder, "--format", "html"]
    return run(command, env={})


def _opened(page: Path, chromium: str, load: Load) -> Sample:
    return run([tool("playwright"), str(SUITES / "open_page.py"), str(page), chromium, str(load.cases)], env={})


def measure(runs: int) -> Iterator[Row]:
    """Yield seconds of `scoregate report --format html`, its peak RSS, and seconds until the table can be used."""
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    for load, (first, write) in LOADS.items():
        name = f"page, {load.cases:,} cases"
        samples = interleaved({"write": partial(_written, load)}, runs)["write"]
        size = len(samples[0].printed.encode()) / 1e6
        yield Row(f"{name}, written", median(samples), "s", write, f"{size:.1f} MB; CPU {median(samples, 'cpu'):.1f} s")
        yield Row(f"{name}, written, peak RSS", max(sample.own_mb for sample in samples), "MB", 250)
        if chromium is not None:
            yield from _opening(name, samples[0].printed, load, chromium=chromium, first=first, runs=runs)


def _opening(name: str, text: str, load: Load, *, chromium: str, first: float | None, runs: int) -> Iterator[Row]:
    with TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(text, encoding="utf-8")
        samples = interleaved({"open": partial(_opened, page, chromium, load)}, runs)["open"]
    middle = sorted((sample.measured for sample in samples), key=lambda one: one["first_s"])[len(samples) // 2]
    note = f"all of them after {middle['all_s']:.2f} s, the longest frame of a scroll {middle['frame_ms']:.0f} ms"
    yield Row(f"{name}, opened", middle["first_s"], "s", first, note)
