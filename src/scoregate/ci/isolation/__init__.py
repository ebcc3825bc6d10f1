"""Keep the processes of suites apart: an account for each, a workspace that they share, files that none may touch."""

from scoregate.ci.isolation.command_files import CommandFiles
from scoregate.ci.isolation.folder_copy import FolderCopy
from scoregate.ci.isolation.out_folder import OutFolder
from scoregate.ci.isolation.processes import kill_account, kill_accounts
from scoregate.ci.isolation.shared_tree import release
from scoregate.ci.isolation.trees import remove_tree
from scoregate.ci.isolation.workspace import separate_accounts

__all__ = [
    "CommandFiles",
    "FolderCopy",
    "OutFolder",
    "kill_account",
    "kill_accounts",
    "release",
    "remove_tree",
    "separate_accounts",
]
