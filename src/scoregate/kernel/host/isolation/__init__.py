"""Keep the processes of suites apart: an account for each, a workspace that they share, files that none may touch."""

from scoregate.kernel.host.isolation.command_files import CommandFiles
from scoregate.kernel.host.isolation.folder_copy import FolderCopy
from scoregate.kernel.host.isolation.out_folder import OutFolder
from scoregate.kernel.host.isolation.processes import kill_account, kill_accounts
from scoregate.kernel.host.isolation.shared_tree import release
from scoregate.kernel.host.isolation.trees import remove_tree
from scoregate.kernel.host.isolation.workspace import separate_accounts

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
