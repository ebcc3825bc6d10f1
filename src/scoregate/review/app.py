"""The addresses of the page, and what each of them answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from scoregate.errors import ScoregateError
from scoregate.loopback.guard import Guard, Keys
from scoregate.review.bodies import Correction, Judgement, read
from scoregate.review.desk import Desk
from scoregate.review.verdicts import Battles

_STATIC = Path(__file__).with_name("static")
_FILES = {path.name: path for path in sorted(_STATIC.iterdir()) if path.suffix in (".css", ".js")}
Answer = Callable[[Request], Awaitable[Response]]


def app_of(desk: Desk, keys: Keys) -> Starlette:
    """The whole of it."""
    return Starlette(
        routes=[
            Route("/", _page),
            Route("/favicon.ico", _nothing),
            Route("/static/{name}", _file),
            Route("/state", _looking(desk)),
            Route("/battles/{key}", _asked(desk.battles.shown)),
            Route("/battles/{key}", _judging(desk.battles), methods=["POST"]),
            Route("/battles/{key}", _asked(desk.battles.unjudge), methods=["DELETE"]),
            Route("/judges/{key}", _asked(desk.judged)),
            Route("/judges/{key}", _correcting(desk), methods=["POST"]),
            Route("/judges/{key}", _asked(desk.uncorrect), methods=["DELETE"]),
        ],
        middleware=[Middleware(Guard, keys=keys)],
        exception_handlers={HTTPException: _refused, ScoregateError: _failed, KeyError: _unknown},
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


def _judging(battles: Battles) -> Answer:
    async def answer(request: Request) -> Response:
        given = await read(request, Judgement)
        said = partial(battles.judge, request.path_params["key"], given.said, given.comment)
        return JSONResponse(await to_thread.run_sync(said))

    return answer


def _correcting(desk: Desk) -> Answer:
    async def answer(request: Request) -> Response:
        given = await read(request, Correction)
        said = partial(desk.correct, request.path_params["key"], given.score, given.comments)
        return JSONResponse(await to_thread.run_sync(said))

    return answer


async def _page(request: Request) -> Response:  # noqa: ARG001
    return FileResponse(_STATIC / "page.html")


async def _file(request: Request) -> Response:
    if (path := _FILES.get(request.path_params["name"])) is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return FileResponse(path)


async def _nothing(request: Request) -> Response:  # noqa: ARG001
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def _refused(request: Request, error: Exception) -> Response:  # noqa: ARG001
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code)


async def _failed(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return JSONResponse({"error": str(error)}, HTTPStatus.CONFLICT)


async def _unknown(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return JSONResponse({"error": "There is nothing of this key in the run."}, HTTPStatus.NOT_FOUND)
