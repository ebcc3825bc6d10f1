"""A foreign SDK in little: a script that speaks the local protocol of Autoblocks' command line with urllib."""

from __future__ import annotations

from tests.integration.host.conftest import Project

CLIENT = '''
import json
import os
import urllib.error
import urllib.request

ADDRESS = os.environ["AUTOBLOCKS_CLI_SERVER_ADDRESS"]
WANTED = json.loads(os.environ.get("AUTOBLOCKS_OVERRIDES_TESTS_AND_HASHES") or "{}")


def post(path, body):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(ADDRESS + path, data, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


class Suite:
    def __init__(self, id, **start):
        self.id = id
        self.run = post("/start", {"testExternalId": id, **start})["id"]

    def say(self, path, **body):
        return post(path, {"testExternalId": self.id, "runId": self.run, **body})

    def case(self, case, score=1, gte=0.5):
        result = {"testCaseBody": {"input": case}, "testCaseOutput": f"said {case}", "testCaseDurationMs": 1.5}
        self.say("/results", testCaseHash=case, **result)
        self.score(case, score, gte)

    def score(self, case, score, gte=0.5):
        self.say("/evals", testCaseHash=case, evaluatorExternalId="is-good", score=score, threshold={"gte": gte})

    def error(self, case=None, evaluator=None, name="ValueError", message="it broke"):
        error = {"name": name, "message": message, "stacktrace": "somewhere"}
        self.say("/errors", testCaseHash=case, evaluatorExternalId=evaluator, error=error)

    def end(self):
        self.say("/end")


def suite(id="theirs", good=3, bad=0, score=0):
    """A whole suite, of which only those cases are run that are asked for."""
    if WANTED and id not in WANTED:
        return
    names = [*(f"good {i}" for i in range(good)), *(f"bad {i}" for i in range(bad))]
    running = Suite(id)
    for name in names:
        if not WANTED.get(id) or name in WANTED[id]:
            running.case(name, 1 if name.startswith("good") else score)
    running.end()
'''


def foreign(project: Project, body: str) -> None:
    """Write `run.py`, which is run by `exec -- python run.py`."""
    project.write("client.py", CLIENT)
    project.write("run.py", f"from client import Suite, post, suite\n{body}\n")
