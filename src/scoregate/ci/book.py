"""The book that Autoblocks' suites ask: the base run's outputs, else the project's store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path

from scoregate.ci.identity import in_container
from scoregate.core.champions import CHAMPIONS_VARIABLE, read_champions, ring
from scoregate.core.override import EvaluationOverride
from scoregate.store import Store, Throne, open_store, recent_overrides

# Autoblocks kept one champion for all evaluators of a case; in the store it stands under this name.
EVALUATOR = "autoblocks"


class ProjectBook:
    """What is known to one launch, as it was when it was first asked for; a `scoregate.ci.listen.Book`.

    Args:
        store: the project's. base: the file of the base run's outputs; where there is one, the store's champions are
            neither asked nor changed. keeps: what is written into the store stays there, and is the user's own.
    """

    def __init__(self, store: Store, base: Path | None, *, keeps: bool) -> None:
        self._store, self._base, self._keeps = store, base, keeps
        self._throne = cache(lambda suite: Throne(store, ring(suite, None), EVALUATOR))

    @cached_property
    def _outputs(self) -> Mapping[tuple[str, str], object]:
        if self._base is None:
            return {}
        with self._base.open("rb") as lines:
            return read_champions(lines)

    def champion(self, suite: str, case: str) -> str | None:
        """As `Book.champion`."""
        if self._base is None:
            return self._throne(suite).champions.get(case)
        known = self._outputs.get((ring(suite, None), case))
        return known if isinstance(known, str) else None

    def crown(self, suite: str, case: str, output: str) -> None:
        """As `Book.crown`."""
        if self._base is None and self._keeps:
            self._throne(suite).crown(case, output)

    def overrides(self, evaluator: str, count: int) -> Sequence[EvaluationOverride]:
        """As `Book.overrides`."""
        return recent_overrides(self._store, evaluator, count)


def open_book(root: Path, environ: Mapping[str, str], told: Mapping[str, str]) -> ProjectBook:
    """The book of one launch; nothing is read or written yet.

    Args:
        root: the project. environ: the host's environment. told: what the launch is given besides.
    """
    base = told.get(CHAMPIONS_VARIABLE)
    # In our container we are root, who must not leave files in the user's workspace.
    return ProjectBook(open_store(root), Path(base) if base else None, keeps=not in_container(environ))
