"""Jobs of other CIs: a suite, and a server in place of each service that gets the report."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.docs.page import Block
from tests.docs.project import Project

SUITE = """\
from scoregate import evaluate

evaluate("hours", data=[{"input": "q"}], task=str, scorers=[lambda output: True])
"""
# A stand-in for GitHub's command line: it keeps its words, and needs the file of the report.
GH = '#!/bin/sh\nprintf "%s\\n" "$*" >>gh.log\nfor last; do :; done\ntest -s "$last"\n'
VARIABLES = {
    "EVALS_TOKEN": "token-1",
    "CI_PROJECT_ID": "7",
    "CI_MERGE_REQUEST_IID": "3",
    "BITBUCKET_REPO_FULL_NAME": "acme/bot",
    "BITBUCKET_PR_ID": "3",
    "SYSTEM_TEAMPROJECT": "bot",
    "BUILD_REPOSITORY_ID": "9",
    "SYSTEM_PULLREQUEST_PULLREQUESTID": "3",
    "CIRCLE_PULL_REQUEST": "https://github.com/acme/bot/pull/3",
    "BUILDKITE_PULL_REQUEST": "3",
    "CHANGE_URL": "https://github.com/acme/bot/pull/3",
}


def prepare(project: Project) -> None:
    project.environment |= VARIABLES
    program = project.folder.parent / f"{project.folder.name}-programs" / "gh"
    program.parent.mkdir()
    program.write_text(GH, encoding="utf-8")
    program.chmod(0o755)


def run_job(project: Project, block: Block) -> str:
    """The job without its installation."""
    project.write("evals/hours.py", SUITE)
    install, _, rest = block.text.partition("\n")
    assert install == "pip install 'scoregate[cli]'"
    outcome = project.run(["bash", "-ec", rest])
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "hours" in (project.folder / "comment.md").read_text(encoding="utf-8")
    return outcome.stdout


def post(project: Project, block: Block) -> str:
    """The report is posted with the token."""
    programs = project.folder.parent / f"{project.folder.name}-programs"
    with start_service() as (url, received):
        addresses = {"CI_API_V4_URL": f"{url}/api/v4", "SYSTEM_COLLECTIONURI": f"{url}/acme/"}
        exports = "".join(f"export {name}={value}\n" for name, value in addresses.items())
        text = block.text.replace("https://api.bitbucket.org", url)
        outcome = project.run(["bash", "-ec", f'{exports}PATH="{programs}:$PATH"\n{text}'])
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    if "gh pr comment" in text:
        calls = (project.folder / "gh.log").read_text(encoding="utf-8").splitlines()
        assert [each.endswith("--body-file comment.md") for each in calls] == [True] * 3
        return outcome.stdout
    ((path, authorization, body),) = received
    assert "token-1" in authorization
    assert "/3/" in path
    assert "scoregate" in body
    return outcome.stdout


@contextmanager
def start_service() -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """A service that takes everything; yields its address and what it received: path, token and body."""
    received: list[tuple[str, str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if self.headers["Content-Type"] == "application/json":
                body = json.dumps(json.loads(body))
            token = self.headers["Authorization"] or self.headers["PRIVATE-TOKEN"]
            received.append((self.path, token, body))
            self.send_response(201)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", received
        finally:
            server.shutdown()
            thread.join()
