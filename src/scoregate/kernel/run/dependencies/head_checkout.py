"""The checkout of a change while its base runs on the same machine: the base must not read the change's files.

Variables that hold the path of the checkout lead to the base's work tree instead. The files that processes of the base
open are recorded. The results of a script don't count if it opened a file of the change.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path, PurePosixPath

from scoregate.errors import GitError
from scoregate.kernel.host.user_ids import Identity
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.dependencies.file_uses import list_opened
from scoregate.kernel.run.dependencies.project import find_folder, read_project_tree
from scoregate.kernel.run.dependencies.recording import UseRecorder, follow_children
from scoregate.kernel.run.plan import Launch
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.text import replace_surrogates

OPENED_CHANGE = "OpenedChange"
_ADVICE = (
    "Build paths from `__file__` or from the working directory. If both sides may share the file, let git ignore it."
)
_MOST_NAMES = 3
_REST = r"(?P<rest>/[^\s:;,'\"]*)?"


async def open_head_checkout(root: Path, settings: Settings) -> HeadCheckout:
    """The checkout of a project, with its files now.

    Args:
        root: the project in the checkout.
        settings: the settings of the project.

    Raises:
        GitError: git can't list the files.
    """
    tree = await read_project_tree(root, settings)
    if tree is None:
        raise GitError(
            f"the base can't be run: git can't list the files of {root}, which the base must not read",
            advice="Finish a merge that is in progress.",
        )
    return HeadCheckout(UseRecorder(tree, find_folder(root, tree)))


@dataclass
class HeadCheckout:
    """The checkout of a change.

    Args:
        recorder: records which of its files the base's processes use.
    """

    recorder: UseRecorder

    @cached_property
    def _tracked(self) -> set[str]:
        """The tracked files and their folders."""
        tracked = set(self.recorder.tree.tracked)
        return tracked | {str(folder) for path in tracked for folder in PurePosixPath(path).parents}

    def make_mover(self, base: Path, environ: Mapping[str, str]) -> Callable[[str], str]:
        """What replaces paths of the checkout in a text by those of the base's work tree.

        A path stays if it only exists here and git doesn't track it, such as a virtual environment.

        Args:
            base: the root of the project in the base's work tree.
            environ: variables, some of which may spell the checkout with links.
        """
        for _ in PurePosixPath(self.recorder.folder).parts:
            base = base.parent
        # The longest first, as one place may be the start of another.
        places = sorted({str(self.recorder.tree.top), *self._list_spellings(environ)}, key=len, reverse=True)
        pattern = re.compile(rf"(?<![\w.~-])(?:{'|'.join(map(re.escape, places))}){_REST}(?![\w.-])")
        return partial(pattern.sub, partial(self._move_path, base))

    def _move_path(self, base: Path, match: re.Match[str]) -> str:
        rest = match["rest"] or ""
        path = os.path.normpath(rest.lstrip("/") or ".")
        stays = path.split("/")[0] == ".." or self.recorder.tree.is_left_out(path) or self._is_shared(path, base)
        return match[0] if stays else f"{base}{rest}"

    def _is_shared(self, path: str, base: Path) -> bool:
        """Whether only the checkout has a path, untracked; that of a new file is in such a folder."""
        top = self.recorder.tree.top
        while not os.path.lexists(top / path) and not os.path.lexists(base / path):
            path = os.path.dirname(path) or "."  # noqa: PTH120 - it is relative to two folders
        return path not in self._tracked and not os.path.lexists(base / path)

    def _list_spellings(self, environ: Mapping[str, str]) -> Iterator[str]:
        """The other paths of the checkout in variables, through links."""
        top = str(self.recorder.tree.top)
        words = {word for value in environ.values() for word in value.split(os.pathsep) if word.startswith("/")}
        for word in words:
            for path in (Path(word), *Path(word).parents):
                if len(path.parts) > 1 and os.path.realpath(path) == top:
                    yield str(path)

    def open_log(
        self, launch: Launch, environment: Mapping[str, str], folder: Path, identity: Identity | None
    ) -> dict[str, str]:
        """Create the log of a script, and the module that writes it; see `UseRecorder`."""
        return follow_children(self.recorder.open_log(launch, environment, folder, identity))

    def add_boot(self, argv: Sequence[str]) -> tuple[str, ...]:
        """The arguments of Python that record an isolated process too."""
        return self.recorder.add_boot(argv)

    def close_log(self, launch: Launch, folder: Path) -> ErrorInfo | None:
        """Why the results of a script that ended don't count; None if it opened no file of the change."""
        tree = self.recorder.tree
        opened = [replace_surrogates(path) for path in list_opened(folder, tree)]
        if not opened:
            return None
        more = len(opened) - _MOST_NAMES
        names = ", ".join(opened[:_MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")
        where = f"in {tree.top}, the checkout of the change"
        message = f"{launch.name} ran at the base's commit, and opened {names} {where}"
        return ErrorInfo(OPENED_CHANGE, message, advice=_ADVICE)
