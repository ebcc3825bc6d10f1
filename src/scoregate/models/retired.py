"""Models that are known to go, and what their makers name instead."""

from __future__ import annotations

from datetime import date

# https://platform.openai.com/docs/deprecations
_RETIRED = {"gpt-4o": (date(2027, 1, 14), "gpt-6-luna")}


def advice_for(model: str) -> str:
    """What to do where the server does not have this model."""
    if model in _RETIRED:
        day, successor = _RETIRED[model]
        return (
            f"OpenAI retires {model} on {day.isoformat()} and names {successor} as its successor. "
            f'Set the project\'s model: model = "{successor}" in the settings, or SCOREGATE_MODEL={successor}.'
        )
    return 'Set the project\'s model: `model` in the settings or SCOREGATE_MODEL, as "provider/name".'
