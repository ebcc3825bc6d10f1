"""Check runs: made by apps, completed with a conclusion, annotated fifty at a time."""

from __future__ import annotations

from typing import Any

from tests.fakes.github import show
from tests.fakes.github.endpoints.find import commit_at
from tests.fakes.github.exchange import Answer, Call, Refused
from tests.fakes.github.model import CheckRun, Status, now, stamp
from tests.fakes.github.paging import counted, listed

MOST_ANNOTATIONS = 50
LONGEST_SUMMARY = 65_535
LONGEST_DESCRIPTION = 140
PLAIN = ("name", "status", "conclusion", "started_at", "completed_at", "details_url", "external_id")


def create_check_run(call: Call) -> Answer:
    if not call.token.is_installation:
        raise Refused(403, "You must authenticate via a GitHub App.")
    check(call)
    commit = commit_at(call.repo, call.body["head_sha"])
    made = CheckRun(call.github.next_id(), call.body["name"], commit.sha, call.token.app)
    fill(call, made)
    call.repo.check_runs[made.id] = made
    return Answer(shown(call, made), 201)


def get_check_run(call: Call) -> Answer:
    return Answer(shown(call, run_of(call)))


def update_check_run(call: Call) -> Answer:
    run = run_of(call)
    if run.app != call.token.app:
        only = "check run can only be modified by the GitHub App that created it."
        raise Refused(403, f"Invalid app_id `{show.app_id(call.token.app)}` - {only}")
    check(call)
    fill(call, run)
    return Answer(shown(call, run))


def list_check_runs(call: Call) -> Answer:
    sha = commit_at(call.repo, call.path["ref"]).sha
    found = [run for run in reversed(call.repo.check_runs.values()) if run.head_sha == sha]
    for name, of in (("check_name", "name"), ("status", "status")):
        found = [run for run in found if call.query.get(name) in (None, getattr(run, of))]
    if call.query.get("filter", "latest") == "latest":
        found = list({(run.name, run.app): run for run in reversed(found)}.values())[::-1]
    return counted(call, "check_runs", [shown(call, run) for run in found])


def list_annotations(call: Call) -> Answer:
    unset = {"start_column": None, "end_column": None, "title": None, "raw_details": None}
    blob = show.web_of(call.repo)
    return listed(call, [{**unset, "blob_href": blob, **annotation} for annotation in run_of(call).annotations])


def create_status(call: Call) -> Answer:
    """A status of a commit: the newest of each context counts."""
    body = call.body
    commit = commit_at(call.repo, call.path["sha"])
    if len(body.get("description") or "") > LONGEST_DESCRIPTION:
        raise Refused(422, "Validation Failed: description is too long (maximum is 140 characters)")
    context, login = body.get("context", "default"), call.token.login
    texts = (body["state"], context, body.get("description"), body.get("target_url"))
    made = Status(call.github.next_id(), commit.sha, *texts, login)
    call.repo.statuses.append(made)
    url = f"{show.api_of(call.repo)}/statuses/{commit.sha}"
    status_data = {"id": made.id, "node_id": show.node("SC", made.id), "url": url, "avatar_url": show.BEGINNING}
    status_data |= {name: getattr(made, name) for name in ("state", "context", "description", "target_url")}
    times = dict.fromkeys(("created_at", "updated_at"), stamp(now()))
    return Answer({**status_data, **times, "creator": show.user(call.github, login)}, 201)


def run_of(call: Call) -> CheckRun:
    run = call.repo.check_runs.get(int(call.path["check_run_id"]))
    if run is None:
        raise Refused(404, "Not Found")
    return run


def check(call: Call) -> None:
    output = call.body.get("output", {})
    if call.body.get("status") == "completed" and "conclusion" not in call.body:
        raise Refused(422, "Invalid request.\n\nMissing required parameter when status is completed: conclusion")
    if len(output.get("annotations", ())) > MOST_ANNOTATIONS:
        raise Refused(422, "Invalid request.\n\nNo more than 50 items are allowed; annotations.")
    for name in ("summary", "text"):
        if len(output.get(name) or "") > LONGEST_SUMMARY:
            raise Refused(422, f"Invalid request.\n\nOnly {LONGEST_SUMMARY} characters are allowed; {name}.")
    if len(output.get("summary", "").encode()) > LONGEST_SUMMARY:
        raise Refused(422, f"Summary exceeds a maximum bytesize of {LONGEST_SUMMARY}")


def fill(call: Call, run: CheckRun) -> None:
    """Take over what was sent: an output replaces the one before, but for its annotations, which are added."""
    for name in PLAIN:
        if name in call.body:
            setattr(run, name, call.body[name])
    if "conclusion" in call.body:
        run.status, run.completed_at = "completed", run.completed_at or stamp(now())
    if run.status != "queued":
        run.started_at = run.started_at or stamp(now())
    if "output" in call.body:
        run.annotations += call.body["output"].get("annotations", [])
        output = {key: value for key, value in call.body["output"].items() if key != "annotations"}
        run.output = {**output, "text": cut(output.get("text"))}


def cut(text: str | None) -> str | None:
    """GitHub cuts a text that has too many bytes without an error."""
    return text.encode()[:LONGEST_SUMMARY].decode(errors="ignore") if text else text


def shown(call: Call, run: CheckRun) -> dict[str, Any]:
    api, web = show.api_of(call.repo), show.web_of(call.repo)
    url = f"{api}/check-runs/{run.id}"
    output = {name: run.output.get(name) for name in ("title", "summary", "text")}
    counts = {"annotations_count": len(run.annotations), "annotations_url": f"{url}/annotations"}
    return {
        "id": run.id,
        "node_id": show.node("CR", run.id),
        **{name: getattr(run, name) for name in PLAIN},
        "head_sha": run.head_sha,
        "url": url,
        "html_url": f"{web}/runs/{run.id}",
        "details_url": run.details_url or f"{web}/runs/{run.id}",
        "output": {**output, **counts},
        "check_suite": {"id": int(run.head_sha[:8], 16)},
        "app": show.app(call.github, run.app),
        "pull_requests": [],
    }
