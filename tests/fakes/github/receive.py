"""Takes over a real git repository, so that a checkout and the fake speak of the same commits."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from tests.fakes.github.objects import DIRECTORY, Commit, Entry, Objects

TAKEN = ("refs/heads/", "refs/pull/")


def receive(objects: Objects, refs: dict[str, str], folder: Path) -> None:
    """Add a repository's objects, and its branches and pull requests' refs."""
    commits: dict[str, bytes] = {}
    for sha, kind, content in read(git(folder, "cat-file", "--batch-all-objects", "--batch")):
        if kind == "blob":
            objects.blobs[sha] = content
        elif kind == "tree":
            objects.trees[sha] = dict(entries(content))
        elif kind == "commit":
            commits[sha] = content
    for sha in git(folder, "rev-list", "--topo-order", "--reverse", "--all", "HEAD").decode().split():
        objects.keep_commit(commit(sha, commits[sha].decode(errors="replace")))
    lines = git(folder, "for-each-ref", "--format=%(refname) %(objectname)").decode().splitlines()
    refs |= {name: sha for name, sha in (line.split(" ") for line in lines) if name.startswith(TAKEN)}


def git(folder: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True).stdout


def read(stream: bytes) -> Iterator[tuple[str, str, bytes]]:
    """The objects that `git cat-file --batch` wrote."""
    at = 0
    while at < len(stream):
        head = stream.index(b"\n", at)
        sha, kind, size = stream[at:head].decode().split()
        at = head + 1 + int(size)
        yield sha, kind, stream[head + 1 : at]
        at += 1


def entries(tree: bytes) -> Iterator[tuple[str, Entry]]:
    at = 0
    while at < len(tree):
        end = tree.index(b"\0", at)
        mode, name = tree[at:end].decode().split(" ", 1)
        yield name, Entry(DIRECTORY if mode.lstrip("0") == DIRECTORY else mode, tree[end + 1 : end + 21].hex())
        at = end + 21


def commit(sha: str, text: str) -> Commit:
    head, _, message = text.partition("\n\n")
    lines = [line.partition(" ")[::2] for line in head.splitlines()]
    fields = dict(lines)
    parents = tuple(value for key, value in lines if key == "parent")
    name, _, rest = fields["author"].rpartition(" <")
    email, _, _ = rest.partition("> ")
    date = datetime.fromtimestamp(int(fields["committer"].split()[-2]), UTC)
    return Commit(sha, fields["tree"], parents, message.rstrip("\n"), date, 0, name, email)
