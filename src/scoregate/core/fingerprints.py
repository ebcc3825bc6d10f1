"""Whether two scores came from the same evaluator, and if not, what about it changed."""

from __future__ import annotations

from dataclasses import replace

from scoregate.core.parts import EvaluatorInfo, Fingerprint

_WORDS = {"source": "its code", "prompt": "its prompt", "parameters": "its parameters"}


def what_changed(new: EvaluatorInfo, old: EvaluatorInfo) -> str:
    """In words; empty where nothing changed, or where neither side has a fingerprint.

    Another version says it all; one that differs in nothing but its number gives the same scores. A fingerprint that
    one side alone has is a change, as it can't be checked that the evaluator is the same.
    """
    if new.higher_is_better != old.higher_is_better:
        return "its direction changed (higher_is_better)"
    mine, theirs = new.fingerprint or Fingerprint(), old.fingerprint or Fingerprint()
    if (mine == Fingerprint()) != (theirs == Fingerprint()):
        known, unknown = ("now", "in the base") if theirs == Fingerprint() else ("in the base", "now")
        return f"its fingerprint is known {known}, unknown {unknown}"
    if mine.version and theirs.version and mine.version != theirs.version and not _alike(mine, theirs):
        return f"judge {new.id} {theirs.version} -> {mine.version}"
    if mine.model and theirs.model and mine.model != theirs.model:
        return f"its model changed: {theirs.model} → {mine.model}"
    differ = [words for part, words in _WORDS.items() if _differ(getattr(mine, part), getattr(theirs, part))]
    return f"{' and '.join(differ)} changed" if differ else ""


def _alike(one: Fingerprint, other: Fingerprint) -> bool:
    known = one.source is not None or one.prompt is not None
    return known and replace(one, version=None) == replace(other, version=None)


def _differ(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one != other
