"""Reads order confirmations: an e-mail goes in, a JSON record for the books comes out."""

import json
import os
import re
import time
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).parent
NO_ORDER = "There is no order in this message."


@dataclass(frozen=True)
class Settings:
    """Regular expressions for each field, and how to read numbers and dates."""

    decimal_separator: str
    order_number: list[str]
    date: list[str]
    date_formats: list[str]
    total: list[str]
    item: list[str]
    currencies: dict[str, str]


@dataclass(frozen=True)
class Item:
    """One line of an order."""

    quantity: int
    name: str


@dataclass(frozen=True)
class Order:
    """What the books need; a field that was not found is None."""

    order_number: str
    date: str | None
    total: float | None
    currency: str | None
    items: list[Item]


def load_settings() -> Settings:
    """The settings under review, or those of the revision that EXAMPLES_REVISION names."""
    revision = os.environ.get("EXAMPLES_REVISION")
    path = HERE / (f"config_{revision}.toml" if revision else "config.toml")
    return Settings(**tomllib.loads(path.read_text(encoding="utf-8")))


def extract(email: str, settings: Settings) -> str:
    """The order as JSON, or a sentence when the e-mail has no order number."""
    order_number = find(settings.order_number, email)
    if order_number is None:
        return NO_ORDER
    total = find(settings.total, email)
    order = Order(
        order_number=order_number,
        date=read_date(find(settings.date, email), settings.date_formats),
        total=read_amount(total, settings.decimal_separator),
        currency=read_currency(total, settings.currencies),
        items=find_items(settings.item, email),
    )
    return json.dumps(asdict(order), ensure_ascii=False)


def find(patterns: list[str], email: str) -> str | None:
    """What the first matching pattern calls its value."""
    matches = (re.search(pattern, email, re.IGNORECASE) for pattern in patterns)
    return next((match["value"].strip() for match in matches if match), None)


def find_items(patterns: list[str], email: str) -> list[Item]:
    """The lines of the order, all in the first format that occurs."""
    for pattern in patterns:
        matches = list(re.finditer(pattern, email, re.IGNORECASE | re.MULTILINE))
        if matches:
            return [Item(int(match["quantity"]), match["name"]) for match in matches]
    return []


def read_date(text: str | None, formats: list[str]) -> str | None:
    """The date as YYYY-MM-DD, by the first format that fits."""
    for date_format in formats:
        try:
            return time.strftime("%Y-%m-%d", time.strptime(text or "", date_format))
        except ValueError:
            continue
    return None


def read_amount(text: str | None, decimal_separator: str) -> float | None:
    """The first number in the text, or None when there is none or it cannot be read."""
    found = re.search(r"\d[\d.,']*", text or "")
    number = found[0].rstrip(".,'") if found else ""
    if decimal_separator == "last" and number.rfind(",") > number.rfind("."):
        number = number.translate(str.maketrans(",.", ".,"))
    try:
        return float(re.sub(r"[,']", "", number))
    except ValueError:
        return None


def read_currency(text: str | None, currencies: dict[str, str]) -> str | None:
    """The code of the first currency whose sign occurs."""
    return next((code for code, sign in currencies.items() if re.search(sign, text or "")), None)
