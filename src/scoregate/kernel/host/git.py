"""Git: queries and a second work tree. The user's tree, index and hooks are never touched.

It runs with the rights of the repository's owner and without scoregate's secrets, because suites can write to its
configuration, and the configuration names programs that git starts.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread

from scoregate.errors import GitError
from scoregate.kernel.host.isolation.shared_tree import remove_tree
from scoregate.kernel.host.process import visible_environment
from scoregate.kernel.host.runner import in_container
from scoregate.kernel.host.secrets import secret_values
from scoregate.kernel.host.user_ids import new_identity, owner_rights
from scoregate.kernel.types.records import record

_SAFE = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "advice.detachedHead=false")
_QUIET = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_UNOWNED = "detected dubious ownership"
_REPAIR = "git worktree prune"
# Of the temporary folders of work trees: how their names begin, and the file in them that is locked.
_PREFIX, _LOCK = "scoregate-base-", "lock"
# Checkouts of CI are shallow.
FETCH_ADVICE = (
    "fetch the whole history, with the base's branch: `fetch-depth: 0` of actions/checkout, `GIT_DEPTH: 0` in GitLab, "
    "`clone: {depth: full}` in Bitbucket, `fetchDepth: 0` in Azure, elsewhere `git fetch --unshallow origin`"
)
# A run asks for it half a dozen times, and it doesn't change.
_top_levels: dict[Path, Path] = {}


async def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run git with the configuration of the repository, but not of another one that the environment points to."""
    command = ["git", *_SAFE, *words]
    try:
        done = await anyio.run_process(
            command, cwd=folder, env=_environment(), input=b"", check=False, **owner_rights(os.environ)
        )
    except FileNotFoundError:
        raise GitError("git is not installed, or not on PATH", advice="Install git.") from None
    if done.returncode and _UNOWNED in _error_output(done):
        raise GitError(
            f"git does not trust {folder}, because another user owns it",
            advice=f"Run: git config --global --add safe.directory {folder}",
        )
    return done


def _environment() -> dict[str, str]:
    """The visible environment without variables that point to another repository; `GIT_CONFIG_*` stay.

    In scoregate's container it has no secrets: a suite can write to the configuration of the repository, and so have
    git start a program of its own.
    """
    seen = visible_environment(os.environ)
    if in_container(os.environ):
        secrets = secret_values(os.environ)
        seen = {
            name: value
            for name, value in seen.items()
            if name.startswith("GIT_CONFIG_") or not any(secret in value for secret in secrets)
        }
    names = (name for name in seen if not name.startswith("GIT_") or name.startswith("GIT_CONFIG_"))
    return {name: seen[name] for name in names} | _QUIET


def _error_output(done: subprocess.CompletedProcess[bytes]) -> str:
    return done.stderr.decode("utf-8", "replace").strip()


async def _first_line(folder: Path, *words: str) -> str | None:
    """The first line of the output; None if git fails or prints nothing."""
    done = await _git(folder, *words)
    return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n") or None if not done.returncode else None


async def top_level(folder: Path) -> Path | None:
    """The root of the work tree that contains a folder; None outside a repository, or if git is not installed.

    Raises:
        GitError: the repository belongs to another user.
    """
    if folder not in _top_levels and shutil.which("git") is not None:
        if (path := await _first_line(folder, "rev-parse", "--show-toplevel")) is None:
            return None
        _top_levels[folder] = _top_levels[Path(path)] = Path(path)
    return _top_levels.get(folder)


async def head_commit(root: Path) -> str | None:
    """The full hash of HEAD; None outside a repository or before the first commit."""
    return await resolve_commit(root, "HEAD")


