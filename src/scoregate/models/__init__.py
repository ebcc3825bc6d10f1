"""Language models, at a known cost: answers that are limited, counted, price_usage and kept."""

from scoregate.errors import (
    BudgetSpent,
    ContentFiltered,
    MalformedAnswer,
    MissingExtra,
    MissingKey,
    ModelError,
    ModelGone,
    RateLimited,
    RefusedRequest,
    RefusedSchema,
    Unreachable,
)
from scoregate.models.model import Generation, Message, Model
from scoregate.models.openai_model import get_model
from scoregate.models.wrap_openai import wrap

__all__ = [
    "BudgetSpent",
    "ContentFiltered",
    "Generation",
    "MalformedAnswer",
    "Message",
    "MissingExtra",
    "MissingKey",
    "Model",
    "ModelError",
    "ModelGone",
    "RateLimited",
    "RefusedRequest",
    "RefusedSchema",
    "Unreachable",
    "get_model",
    "wrap",
]
