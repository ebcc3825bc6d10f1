"""Git objects under their true names: what the fake's repositories are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha1
from typing import NamedTuple

DIRECTORY = "40000"


class Entry(NamedTuple):
    """One line of a tree: a file's mode and the name of its content."""

    mode: str
    sha: str


@dataclass(frozen=True)
class Commit:
    """One commit; `generation` is its distance from the roots, larger than any of its ancestors'."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    message: str
    date: datetime
    generation: int
    author: str = "octocat"
    email: str = "octocat@github.example"


def name_of(kind: str, content: bytes) -> str:
    """The name git gives to an object."""
    return sha1(f"{kind} {len(content)}\0".encode() + content).hexdigest()


@dataclass
class Objects:
    """The objects of a repository and of all its forks, as GitHub keeps them."""

    blobs: dict[str, bytes] = field(default_factory=dict)
    trees: dict[str, dict[str, Entry]] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)

    def add_blob(self, content: bytes) -> str:
        sha = name_of("blob", content)
        self.blobs[sha] = content
        return sha

    def add_tree(self, files: Mapping[str, Entry]) -> str:
        """The tree of these files, by their whole paths; its subtrees are added with it."""
        children: dict[str, Entry] = {path: entry for path, entry in files.items() if "/" not in path}
        folders: dict[str, dict[str, Entry]] = {}
        for path, entry in files.items():
            folder, slash, rest = path.partition("/")
            if slash:
                folders.setdefault(folder, {})[rest] = entry
        children |= {folder: Entry(DIRECTORY, self.add_tree(inside)) for folder, inside in folders.items()}
        return self.keep_tree(children)

    def keep_tree(self, children: Mapping[str, Entry]) -> str:
        """One level of a tree, in git's order: folders sort as if a slash followed their name."""
        ordered = dict(sorted(children.items(), key=lambda item: item[0] + "/" * (item[1].mode == DIRECTORY)))
        lines = (f"{mode} {name}\0".encode() + bytes.fromhex(sha) for name, (mode, sha) in ordered.items())
        sha = name_of("tree", b"".join(lines))
        self.trees[sha] = ordered
        return sha

    def files(self, tree: str, prefix: str = "") -> dict[str, Entry]:
        """The files under a tree by their whole paths."""
        found: dict[str, Entry] = {}
        for name, entry in self.trees[tree].items():
            path = prefix + name
            found |= self.files(entry.sha, f"{path}/") if entry.mode == DIRECTORY else {path: entry}
        return found

    def add_commit(
        self,
        tree: str,
        parents: Sequence[str],
        *,
        message: str,
        date: datetime,
        author: str = "octocat",
        email: str = "",
    ) -> str:
        date = date.astimezone(UTC).replace(microsecond=0)
        email = email or f"{author}@github.example"
        person = f"{author} <{email}> {int(date.timestamp())} +0000"
        head = [f"tree {tree}", *(f"parent {sha}" for sha in parents), f"author {person}", f"committer {person}"]
        sha = name_of("commit", "\n".join([*head, "", message]).encode())
        return self.keep_commit(Commit(sha, tree, tuple(parents), message, date, 0, author, email))

    def keep_commit(self, commit: Commit) -> str:
        """Keep a commit whose parents are here; in a shallow clone some are not."""
        known = [self.commits[sha].generation for sha in commit.parents if sha in self.commits]
        self.commits[commit.sha] = Commit(**{**commit.__dict__, "generation": 1 + max(known, default=0)})
        return commit.sha
