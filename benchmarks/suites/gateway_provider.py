"""A provider with OpenAI's chat completions that answers after a delay in seconds: `gateway_provider.py 0.02`."""

import asyncio
import json
import sys
from typing import cast

from uvloop import new_event_loop

DELAY_S = float(sys.argv[1])
MESSAGE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "At nine."}}
USAGE = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
BODY = json.dumps(
    {"id": "x", "object": "chat.completion", "created": 1, "model": "gpt-4o", "choices": [MESSAGE], "usage": USAGE}
).encode()
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(BODY) + BODY
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
EVENT = b'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"At nine."}}]}\n\n'
END = b"data: [DONE]\n\n"


def chunk(data: bytes) -> bytes:
    """A part of a body without a known length."""
    return b"%x\r\n%s\r\n" % (len(data), data)


class Connection(asyncio.Protocol):
    """A connection of a client that waits for each answer before its next request."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the connection."""
        self._transport, self._received = cast(asyncio.WriteTransport, transport), b""

    def data_received(self, data: bytes) -> None:
        """Answer later, once the request is complete."""
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        length = next((line[15:] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), b"0")
        if not end or len(body) < int(length):
            return
        self._received = b""
        answer = self._begin_stream if b'"stream"' in body else self._answer
        asyncio.get_running_loop().call_later(DELAY_S, answer)

    def _answer(self) -> None:
        self._transport.write(ANSWER)

    def _begin_stream(self) -> None:
        self._transport.write(STREAM + chunk(EVENT))
        asyncio.get_running_loop().call_later(0.005, self._transport.write, chunk(EVENT) + chunk(END) + b"0\r\n\r\n")


async def main() -> None:
    """Print the address, and serve until the process is ended."""
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0, backlog=1024)
    print(json.dumps({"url": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"}), flush=True)
    await server.serve_forever()


with asyncio.Runner(loop_factory=new_event_loop) as runner:
    runner.run(main())
