"""Reads invoices: the text of one goes in, a record for the accounts comes out."""

import re
from contextlib import suppress
from datetime import date
from time import strptime
from typing import Any

DATE_FORMATS = ("%Y-%m-%d", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y")
CURRENCIES = {"€": "EUR", "£": "GBP", "$": "USD"}
AMOUNT = r"(?P<symbol>[€£$]|EUR|GBP|USD|CHF)? ?(?P<number>\d[\d.,']*\d) ?(?P<code>EUR|GBP|USD|CHF|€)?"


def extract(text: str) -> dict[str, Any]:
    """The fields of an invoice; one that is missing is None."""
    total = find_amount(r"(?:total|amount) due|(?<!sub)total", text)
    return {
        "number": find(r"invoice (?:no\.?|number|#):? *(?P<found>[\w/-]+)", text),
        "date": parse_date(find(r"(?:invoice date|date|issued):? *(?P<found>[\w., -]+)", text)),
        "vat_id": find(r"\b(?P<found>[A-Z]{2}\d{9})\b", text),
        "currency": find_currency(total),
        "net": parse_number(find_amount(r"subtotal|net(?: amount)?", text)),
        "vat": parse_number(find_amount(r"vat(?: \(?[\d.]+ ?%\)?)?", text)),
        "total": parse_number(total),
    }


def find(pattern: str, text: str) -> str | None:
    """What the group `found` of a pattern has at its first match."""
    match = re.search(pattern, text, re.IGNORECASE)
    return match["found"].strip() if match else None


def find_amount(label: str, text: str) -> re.Match[str] | None:
    """The first amount behind a label."""
    return re.search(rf"\b(?:{label}):? *{AMOUNT}", text, re.IGNORECASE)


def find_currency(amount: re.Match[str] | None) -> str | None:
    """The code of an amount's currency."""
    found = amount and (amount["symbol"] or amount["code"])
    return CURRENCIES.get(found, found) if found else None


def parse_number(amount: re.Match[str] | None) -> float | None:
    """An amount as a number. The last separator is the decimal one if two digits follow it."""
    if amount is None:
        return None
    digits = re.sub(r"[.,](?=\d{2}$)", "#", amount["number"])
    return float(re.sub(r"[.,']", "", digits).replace("#", "."))


def parse_date(text: str | None) -> str | None:
    """A date in ISO 8601; None if it has no known format."""
    for known in DATE_FORMATS:
        with suppress(ValueError):
            return date(*strptime(text or "", known)[:3]).isoformat()
    return None
