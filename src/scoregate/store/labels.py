"""Behaviors, categories and topics as they are kept: what their names mean, and how a behavior is measured."""

from __future__ import annotations

from pydantic import Field

from scoregate.store.documents import TOML, Document, Text
from scoregate.store.kinds import Kind


class StoredLabel(Document):
    """A name that tests are sorted by."""

    id: str = Field(default="", max_length=200)
    name: Text = ""
    description: Text = ""


class StoredBehavior(StoredLabel):
    """What is expected of the system under test; `metrics` are the names of those that tell."""

    metrics: tuple[Text, ...] = ()


BEHAVIORS = Kind("behaviors", StoredBehavior, TOML, ("behavior",))
CATEGORIES = Kind("categories", StoredLabel, TOML, ("category",))
TOPICS = Kind("topics", StoredLabel, TOML, ("topic",))
