"""Evals of the invoice reader: the form of the record, each field, and whether the amounts add up."""

import json
from pathlib import Path
from typing import Any

from invoices import extract

from scoregate import evaluate
from scoregate.scorers import json_equals, json_schema, numeric_close

TEXTS, AMOUNTS = ("number", "date", "vat_id", "currency"), ("net", "vat", "total")
SCHEMA = json.loads((Path(__file__).parent / "schema.json").read_text(encoding="utf-8"))


def field(output: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """A score for each field, so that the report shows which of them changed."""
    texts = {name: output[name] == expected[name] for name in TEXTS}
    return texts | {name: check_amount(output[name], expected[name]) for name in AMOUNTS}


def check_amount(amount: float | None, wanted: float | None) -> Any:
    """Compare to half a cent; an amount that the invoice doesn't have must be None."""
    return amount is None if wanted is None else numeric_close(tolerance=0.005)(amount, wanted)


def adds_up(output: dict[str, Any]) -> bool:
    """Whether the net amount and the VAT make the total; needs no expected output."""
    net, vat, total = (float(output[name] or 0) for name in AMOUNTS)
    return abs(net + vat - total) < 0.005


evaluate(
    "invoices",
    data="invoices.jsonl",
    task=extract,
    scorers=[json_schema(SCHEMA), field, adds_up, json_equals(tolerance=0.005, name="whole_record")],
)
