"""The branch and the request of jobs of other CIs, by the variables that their documentation lists."""

from __future__ import annotations

import pytest

from scoregate.kernel.host.runner import CiJob, in_ci, read_ci_job

GITLAB = {"GITLAB_CI": "true", "CI_JOB_URL": "https://gitlab.example.com/a/b/-/jobs/7"}
BITBUCKET = {"BITBUCKET_BUILD_NUMBER": "7", "BITBUCKET_BRANCH": "fix/hours"}
AZURE = {"TF_BUILD": "True"}
CIRCLE = {"CIRCLECI": "true", "CIRCLE_BUILD_URL": "https://circleci.com/gh/a/b/7"}
BUILDKITE = {
    "BUILDKITE": "true",
    "BUILDKITE_BRANCH": "fix",
    "BUILDKITE_BUILD_URL": "https://buildkite.com/a/b/builds/7",
}
JENKINS = {"JENKINS_URL": "https://ci.example.com/", "BUILD_URL": "https://ci.example.com/job/a/7/"}


@pytest.mark.parametrize(
    ("environ", "job"),
    [
        (
            GITLAB
            | {
                "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "fix",
                "CI_MERGE_REQUEST_IID": "12",
                "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
                "CI_COMMIT_REF_NAME": "fix",
            },
            CiJob("fix", "12", "main", GITLAB["CI_JOB_URL"]),
        ),
        (GITLAB | {"CI_COMMIT_BRANCH": "main"}, CiJob("main", url=GITLAB["CI_JOB_URL"])),
        (
            BITBUCKET | {"BITBUCKET_PR_ID": "12", "BITBUCKET_PR_DESTINATION_BRANCH": "main"},
            CiJob("fix/hours", "12", "main"),
        ),
        (BITBUCKET, CiJob("fix/hours")),
        (
            AZURE
            | {
                "BUILD_SOURCEBRANCH": "refs/pull/99/merge",
                "SYSTEM_PULLREQUEST_SOURCEBRANCH": "refs/heads/fix/hours",
                "SYSTEM_PULLREQUEST_TARGETBRANCH": "refs/heads/main",
                "SYSTEM_PULLREQUEST_PULLREQUESTID": "99",
            },
            CiJob("fix/hours", "99", "main"),
        ),
        (
            # A repository on GitHub: the id is Azure's own.
            AZURE
            | {
                "BUILD_SOURCEBRANCH": "refs/pull/12/merge",
                "SYSTEM_PULLREQUEST_PULLREQUESTID": "2345678901",
                "SYSTEM_PULLREQUEST_PULLREQUESTNUMBER": "12",
                "SYSTEM_PULLREQUEST_TARGETBRANCH": "main",
            },
            CiJob("", "12", "main"),
        ),
        (AZURE | {"BUILD_SOURCEBRANCH": "refs/heads/main"}, CiJob("main")),
        (
            CIRCLE | {"CIRCLE_BRANCH": "fix", "CIRCLE_PULL_REQUEST": "https://github.com/a/b/pull/12"},
            CiJob("fix", "12", url=CIRCLE["CIRCLE_BUILD_URL"]),
        ),
        (
            CIRCLE | {"CIRCLE_BRANCH": "pull/12", "CIRCLE_PR_NUMBER": "12"},
            CiJob("pull/12", "12", url=CIRCLE["CIRCLE_BUILD_URL"]),
        ),
        (
            BUILDKITE | {"BUILDKITE_PULL_REQUEST": "12", "BUILDKITE_PULL_REQUEST_BASE_BRANCH": "main"},
            CiJob("fix", "12", "main", BUILDKITE["BUILDKITE_BUILD_URL"]),
        ),
        (
            BUILDKITE | {"BUILDKITE_PULL_REQUEST": "false", "BUILDKITE_PULL_REQUEST_BASE_BRANCH": ""},
            CiJob("fix", url=BUILDKITE["BUILDKITE_BUILD_URL"]),
        ),
        (
            JENKINS | {"CHANGE_BRANCH": "fix", "BRANCH_NAME": "PR-12", "CHANGE_ID": "12", "CHANGE_TARGET": "main"},
            CiJob("fix", "12", "main", JENKINS["BUILD_URL"]),
        ),
        (JENKINS | {"GIT_BRANCH": "origin/main"}, CiJob("main", url=JENKINS["BUILD_URL"])),
    ],
)
def test_jobs_name_their_branch_and_request(environ: dict[str, str], job: CiJob) -> None:
    assert read_ci_job(environ) == job


@pytest.mark.parametrize(
    "environ", [{}, {"BRANCH_NAME": "x", "CI_COMMIT_BRANCH": "y"}, GITLAB | {"GITHUB_ACTIONS": "true"}]
)
def test_elsewhere_variables_of_these_names_mean_nothing(environ: dict[str, str]) -> None:
    assert read_ci_job(environ) == CiJob()


def test_values_that_are_no_numbers_and_addresses_are_ignored() -> None:
    job = read_ci_job({"JENKINS_URL": "x", "CHANGE_ID": "12; rm", "BUILD_URL": "javascript:alert(1)"})
    assert job == CiJob()


@pytest.mark.parametrize("environ", [AZURE, JENKINS, {"CI": "true"}])
def test_each_of_them_is_ci(environ: dict[str, str]) -> None:
    assert in_ci(environ)
