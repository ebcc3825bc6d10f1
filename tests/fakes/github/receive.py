"""Takes over a real git repository, so that a checkout and the fake speak of the same commits."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.fakes.github.objects import DIRECTORY, Commit, Entry, Objects

TAKEN = ("refs/heads/", "refs/pull/")


def receive(objects: Objects, refs: dict[str, str], folder: Path) -> str:
    """Add a repository's objects, and its branches and pull requests' refs; return the commit that is checked out."""
    commits: dict[str, bytes] = {}
    for sha, kind, content in read(git(folder, "cat-file", "--batch-all-objects", "--batch")):
        if kind == "blob":
            objects.blobs[sha] = content
        elif kind == "tree":
            objects.trees[sha] = dict(entries(content))
        elif kind == "commit":
            commits[sha] = content
    lines = git(folder, "for-each-ref", "--format=%(refname) %(objectname) %(*objectname)").decode().splitlines()
    found = {name: (tagged or sha) for name, sha, tagged in (line.split(" ") for line in lines)}
    refs |= {name: sha for name, sha in found.items() if name.startswith(TAKEN)}
    head = (folder / ".git" / "HEAD").read_text(encoding="utf-8").strip()
    head = found[head.removeprefix("ref: ")] if head.startswith("ref: ") else head
    for sha in reachable(commits, [*found.values(), head]):
        objects.keep_commit(commit(sha, commits[sha].decode(errors="replace")))
    return head


def reachable(commits: Mapping[str, bytes], tips: Sequence[str]) -> Iterator[str]:
    """The commits from which tips are made, and the tips, parents first."""
    seen, rest = set[str](), [*tips]
    while rest:
        sha = rest[-1]
        parents = [] if sha in seen or sha not in commits else parents_of(commits[sha])
        if missing := [each for each in parents if each in commits and each not in seen]:
            rest += missing
            continue
        rest.pop()
        if sha in commits and sha not in seen:
            seen.add(sha)
            yield sha


def parents_of(content: bytes) -> list[str]:
    """The parents that a commit names."""
    head = content.partition(b"\n\n")[0].decode(errors="replace")
    return [line.removeprefix("parent ") for line in head.splitlines() if line.startswith("parent ")]


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
