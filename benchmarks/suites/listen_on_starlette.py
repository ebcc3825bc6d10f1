"""A bare starlette application that only answers until the client ends; prints the client's result."""

import asyncio
import socket

import uvicorn
from listen_load import client
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


async def answer(request: Request) -> JSONResponse:
    """Read the body and say ok."""
    await request.body()
    return JSONResponse("ok")


async def main() -> None:
    """Serve on the loopback until the client has ended."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as sock:
        sock.bind(("127.0.0.1", 0))
        app = Starlette(routes=[Route("/{path:path}", answer, methods=["POST"])])
        server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None, access_log=False))
        serving = asyncio.create_task(server.serve(sockets=[sock]))
        print(await client(f"http://127.0.0.1:{sock.getsockname()[1]}"))
        server.should_exit = True
        await serving


if __name__ == "__main__":
    asyncio.run(main())
