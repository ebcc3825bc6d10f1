"""A local server that answers and counts what autoblocksai posts. It prints its port; GET /counts returns counts."""

import asyncio
import json
from collections import Counter

NAMED = {"/start", "/grids", "/results"}
counts: Counter[str] = Counter()


async def read_request(reader: asyncio.StreamReader) -> str:
    """Read one request whole and return its path."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    lines = head.split("\r\n")
    sizes = [int(line.partition(":")[2]) for line in lines if line.lower().startswith("content-length:")]
    await reader.readexactly(sum(sizes))
    return lines[0].split(" ")[1]


def answer(path: str) -> bytes:
    """Count the path and make its reply."""
    if path == "/counts":
        body = json.dumps(counts)
    else:
        counts[path] += 1
        body = json.dumps({"id": f"id-{counts[path]}"} if path in NAMED else "ok")
    return f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one connection until its client leaves."""
    try:
        while True:
            writer.write(answer(await read_request(reader)))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    """Listen on a free port of the loopback until ended."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
