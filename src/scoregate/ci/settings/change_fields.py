"""Settings of runs on changes: what runs on a pull request or push, and which earlier runs it is compared with."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from scoregate.ci.settings.fields import ProjectGlobs, Rate, as_tuple, refuse_bool


class AlertKind(StrEnum):
    """Where a run of the base branch reports scores that got worse: an issue, Slack, or any other webhook."""

    ISSUE = "issue"
    SLACK = "slack"
    WEBHOOK = "webhook"


_APPROVED = re.compile(r"[1-9][0-9]{0,9}@[0-9a-f]{40}")


def _check_approved(value: str) -> str:
    if not _APPROVED.fullmatch(value):
        raise ValueError("must be the number of a pull request and a whole SHA, such as 7@" + "0a" * 20)
    return value


ApprovedText: TypeAlias = Annotated[str, AfterValidator(_check_approved)]
AlertKinds = Annotated[tuple[AlertKind, ...], BeforeValidator(as_tuple)]
BaseRuns = Annotated[int, BeforeValidator(refuse_bool), Field(ge=1, le=20)]


class ChangeFields(BaseModel):
    """What runs on a change, and what the base branch is watched for."""

    model_config = ConfigDict(defer_build=True)

    affected: bool = False
    """On a pull request, run only suites that the change can affect. The others keep the results of the base's run,
    which recorded what they depend on because it has this setting too. In doubt a suite runs.
    """
    affected_push: bool = False
    """With `affected`, a push to the base branch also runs only suites that changed since its last complete run."""
    annotate_unread: ProjectGlobs = ()
    """With `affected`: globs of files, such as `prompts/**`, that get a note if they change and no suite reads them."""
    coverage_tools: ProjectGlobs = ()
    """Lists of the tools of your agent. Reports show which tools, arguments and values of enumerations no case uses.
    Each is a JSON or YAML file (the result of an MCP server's `tools/list`, tools as providers take them, or OpenAPI),
    a Python file with decorated functions, or a list in one, such as `agent/tools.py:TOOLS`. None of these runs code.
    Or it is an MCP server, which is asked for its list after the run: `mcp:` and a command, or an address.
    """
    coverage_prompts: ProjectGlobs = ()
    """With `affected`: globs of files, such as `prompts/**`. Reports show which of them no suite reads."""
    annotate_coverage: bool = False
    """Whether tools and prompts that no case uses get a note where they are defined."""
    approved: ApprovedText | None = None
    """The pull request and the commit that `scoregate answer` approved, as `NUMBER@SHA`. The run measures exactly this
    commit, as the pull request's newest one. A settings file can't set it.
    """
    allow_skip: bool = False
    """Whether the label `scoregate: skip` lets a pull request pass without a run. Without it, such a pull request is
    unmeasurable. On a pull request, only the base's file or the workflow can set it.
    """
    drift_control: Rate = 0.0
    """Ask this share of the base's cases again, at the base's commit, to measure how far the providers of models moved
    since the base was measured: `0.1` asks a random tenth. Changes of scores are corrected by it if it has enough
    cases, usually about 250 for each evaluator. `0` asks none.
    """
    alert: AlertKinds = ()
    """Where runs of the base branch report what got worse, once a second measurement confirms it: `issue`, `slack` (to
    the address in `SCOREGATE_SLACK_WEBHOOK`), `webhook` (as JSON, to that in `SCOREGATE_ALERT_WEBHOOK`).
    """
    base_runs: BaseRuns = 5
    """How many of the newest runs of the base branch a score is compared with. Runs of other commits count if the
    records of `affected` prove that nothing which the suite depends on changed. 1: only runs of the base's commit.
    """
    otlp_receiver: bool = False
    """Receive spans that suites in any language send over OTLP: `OTEL_EXPORTER_OTLP_ENDPOINT` is set for them. Spans
    whose attribute `scoregate.case` names a case become its trajectory. An endpoint of your own gets no spans then, but
    still metrics and logs.
    """
