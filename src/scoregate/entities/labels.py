"""What tests are sorted by: behaviors, which have metrics, categories and topics."""

from __future__ import annotations

from scoregate.entities.kept import KeptEntity
from scoregate.entities.measured import Measured
from scoregate.store import BEHAVIORS, CATEGORIES, TOPICS


class Behavior(Measured):
    """What is expected of what is under test. Tests name it; without metrics of their own or of their set, they are
    measured with those of the behavior of this name."""

    kind = BEHAVIORS

    description: str | None = None


class Category(KeptEntity):
    """A category that tests name."""

    kind = CATEGORIES

    description: str | None = None


class Topic(KeptEntity):
    """A topic that tests name."""

    kind = TOPICS

    description: str | None = None
