"""The label that approves entries which a pull request adds, verified through GitHub's API.

The approved entries are those in the files of the commit that was the head of the branch when the label was set.
"""

from __future__ import annotations

from scoregate.errors import GitHubRefused, SettingsError
from scoregate.features.exemptions.entries.commits import read_commit_exemptions
from scoregate.features.exemptions.entries.files import ExemptionFiles
from scoregate.kernel.job.commit_files import GitHubFiles
from scoregate.kernel.job.github.context import Connection, PullRequest
from scoregate.kernel.job.github.labels import LabelRefused, find_labelled_head, verify_label
from scoregate.kernel.types.records import record

LABEL = "scoregate: accept"


@record
class Approval:
    """The entries that the label approves; without any, why.

    Args:
        files: the entries.
        why: why none is approved; empty if the label counts.
    """

    files: ExemptionFiles = ExemptionFiles()
    why: str = ""


async def find_approved_files(connection: Connection, request: PullRequest, folder: str) -> Approval:
    """Find the entries that the label on a pull request approves.

    Args:
        connection: the connection to GitHub.
        request: the pull request.
        folder: the folder of the project within the repository.
    """
    needed = f"it needs the label `{LABEL}`, set by someone with write access"
    if connection.api is None:
        return Approval(why=f"{needed}, and without a token no label can be verified")
    if request.is_fork_of(connection.github.repository):
        return Approval(why="in a pull request of a fork no label can approve it; add it on the base branch")
    try:
        label = await verify_label(connection.api, request.number, LABEL, missing=needed)
        head = await find_labelled_head(connection.api, request.number, LABEL, label.time)
        return Approval(
            await read_commit_exemptions(GitHubFiles(connection.api, head), folder, where=f" of {head[:7]}")
        )
    except LabelRefused as refused:
        return Approval(why=str(refused))
    except GitHubRefused as error:
        return Approval(why=f"the label can't be verified: {error.message}")
    except SettingsError as error:
        return Approval(why=f"the file was not valid when the label was set: {error.message.partition(chr(10))[0]}")
