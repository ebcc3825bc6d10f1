"""The key of a provider in the container: a hostile suite behind the model gateway doesn't get it."""

from __future__ import annotations

import base64
import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.e2e.container.conftest import OWNER, Action, change_owner
from tests.features.gateway.conftest import completion
from tests.features.gateway.provider import Prepared, Provider, Received, open_provider
from tests.integration.host.conftest import Project, Ran, suite

HOSTILE = Path(__file__).parents[1] / "hostile"
KEY = f"{'sk-re'}al-0123456789abcdef01234567"
SSE = {"content-type": "text/event-stream"}
BUILD_SPY = """
import os, pathlib
from setuptools import setup
pathlib.Path({folder!r}, "build-saw").write_text(repr(dict(os.environ)))
setup(name="planted", version="1", py_modules=[])
"""


def answer(request: Received) -> Prepared:
    """Answer as the text of the request asks: with the key where a careless or hostile server may put it."""
    text = json.loads(request.body)["messages"][0]["content"] if request.body.startswith(b"{") else ""
    headers = json.dumps(request.headers).encode()
    if text.startswith("redirect ") or "redirect-" in request.path:
        port = request.path.rpartition("-")[2]
        return Prepared(status=307, headers={"location": text[9:] or f"http://127.0.0.1:{port}/"})
    pieces = [headers[index : index + 5] for index in range(0, len(headers), 5)]
    encoded = {"echo base64": base64.b64encode(headers), "echo hex": headers.hex().encode()}
    answers = {
        "echo header": Prepared(completion(), headers={"content-type": "application/json", "x-sent": headers.decode()}),
        "echo stream": Prepared(headers=SSE, parts=[b"data: ", *pieces, b"\n\ndata: [DONE]\n\n"]),
        "echo error": Prepared(json.dumps({"error": {"message": headers.decode()}}).encode(), 400),
        **{name: Prepared(json.dumps({"sent": data.decode()}).encode()) for name, data in encoded.items()},
    }
    return answers.get(text) or Prepared(json.dumps({"sent": headers.decode(), "raw": request.headers}).encode())


@pytest.fixture
def echo() -> Iterator[Provider]:
    with open_provider() as running:
        running.respond = answer
        yield running


@pytest.fixture
def hostile(project: Project) -> Project:
    project.write("evals/a_attacker.py", suite().replace("'demo'", "'attacker'"))
    with (project.root / "evals/a_attacker.py").open("a") as file:
        file.write((HOSTILE / "key_attacker.py").read_text())
    project.write("evals/b_later.py", suite((HOSTILE / "key_later.py").read_text()).replace("'demo'", "'later'"))
    shutil.copytree(HOSTILE, project.root / "hostile", ignore=shutil.ignore_patterns("__pycache__", "*.md"))
    project.write("planted/setup.py", BUILD_SPY.format(folder="/github/workspace"))
    project.write("requirements.txt", "./planted\n")
    project.write("tracked.txt", "before\n")
    project.write(".gitattributes", "*.txt filter=spy\n")
    project.commit()
    for kind in ("clean", "smudge"):  # as a suite could write into the repository's configuration
        project.git("config", f"filter.spy.{kind}", "sh -c 'env >> /github/workspace/git-saw; cat'")
    project.write("tracked.txt", "after\n")
    change_owner(project.root, OWNER)
    return project


@pytest.mark.usefixtures("github_runner")
def test_a_hostile_suite_does_not_get_the_key(action: Action, hostile: Project, echo: Provider) -> None:
    root = hostile.root
    inputs = {"gateway": "record", "cassettes": ".scoregate/cassettes", "max-suites": "1", "baseline": "rerun:HEAD"}
    result = action.run(root, inputs, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{echo.url}/v1", "A_COPY": KEY})
    log = [json.loads(line) for line in (root / "hostile-log.jsonl").read_text().splitlines()]
    attempts = sum((HOSTILE / name).read_text().count("\n@attempt(") for name in ("reading.py", "gateway.py"))
    outcome = Ran(result.exit_code, result.log, root / "scoregate-out")
    environments = {name: _read(root / f"{name}-saw") for name in ("build", "git")}
    (tape,) = (root / ".scoregate" / "cassettes").glob("*attacker*.gz")
    checks = {
        "every attempt was made": len(log) == attempts,
        "both suites were measured": {each["id"] for each in outcome.run["suites"]} == {"attacker", "later"},
        "the token ended": json.loads((root / "key-later.json").read_text()) == {"ended": 401, "own": 200},
        "the key was sent to the provider only": {
            each.headers["host"] for each in echo.received if KEY in str(each.headers)
        }
        == {urlsplit(echo.url).netloc},
        "builds and git ran": all("SCOREGATE" in text or "GITHUB" in text for text in environments.values()),
        "answers were recorded": "Bearer ***" in _read(tape),
        "no key in the log": KEY not in result.log + result.summary + str(result.outputs),
        "no key in any file": [path for path in root.rglob("*") if KEY in _read(path)] == [],
        "the report names it": "contained the key; it was replaced" in " ".join(outcome.run["notices"]),
        "no link was followed": not list((root / "elsewhere").iterdir()),
        "owner": {path.lstat().st_uid for path in root.rglob("*")} == {OWNER},
    }
    for name, held in checks.items():
        log.append({"goal": "seen from outside", "attempt": name, "outcome": "held" if held else "BROKEN"})
    for line in log:
        print(f"{line['goal']}: {line['attempt']}: {line['outcome']} ({line.get('seconds', 0)} s)")
    print(result.log[-6000:])
    assert [line for line in log if line["outcome"].startswith("BROKEN")] == []


def _read(path: Path) -> str:
    """The text of a file, decompressed; empty for what is none."""
    if path.is_symlink() or not path.is_file():
        return ""
    data = path.read_bytes()
    return (gzip.decompress(data) if path.name.endswith(".gz") else data).decode("utf-8", "replace")
