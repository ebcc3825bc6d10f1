"""Code judges brought into the store, a new version for code that changed; and versions brought to their code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from scoregate.errors import JudgmentConflictError, JudgmentValidationError
from scoregate.judges.checks import checked_judge, checked_name
from scoregate.judges.code import Judge
from scoregate.judges.settling import Settled, changed, settled
from scoregate.judges.targets import grading_of, instance, loaded, name_of, source_of, target_of
from scoregate.judges.version import JudgeVersion
from scoregate.store import JUDGES, Store, StoredJudge
from scoregate.store.judges import grading_of as fields_of


def registered(
    store: Store, given: Any, name: str | None = None, *, description: str = ""
) -> tuple[Settled, Judge[Any]]:
    """A code judge as it is in the store after this, and itself.

    Args:
        given: "module:Class", a class or an instance.

    Raises:
        JudgmentConflictError: the store has a prompt judge of this name.
        JudgmentValidationError: there is no such judge. StoreError: it could not be written.
    """
    judge = loaded(given) if isinstance(given, str) else instance(given)
    name = checked_name(name or name_of(judge))
    fields = fields_of(grading_of(judge, given if isinstance(given, str) else target_of(judge)))
    if settled(store, name) is None:
        _create(store, checked_judge(name=name, id=str(uuid4()), description=description, **fields))

    def change(found: Settled) -> StoredJudge:
        if found.judge.kind != "code":
            raise JudgmentConflictError(f"there is a prompt judge {name!r:.60} already", advice="Give it another name.")
        return checked_judge(found.judge, **fields, description=description or found.judge.description)

    found = settled(store, name)
    if found is None or change(found) != found.judge:
        found = changed(store, name, change)
    return found, judge


def _create(store: Store, judge: StoredJudge) -> None:
    """Unless somebody else has just done so."""
    store.update(JUDGES, (judge.name,), lambda present: list(present) or [judge])


def with_code(version: JudgeVersion, live: Mapping[str, Judge[Any]]) -> JudgeVersion:
    """The version, ready to score: of a code judge the code is loaded, of a prompt judge nothing is needed.

    Args:
        live: judges that this process was given, by name.

    Raises:
        JudgmentValidationError: there is no such code, or it is not that of this version any more.
    """
    if version.grading.kind != "code":
        return version
    judge = live.get(version.name) or loaded(version.grading.target or "")
    if version.grading.source not in (None, source_of(judge)):
        raise JudgmentValidationError(
            f"Judge {version.name!r:.60} {version.version} is code that has changed since",
            advice="Only its newest version can run: move the tag, or leave out the pin.",
        )
    return replace(version, code=judge)
