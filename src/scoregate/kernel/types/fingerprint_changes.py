"""Changes of an evaluator that make its scores differ from those of the baseline."""

from __future__ import annotations

from dataclasses import replace

from scoregate.kernel.types.event_values import EvaluatorInfo, Fingerprint

_PART_NAMES = {"source": "its code", "prompt": "its prompt", "parameters": "its parameters"}


def describe_fingerprint_change(new: EvaluatorInfo, baseline: EvaluatorInfo) -> str:
    """Describe how an evaluator differs from the baseline's.

    If both have different versions, only the versions are named; a version that changes nothing else is no change. A
    fingerprint on one side only is a change, since the evaluators may be different.

    Returns:
        The description; empty if nothing changed, or if neither side has a fingerprint.
    """
    if new.higher_is_better != baseline.higher_is_better:
        return "its direction changed (higher_is_better)"
    if new.scale != baseline.scale:
        return f"its scale changed: {_format_scale(baseline.scale)} → {_format_scale(new.scale)}"
    mark, base_mark = new.fingerprint or Fingerprint(), baseline.fingerprint or Fingerprint()
    if (mark == Fingerprint()) != (base_mark == Fingerprint()):
        known, unknown = ("now", "in the baseline") if base_mark == Fingerprint() else ("in the baseline", "now")
        return f"its fingerprint is known {known}, unknown {unknown}"
    if mark.version and base_mark.version and mark.version != base_mark.version:
        is_known = mark.source is not None or mark.prompt is not None
        if not is_known or replace(mark, version=None) != replace(base_mark, version=None):
            return f"judge {new.id} {base_mark.version} -> {mark.version}"
    if mark.model and base_mark.model and mark.model != base_mark.model:
        return f"its model changed: {base_mark.model} → {mark.model}"
    changed = []
    for part, words in _PART_NAMES.items():
        value, base_value = getattr(mark, part), getattr(base_mark, part)
        if value is not None and base_value is not None and value != base_value:
            changed.append(words)
    return f"{' and '.join(changed)} changed" if changed else ""


def _format_scale(scale: tuple[float, float] | None) -> str:
    low, high = scale or (0, 1)
    return f"[{low:g}, {high:g}]"