async def resolve_commit(root: Path, ref: str) -> str | None:
    """The full hash of the commit that a name refers to; None if there is none."""
    return await _first_line(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")


async def branch(root: Path) -> str | None:
    """The branch that is checked out; None if HEAD is detached, and outside a repository."""
    return await _first_line(root, "symbolic-ref", "--quiet", "--short", "HEAD")


@record
class WorkTree:
    """What is checked out.

    Args:
        commit: the full hash of HEAD; None before the first commit.
        branch: the branch; None if HEAD is detached.
        dirty: whether tracked files differ from HEAD.
        changed: the same, also if only untracked files in a submodule differ.
        untracked: the files that are neither tracked nor ignored, relative to the top level.
    """

    commit: str | None
    branch: str | None
    dirty: bool
    changed: bool
    untracked: tuple[str, ...]


_OID, _HEAD, _UNTRACKED = b"# branch.oid ", b"# branch.head ", b"? "
_UNBORN, _DETACHED, _RENAMED = b"(initial)", b"(detached)", b"2"
_UNTRACKED_IN_SUBMODULE = [b".M", b"S..U"]


async def read_work_tree(root: Path) -> WorkTree | None:
    """What is checked out, from one call of git; None outside a repository, or if git is not installed.

    Raises:
        GitError: the repository belongs to another user.
    """
    if shutil.which("git") is None:
        return None
    options = ("--porcelain=v2", "--branch", "--no-ahead-behind", "--untracked-files=all", "-z")
    done = await _git(root, "status", *options)
    return None if done.returncode else _parse_status(done.stdout)


def _parse_status(output: bytes) -> WorkTree:
    commit = branch = None
    dirty = changed = False
    untracked = []
    entries = iter(output.split(b"\0"))
    for entry in filter(None, entries):
        if entry.startswith(_OID):
            oid = entry.removeprefix(_OID)
            commit = None if oid == _UNBORN else oid.decode()
        elif entry.startswith(_HEAD):
            name = entry.removeprefix(_HEAD)
            branch = None if name == _DETACHED else os.fsdecode(name)
        elif entry.startswith(_UNTRACKED):
            untracked.append(os.fsdecode(entry.removeprefix(_UNTRACKED)))
        elif not entry.startswith(b"#"):
            kind, *state = entry.split(b" ", 3)[:3]
            changed = True
            dirty = dirty or state != _UNTRACKED_IN_SUBMODULE
            if kind == _RENAMED:
                next(entries, None)  # the old name
    return WorkTree(commit, branch, dirty, changed, tuple(untracked))


async def read_output(folder: Path, *words: str) -> bytes | None:
    """What a command of git prints; None if it fails."""
    done = await _git(folder, *words)
    return None if done.returncode else done.stdout


async def user_name(root: Path) -> str | None:
    """The user name in git's configuration; None without one."""
    return await _first_line(root, "config", "--get", "user.name") if shutil.which("git") else None


async def is_dirty(root: Path) -> bool:
    """Whether tracked files differ from HEAD."""
    return await _first_line(root, "status", "--porcelain", "--untracked-files=no") is not None


async def has_stored_token(root: Path) -> bool:
    """Whether git's configuration holds a token, as actions/checkout stores it, where suites can read it."""
    return await _first_line(root, "config", "--get-regexp", r"^http\..*\.extraheader$") is not None


_ORIGIN_HEAD = "refs/remotes/origin/HEAD"
_USUAL_BRANCHES = ("origin/main", "origin/master", "main", "master")
_REF_FOLDERS = ("refs/tags", "refs/heads", "refs/remotes")


async def default_branch(root: Path, named: str | None = None) -> str | None:
    """The branch that changes are merged into, as a name that git knows, such as `origin/main`; None if there is none.

    Args:
        root: the repository.
        named: the branch's short name, if the user set it.
    """
    if named:
        for name in (f"origin/{named}", named):
            if await resolve_commit(root, name):
                return name
        return None
    patterns = [f"{folder}/{name}" for name in _USUAL_BRANCHES for folder in _REF_FOLDERS]
    done = await _git(root, "for-each-ref", "--format=%(refname) %(symref)", _ORIGIN_HEAD, *patterns)
    refs = dict(line.split(" ", 1) for line in os.fsdecode(done.stdout).splitlines())
    if head := refs.get(_ORIGIN_HEAD, "").removeprefix("refs/remotes/"):
        return head
    return next((name for name in _USUAL_BRANCHES if any(f"{folder}/{name}" in refs for folder in _REF_FOLDERS)), None)


async def list_ancestors(root: Path, most: int) -> tuple[str, ...]:
    """The commit that is checked out and those before it, the newest first; none outside a repository."""
    done = await _git(root, "rev-list", f"--max-count={most}", "HEAD")
    return tuple(done.stdout.decode("ascii", "replace").split()) if done.returncode == 0 else ()


async def origin_url(root: Path) -> str | None:
    """The URL of the remote `origin`, which may hold a password; None without one."""
    return await _first_line(root, "config", "--get", "remote.origin.url")


async def merge_base(root: Path, one: str, other: str) -> str | None:
    """The newest common ancestor of two commits; None if they have none, as in a shallow clone."""
    return await _first_line(root, "merge-base", one, other)


async def list_files(root: Path) -> tuple[str, ...] | None:
    """Every file that is tracked or not ignored, relative to the root, sorted; None outside a repository."""
    if shutil.which("git") is None:
        return None
    done = await _git(root, "ls-files", "-co", "--exclude-standard", "-z")
    if done.returncode:
        return None
    return tuple(sorted({os.fsdecode(name) for name in done.stdout.split(b"\0") if name}))


async def find_files_with(root: Path, words: Iterable[str], pattern: str) -> frozenset[str] | None:
    """The files that are tracked or not ignored and contain one of some words, relative to the root.

    Args:
        root: a folder in the repository.
        words: the words, as they are.
        pattern: a pattern of git for the files, such as `*.py`.

    Returns:
        None outside of a repository.
    """
    if shutil.which("git") is None:
        return None
    options = ("-l", "-z", "-I", "-F", "--untracked", "--no-full-name", "--no-recurse-submodules", "--no-color")
    words = [part for word in words for part in ("-e", word)]
    done = await _git(root, "grep", *options, *words, "--", pattern)
    if done.returncode > 1:  # 1: there is no such file
        return None
    return frozenset(os.fsdecode(name) for name in done.stdout.split(b"\0") if name)


async def list_commit_files(root: Path, commit: str, *paths: str) -> tuple[str, ...] | None:
    """The files of a commit, relative to the top level, or only those at some paths; None without the commit."""
    done = await _git(root, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, "--", *paths)
    return None if done.returncode else tuple(os.fsdecode(name) for name in done.stdout.split(b"\0") if name)


async def read_file(root: Path, commit: str, path: str) -> bytes | None:
    """The content of a file in a commit; None if git can't read it."""
    done = await _git(root, "cat-file", "blob", f"{commit}:{path}")
    return None if done.returncode else done.stdout


async def parents(root: Path, commit: str) -> tuple[str, ...]:
    """The parents of a commit, also those that a shallow clone does not have."""
    done = await _git(root, "cat-file", "commit", commit)
    head, _, _ = done.stdout.partition(b"\n\n")
    return tuple(line[7:].decode() for line in head.split(b"\n") if line.startswith(b"parent "))


async def list_changed_files(root: Path, commit: str | None) -> tuple[str, ...]:
    """The tracked files that differ from a commit; none if that is unknown."""
    if commit is None:
        return ()
    done = await _git(root, "diff", "--name-only", "-z", "--no-ext-diff", commit)
    return () if done.returncode else tuple(os.fsdecode(name) for name in done.stdout.split(b"\0") if name)


async def list_differing_files(top: Path, commit: str) -> list[str] | None:
    """The tracked files that differ from a commit, those that were renamed by both names; None if git can't list them.

    Args:
        top: the top of the repository.
        commit: the commit, in a form that git knows.
    """
    output = await read_output(top, "diff", "--name-only", "--no-renames", "-z", commit, "--")
    return None if output is None else [os.fsdecode(each) for each in output.split(b"\0") if each]


@asynccontextmanager
async def open_worktree(root: Path, commit: str) -> AsyncIterator[Path]:
    """A detached work tree of a commit in a temporary folder, which is always removed afterwards.

    If this process is killed, the next one that opens a work tree of the repository removes it.

    Raises:
        GitError: git could not create it.
    """
    await _remove_abandoned_trees(root)
    home = _temporary_folder()
    lock = _lock(home)
    try:
        # A git process that is killed halfway leaves a work tree in the repository that git can't read.
        with anyio.CancelScope(shield=True):
            done = await _git(root, "worktree", "add", "--quiet", "--detach", str(home / "tree"), commit)
        if done.returncode:
            raise GitError(f"git could not check out {commit}: {_error_output(done)}", advice=f"Try: {_REPAIR}")
        yield home / "tree"
    finally:
        with anyio.CancelScope(shield=True):
            done = await _git(root, "worktree", "remove", "--force", "--force", str(home / "tree"))
            await anyio.to_thread.run_sync(_remove_folder, home)
            if done.returncode:
                await _git(root, "worktree", "prune")
        os.close(lock)


async def _remove_abandoned_trees(root: Path) -> None:
    """Remove the work trees of processes that were killed: nothing holds their locks."""
    listed = await read_output(root, "worktree", "list", "--porcelain") or b""
    paths = [Path(os.fsdecode(line[9:])) for line in listed.split(b"\n") if line.startswith(b"worktree ")]
    for tree in paths:
        if tree.parent.name.startswith(_PREFIX) and (lock := _take_lock(tree.parent)) is not None:
            with contextlib.suppress(OSError):
                await _git(root, "worktree", "remove", "--force", "--force", str(tree))
                await anyio.to_thread.run_sync(_remove_folder, tree.parent)
            os.close(lock)


def _lock(home: Path) -> int:
    """A handle that locks a temporary folder until it is closed, also by the end of this process."""
    handle = os.open(home / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def _take_lock(home: Path) -> int | None:
    """The same for the folder of another process; None if it holds the lock."""
    try:
        handle = os.open(home / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _temporary_folder() -> Path:
    home = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
    if (identity := new_identity(os.environ)) is not None:
        if identity.owns:
            identity.share(home)
        else:
            home.chmod(0o755)
    return home


def _remove_folder(folder: Path) -> None:
    """Delete a folder, also folders in it that a suite made read-only.

    Users other than root have to change the modes first. Root doesn't have to, and must not follow links.
    """
    for path, names, _ in os.walk(folder) if os.geteuid() else ():
        for inner in (Path(path, name) for name in names):
            if not inner.is_symlink():
                inner.chmod(0o700)
    remove_tree(folder)
