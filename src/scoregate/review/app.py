"""The addresses of the page, and what each of them answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

from anyio import to_thread
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from scoregate.loopback.guard import Guard, Keys
from scoregate.loopback.pages import page_routes, troubles
from scoregate.review.bodies import Correction, Judgement, read
from scoregate.review.desk import Desk

_STATIC = Path(__file__).with_name("static")
Answer = Callable[[Request], Awaitable[Response]]


def app_of(desk: Desk, keys: Keys) -> Starlette:
    """The whole of it."""
    return Starlette(
        routes=[
            *page_routes(_STATIC),
            Route("/state", _looking(desk)),
            Route("/battles/{key}", _asked(desk.battles.shown)),
            Route("/battles/{key}", _told(desk.battles.judge, Judgement), methods=["POST"]),
            Route("/battles/{key}", _asked(desk.battles.unjudge), methods=["DELETE"]),
            Route("/judges/{key}", _asked(desk.judged)),
            Route("/judges/{key}", _told(desk.correct, Correction), methods=["POST"]),
            Route("/judges/{key}", _asked(desk.uncorrect), methods=["DELETE"]),
        ],
        middleware=[Middleware(Guard, keys=keys)],
        exception_handlers={**troubles(_error), KeyError: _unknown},
    )


def _asked(ask: Callable[..., Any]) -> Answer:
    """What the desk says of the key in the address; it blocks, so a thread asks."""

    async def answer(request: Request) -> Response:
        return JSONResponse(await to_thread.run_sync(partial(ask, **request.path_params)))

    return answer


def _looking(desk: Desk) -> Answer:
    """What there is by now, or, in no words, that it is what the page knows already."""

    async def answer(request: Request) -> Response:
        state = await to_thread.run_sync(desk.state, request.query_params.get("mark", ""))
        if state is None:
            return Response(status_code=HTTPStatus.NO_CONTENT)
        return Response(state, media_type="application/json")

    return answer


def _told(keep: Callable[..., Any], body: type[BaseModel]) -> Answer:
    """Has the desk keep what a request says of the key in its address."""

    async def answer(request: Request) -> Response:
        said = dict(await read(request, body))
        return JSONResponse(await to_thread.run_sync(partial(keep, **request.path_params, **said)))

    return answer


def _error(why: str, status: int) -> Response:
    return JSONResponse({"error": why}, status)


async def _unknown(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return _error("There is nothing of this key in the run.", HTTPStatus.NOT_FOUND)
