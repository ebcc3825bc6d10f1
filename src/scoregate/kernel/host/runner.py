"""The runner of the host process: whether it is a CI job, whether it is scoregate's container, and its workspace."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from scoregate.kernel.types.records import record

_CONTAINER_MARK = "SCOREGATE_CONTAINER"
# Azure and Jenkins don't set `CI`.
_CI_MARKS = ("TF_BUILD", "JENKINS_URL")


def in_container(environ: Mapping[str, str]) -> bool:
    """Whether this is the host process of scoregate's image, with the right to become another user."""
    return environ.get(_CONTAINER_MARK) == "1" and os.geteuid() == 0


def in_ci(environ: Mapping[str, str]) -> bool:
    """Whether a CI job runs scoregate."""
    is_marked = environ.get("CI", "").lower() not in ("", "0", "false") or any(map(environ.get, _CI_MARKS))
    return is_marked or environ.get("GITHUB_ACTIONS") == "true"


def find_workspace(environ: Mapping[str, str]) -> Path:
    """The folder into which CI checked out the project; outside of CI the working directory."""
    return Path(environ.get("GITHUB_WORKSPACE") or Path.cwd())


@record
class CiJob:
    """The job of a CI other than GitHub's. What is unknown is empty.

    Args:
        branch: the branch whose change is measured.
        request: the number of the pull or merge request.
        request_branch: the branch that the request is merged into.
        url: the page of the job.
    """

    branch: str = ""
    request: str = ""
    request_branch: str = ""
    url: str = ""


@record
class _Variables:
    """The variables of one CI: the first one that is set counts. In jobs of requests, that of their branch is first."""

    branch: tuple[str, ...]
    request: tuple[str, ...]
    request_branch: tuple[str, ...]
    url: tuple[str, ...]


# By a variable that each of them sets in every job.
_VARIABLES: Mapping[str, _Variables] = {
    "GITLAB_CI": _Variables(
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_BRANCH"),
        ("CI_MERGE_REQUEST_IID",),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME",),
        ("CI_JOB_URL",),
    ),
    "BITBUCKET_BUILD_NUMBER": _Variables(
        ("BITBUCKET_BRANCH",), ("BITBUCKET_PR_ID",), ("BITBUCKET_PR_DESTINATION_BRANCH",), ()
    ),
    "TF_BUILD": _Variables(
        ("SYSTEM_PULLREQUEST_SOURCEBRANCH", "BUILD_SOURCEBRANCH"),
        # Of a repository on GitHub, the id is another number.
        ("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER", "SYSTEM_PULLREQUEST_PULLREQUESTID"),
        ("SYSTEM_PULLREQUEST_TARGETBRANCH",),
        (),
    ),
    "CIRCLECI": _Variables(("CIRCLE_BRANCH",), ("CIRCLE_PR_NUMBER", "CIRCLE_PULL_REQUEST"), (), ("CIRCLE_BUILD_URL",)),
    "BUILDKITE": _Variables(
        ("BUILDKITE_BRANCH",),
        ("BUILDKITE_PULL_REQUEST",),
        ("BUILDKITE_PULL_REQUEST_BASE_BRANCH",),
        ("BUILDKITE_BUILD_URL",),
    ),
    "JENKINS_URL": _Variables(
        ("CHANGE_BRANCH", "BRANCH_NAME", "GIT_BRANCH"), ("CHANGE_ID",), ("CHANGE_TARGET",), ("BUILD_URL",)
    ),
}
_PULL_REF = "refs/pull/"


def read_ci_job(environ: Mapping[str, str]) -> CiJob:
    """The branch and the request of a job of GitLab, Bitbucket, Azure, CircleCI, Buildkite or Jenkins."""
    variables = next((each for mark, each in _VARIABLES.items() if environ.get(mark)), None)
    if variables is None or environ.get("GITHUB_ACTIONS") == "true":
        return CiJob()

    def read(names: tuple[str, ...]) -> str:
        return next((value for name in names if (value := environ.get(name, "").strip())), "")

    # CircleCI has the address of the request, Buildkite `false` without one.
    number = read(variables.request).rstrip("/").rpartition("/")[2]
    url = read(variables.url)
    return CiJob(
        _strip_ref(read(variables.branch)),
        number if number.isascii() and number.isdecimal() else "",
        _strip_ref(read(variables.request_branch)),
        url if url.startswith(("https://", "http://")) else "",
    )


def _strip_ref(name: str) -> str:
    """The name of a branch, of a ref such as `refs/heads/main` or `origin/main`; empty for one of a pull request."""
    return "" if name.startswith(_PULL_REF) else name.removeprefix("refs/heads/").removeprefix("origin/")
