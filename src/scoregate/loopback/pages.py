"""What every page of this machine is made of: its own files, those that all share, and how it tells of trouble."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from scoregate.errors import ScoregateError

_FETCHED = (".css", ".js")
_SHARED = Path(__file__).with_name("static")
Handler = Callable[[Request, Exception], Awaitable[Response]]


def page_routes(static: Path, headers: Mapping[str, str] | None = None) -> list[Route]:
    """The addresses of a page, of its scripts and of its styles, which stand in one folder.

    `headers` are those of the page alone.
    """
    files = {path.name: path for folder in (_SHARED, static) for path in folder.iterdir() if path.suffix in _FETCHED}

    async def page(request: Request) -> Response:  # noqa: ARG001
        return FileResponse(static / "page.html", headers=headers)

    async def file(request: Request) -> Response:
        if (path := files.get(request.path_params["name"])) is None:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return FileResponse(path)

    return [Route("/", page), Route("/favicon.ico", _nothing), Route("/static/{name}", file)]


def troubles(answer: Callable[[str, int], Response]) -> dict[Any, Handler]:
    """What handles the errors of a page; `answer` makes a response of what one says and its status."""

    async def refused(request: Request, error: Exception) -> Response:  # noqa: ARG001
        assert isinstance(error, HTTPException)
        return answer(error.detail, error.status_code)

    async def failed(request: Request, error: Exception) -> Response:  # noqa: ARG001
        return answer(str(error), HTTPStatus.CONFLICT)

    return {HTTPException: refused, ScoregateError: failed}


async def _nothing(request: Request) -> Response:  # noqa: ARG001
    return Response(status_code=HTTPStatus.NO_CONTENT)
