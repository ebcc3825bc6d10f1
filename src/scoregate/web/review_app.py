"""The app of `scoregate review`: the state of a session, battles and scores to review."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

from anyio import to_thread
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from scoregate.kernel.types.evaluation import EvaluationOverrideComment
from scoregate.web.review_items import Side
from scoregate.web.review_session import ReviewSession
from scoregate.web.server import AccessKeys, Guard, error_handlers, page_routes

_MOST_BYTES = 1024 * 1024
B = TypeVar("B", bound=BaseModel)


class BattleJudgement(BaseModel):
    """The review of a battle."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    decision: Side
    comment: str = Field(default="", max_length=10_000)


class ScoreCorrection(BaseModel):
    """The review of a score."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    score: FiniteFloat = Field(ge=0, le=1)
    comments: tuple[EvaluationOverrideComment, ...] = Field(default=(), max_length=100)


async def read_body(request: Request, model: type[B]) -> B:
    """Read and validate the body of a request.

    Raises:
        HTTPException: the body is too long or invalid.
    """
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > _MOST_BYTES:  # while it arrives: a Content-Length may be missing or wrong
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {_MOST_BYTES:,} bytes")
    try:
        return model.model_validate_json(bytes(data))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "body"
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"{where}: {first['msg']}") from None


_STATIC = Path(__file__).parent / "static" / "review"
Endpoint = Callable[[Request], Awaitable[Response]]


def build_review_app(session: ReviewSession, keys: AccessKeys) -> Starlette:
    """Build the app."""
    routes = [
        Route("/state", get_state(session.state)),
        Route("/battles/{key}", get_route(session.battles.details)),
        Route("/battles/{key}", post_route(session.battles.judge, BattleJudgement), methods=["POST"]),
        Route("/battles/{key}", get_route(session.battles.remove_verdict), methods=["DELETE"]),
        Route("/judges/{key}", get_route(session.score_details)),
        Route("/judges/{key}", post_route(session.correct, ScoreCorrection), methods=["POST"]),
        Route("/judges/{key}", get_route(session.remove_correction), methods=["DELETE"]),
    ]
    return build_app(routes, keys)


def build_app(routes: Iterable[Route], keys: AccessKeys) -> Starlette:
    """Build an app with the page, its files, and these routes."""

    async def answer_unknown_key(request: Request, error: Exception) -> Response:  # noqa: ARG001
        return _error_response("There is no item with this key.", HTTPStatus.NOT_FOUND)

    return Starlette(
        routes=[*page_routes(_STATIC), *routes],
        middleware=[Middleware(Guard, keys=keys)],
        exception_handlers={**error_handlers(_error_response), KeyError: answer_unknown_key},
    )


def get_route(method: Callable[..., Any]) -> Endpoint:
    """Call a method of the session with the key in the address, in a thread, since it blocks."""

    async def answer(request: Request) -> Response:
        return JSONResponse(await to_thread.run_sync(partial(method, **request.path_params)))

    return answer


def get_state(read: Callable[[str], bytes | None]) -> Endpoint:
    """The state of the session, or no content if the page has it already."""

    async def answer(request: Request) -> Response:
        state = await to_thread.run_sync(read, request.query_params.get("mark", ""))
        if state is None:
            return Response(status_code=HTTPStatus.NO_CONTENT)
        return Response(state, media_type="application/json")

    return answer


def post_route(method: Callable[..., Any], body: type[BaseModel]) -> Endpoint:
    """Store a review of the key in the address."""

    async def answer(request: Request) -> Response:
        review = dict(await read_body(request, body))
        return JSONResponse(await to_thread.run_sync(partial(method, **request.path_params, **review)))

    return answer


def _error_response(message: str, status: int) -> Response:
    return JSONResponse({"error": message}, status)
