"""Retired models: what the table has, who is warned, and how providers' pages are read."""

from __future__ import annotations

import tomllib
from datetime import date

from scoregate.features.costs.retirements import TABLE, NamedModel, find_retirement, list_retirement_warnings

TODAY = date(2026, 11, 23)


def warn(*names: str, today: date = TODAY) -> list[str]:
    return list(list_retirement_warnings([NamedModel(name, f"place {name}") for name in names], today))


def test_the_table_is_complete() -> None:
    data = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    names = [name for entry in data["models"] for name in entry["names"]]
    assert len(names) == len(set(names)) > 50
    for entry in data["models"]:
        assert isinstance(entry["date"], date)
        assert (entry.get("source") or data["sources"][entry["provider"]]).startswith("https://")
        assert set(entry) <= {"provider", "names", "date", "successor", "source"}


def test_a_model_that_retires_soon_is_named_once_with_its_successor() -> None:
    (text,) = warn("gpt-4o", "openai/gpt-4o", "gpt-4o")
    assert text == (
        "Model gpt-4o retires on 2027-01-14 (in 52 days): use gpt-6-luna. Named by place gpt-4o, place openai/gpt-4o. "
        "Source: https://developers.openai.com/api/docs/deprecations"
    )
    (gone,) = warn("gpt-3.5-turbo")
    assert "was retired on 2026-10-23: use gpt-5.6-terra" in gone
    assert "was retired on 2027-01-14" in warn("gpt-4o", today=date(2027, 1, 14))[0]


def test_only_the_next_90_days_count() -> None:
    assert warn("gpt-4o", today=date(2026, 10, 15)) == []
    assert len(warn("gpt-4o", today=date(2026, 10, 16))) == 1
    assert warn("gpt-5.1", "a-model-of-ours") == []


def test_other_platforms_have_dates_of_their_own() -> None:
    for name in ("azure/gpt-4o", "openrouter/gpt-4o", "bedrock/claude-2.1", "vllm/gpt-4"):
        assert find_retirement(name) is None, name
    assert find_retirement("gpt-4o", "azure") is None
    for name in ("openai/gpt-4o", "ft:gpt-4o-2024-08-06:team::id", "google/gemini-2.5-pro", "gemini/gemini-2.5-pro"):
        assert find_retirement(name) is not None, name


def test_many_places_are_shortened() -> None:
    named = [NamedModel("gpt-4o", f"evals/eval_{number}.py:{number}" + "x" * 200) for number in range(10)]
    (text,) = list_retirement_warnings(named, TODAY)
    assert "and 7 more" in text
    assert len(text) < 700
