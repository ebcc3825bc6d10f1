"""What the page sends, bounded and checked."""

from __future__ import annotations

from http import HTTPStatus
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

from scoregate.core.override import EvaluationOverrideComment
from scoregate.review.battles import Side

_MOST_BYTES = 1024 * 1024
B = TypeVar("B", bound=BaseModel)


class Judgement(BaseModel):
    """What a reviewer says of a battle."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    said: Side
    comment: str = Field(default="", max_length=10_000)


class Correction(BaseModel):
    """What a reviewer says of a judge's score."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    score: FiniteFloat = Field(ge=0, le=1)
    comments: tuple[EvaluationOverrideComment, ...] = Field(default=(), max_length=100)


async def read(request: Request, model: type[B]) -> B:
    """The body of a request.

    Raises:
        HTTPException: it is too long, or not what is wanted.
    """
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > _MOST_BYTES:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {_MOST_BYTES:,} bytes")
    try:
        return model.model_validate_json(bytes(data))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "body"
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"{where}: {first['msg']}") from None
