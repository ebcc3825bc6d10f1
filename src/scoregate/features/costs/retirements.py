"""When providers retire models: the table, and the warnings for models that a run uses."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from datetime import date
from functools import lru_cache
from pathlib import Path

from scoregate.kernel.types.records import record

TABLE = Path(__file__).with_name("retired_models.toml")
SOON_DAYS = 90
_MOST_PLACES = 3
_LONGEST_PLACE = 120


@record
class Retirement:
    """The end of a model.

    Attributes:
        provider: the provider, as in `provider/model`.
        model: the name of the model.
        date: the day from which requests fail.
        successor: the model that the provider recommends; empty if it names none.
        source: the page with the date.
    """

    provider: str
    model: str
    date: date
    successor: str = ""
    source: str = ""


@record
class NamedModel:
    """A model that something names.

    Attributes:
        name: the name, maybe with its provider: `gpt-4o`, `azure/gpt-4o`.
        place: what names it, and where.
        provider: the provider, if it is known otherwise.
    """

    name: str
    place: str
    provider: str = ""


def find_retirement(name: str, provider: str = "") -> Retirement | None:
    """The retirement of a model; None if none is known. Other platforms have dates of their own.

    Args:
        name: the name, maybe with its provider.
        provider: the provider if the name has none; empty if unknown.
    """
    before, slash, rest = name.partition("/")
    if slash:
        from scoregate.models.providers import PROVIDERS  # the package imports sqlite3, which few runs need

        if before in PROVIDERS or before in ("google", "vertex_ai", "bedrock"):
            provider, name = before, rest
    provider = "gemini" if provider == "google" else provider
    if name.startswith("ft:"):  # a fine-tuned model ends with the one that it was made from
        name = name.split(":")[1]
    known = _load_table().get(name)
    return known if known is not None and provider in ("", known.provider) else None


@lru_cache(maxsize=1)
def _load_table() -> dict[str, Retirement]:
    data = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return {
        name: Retirement(
            entry["provider"],
            name,
            entry["date"],
            entry.get("successor", ""),
            entry.get("source") or data["sources"][entry["provider"]],
        )
        for entry in data["models"]
        for name in entry["names"]
    }


def list_retirement_warnings(named: Iterable[NamedModel], today: date) -> Iterator[str]:
    """A warning for each model that is retired, or retires within 90 days.

    Args:
        named: the models that the project and its base name.
        today: the day of the run.
    """
    places: dict[str, list[str]] = {}
    retirements_by_model: dict[str, Retirement] = {}
    for each in named:
        retirement = find_retirement(each.name, each.provider)
        if retirement is not None and (retirement.date - today).days <= SOON_DAYS:
            retirements_by_model[retirement.model] = retirement
            places.setdefault(retirement.model, []).append(each.place[:_LONGEST_PLACE])
    for model, retirement in sorted(retirements_by_model.items(), key=lambda each: (each[1].date, each[0])):
        yield _describe(retirement, list(dict.fromkeys(places[model])), today)


def _describe(retirement: Retirement, places: list[str], today: date) -> str:
    days = (retirement.date - today).days
    number = f"{abs(days):,} day{'' if abs(days) == 1 else 's'}"
    when = f"retires on {retirement.date} (in {number})" if days > 0 else f"was retired on {retirement.date}"
    successor = f"use {retirement.successor}" if retirement.successor else "choose another model"
    shown = ", ".join(places[:_MOST_PLACES])
    more = f" and {len(places) - _MOST_PLACES:,} more" if len(places) > _MOST_PLACES else ""
    return f"Model {retirement.model} {when}: {successor}. Named by {shown}{more}. Source: {retirement.source}"
