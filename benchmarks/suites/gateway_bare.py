"""A bare starlette application on uvicorn that reads each request and answers with the provider's bytes."""

import asyncio
import json
import socket

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

BODY = json.dumps(
    {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "At nine."}}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
    }
).encode()


async def answer(request: Request) -> Response:
    """Read the body, and answer."""
    await request.body()
    return Response(BODY, media_type="application/json")


app = Starlette(routes=[Route("/{path:path}", answer, methods=["POST"])])
with socket.create_server(("127.0.0.1", 0), backlog=1024) as sock:
    print(json.dumps({"url": f"http://127.0.0.1:{sock.getsockname()[1]}/v1"}), flush=True)
    config = uvicorn.Config(app, lifespan="off", log_config=None, access_log=False)
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(uvicorn.Server(config).serve(sockets=[sock]))
