"""The entries in the files of a commit that is not checked out."""

from __future__ import annotations

from scoregate.features.exemptions.entries.files import ACCEPTED_FILE, QUARANTINE_FILE, ExemptionFiles, parse_files
from scoregate.kernel.job.commit_files import CommitFiles


async def read_commit_exemptions(files: CommitFiles, folder: str, *, where: str) -> ExemptionFiles:
    """The entries in the files of a commit.

    Args:
        files: the files of the commit.
        folder: the folder of the project within the repository.
        where: follows the names of the files in messages.

    Raises:
        GitError, GitHubRefused: a file can't be read.
        SettingsError: a file is not valid.
    """
    prefix = f"{folder}/" if folder else ""
    contents = [await files.read(f"{prefix}{name}") for name in (ACCEPTED_FILE, QUARANTINE_FILE)]
    return parse_files(*contents, where=where)
