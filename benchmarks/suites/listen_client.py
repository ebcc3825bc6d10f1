"""Posts a run of cases as Autoblocks' SDK does, over ten raw connections; prints the seconds between first and last."""

import json
import os
import selectors
import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

CONNECTIONS = 10
EVALUATORS = ("exact", "length")
Request = tuple[str, dict[str, object]]


def requests_of(case: int, run: str) -> Iterator[Request]:
    """Yield a result and an evaluation by each evaluator."""
    who = {"testExternalId": "bench", "runId": run, "testCaseHash": f"{case:032x}"}
    body = {"input": f"What is {case} and one?", "expected": str(case + 1)}
    rest = dict.fromkeys(("datasetItemId", "testCaseRevisionUsage", "testCaseHumanReviewInputFields"))
    yield "/results", {**who, **rest, "testCaseBody": body, "testCaseOutput": f"{case + 1}", "testCaseDurationMs": 0.1}
    for evaluator in EVALUATORS:
        threshold = {"lt": None, "lte": None, "gt": None, "gte": 0.5}
        said = {"evaluatorExternalId": evaluator, "score": 1, "threshold": threshold, "metadata": {"case": case}}
        yield "/evals", {**who, **said, "revisionUsage": None, "assertions": None}


class Connection:
    """A kept connection on which one request at a time is under way."""

    def __init__(self, host: str, port: int, prefix: str) -> None:
        self.sock = socket.create_connection((host, port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._host, self._prefix, self._received = f"{host}:{port}", prefix, b""

    def send(self, request: Request) -> None:
        """Post a body."""
        path, said = request
        body = json.dumps(said, separators=(",", ":")).encode()
        head = (
            f"POST {self._prefix}{path} HTTP/1.1\r\nhost: {self._host}\r\naccept: */*\r\n"
            "accept-encoding: gzip, deflate\r\nconnection: keep-alive\r\nuser-agent: python-httpx/0.28.1\r\n"
            f"content-length: {len(body)}\r\ncontent-type: application/json\r\n\r\n"
        )
        self.sock.sendall(head.encode() + body)

    def receive(self) -> object:
        """Return the answer; None while it is not whole."""
        self._received += self.sock.recv(65_536)
        head, end, body = self._received.partition(b"\r\n\r\n")
        if not end or len(body) < int(head.lower().split(b"content-length: ")[1].split(b"\r")[0]):
            return None
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"refused: {self._received!r}")
        self._received = b""
        return json.loads(body)

    def ask(self, request: Request) -> object:
        """Send a request and wait for its answer."""
        self.send(request)
        while (answer := self.receive()) is None:
            pass
        return answer


def post_all(connections: list[Connection], work: Iterator[Iterator[Request]]) -> None:
    """Give each connection a case after the other, each request after the answer to the last."""
    selector = selectors.DefaultSelector()
    cases = {connection: next(work) for connection in connections}
    for connection in connections:
        selector.register(connection.sock, selectors.EVENT_READ, connection)
        connection.send(next(cases[connection]))
    while cases:
        for key, _ in selector.select():
            connection = key.data
            if connection.receive() is None:
                continue
            request = next(cases[connection], None)
            while request is None and (case := next(work, None)) is not None:
                cases[connection], request = case, next(case)
            if request is None:
                del cases[connection]
            else:
                connection.send(request)


def main() -> None:
    """Post so many cases to the address in the environment."""
    address, cases = urlsplit(os.environ["AUTOBLOCKS_CLI_SERVER_ADDRESS"]), int(os.environ["BENCH_CASES"])
    where = str(address.hostname), int(address.port or 80), address.path
    connections = [Connection(*where) for _ in range(CONNECTIONS)]
    started = time.perf_counter()
    answer = connections[0].ask(("/start", {"testExternalId": "bench", "gridSearchParamsCombo": None}))
    run = answer["id"] if isinstance(answer, dict) else "none"
    post_all(connections, (requests_of(case, run) for case in range(cases)))
    seconds = time.perf_counter() - started
    connections[0].ask(("/end", {"testExternalId": "bench", "runId": run}))
    print(json.dumps({"seconds": seconds, "requests": cases * (1 + len(EVALUATORS))}))


if __name__ == "__main__":
    main()
