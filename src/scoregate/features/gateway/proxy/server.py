"""The gateway's server: a thread with an event loop of its own, at an address that suites can reach."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from scoregate.features.gateway.declare import GatewayMode
from scoregate.features.gateway.proxy.app import GatewayApp
from scoregate.features.gateway.proxy.budget import Ledger
from scoregate.features.gateway.proxy.cassettes import BASE_FOLDER, CassetteReader, CassetteWriter
from scoregate.features.gateway.proxy.protocol import GatewayProtocol
from scoregate.features.gateway.proxy.providers import GatewayProvider
from scoregate.features.gateway.proxy.sessions import CallCounts, CallGroup, Sessions, SuiteSession, sum_counts
from scoregate.features.gateway.proxy.state import Cassettes, GatewayState
from scoregate.features.gateway.proxy.upstream import Upstream
from scoregate.kernel.run.embedded_server import EmbeddedServer, make_config
from scoregate.kernel.types.call_headers import ADDRESS_VARIABLE
from scoregate.kernel.types.evaluation import Usage
from scoregate.kernel.types.records import record
from scoregate.kernel.types.runs.model_calls import CallTotals, sum_calls
from scoregate.models.budget import find_cost
from scoregate.models.cache import get_cache
from scoregate.models.gateway import RECORDS_VARIABLE
from scoregate.models.settings import CacheMode, Price

_GRACE_S = 2
_KEEP_ALIVE_S = 600
_BACKLOG = 2048
_PORTS = {"http": 80, "https": 443}


@record
class GatewayOptions:
    """How a gateway works.

    Attributes:
        mode: where answers come from.
        providers: the providers by name.
        scratch: an existing folder for temporary files.
        redact: removes secrets from a text.
        host: the address to listen at.
        name: the host name by which clients reach it; empty for `host`.
        port: the port; 0 for any free one.
        certificate: the files of a certificate and its key, for TLS; None without.
        max_cost: the budget in US dollars; None for no limit.
        max_tokens: the budget in tokens; None for no limit.
        prices: the project's prices.
        cache_mode: how to use the cache.
        cache_folder: the folder of the cache.
        record_to: the folder of cassettes to write; None if `mode` is another.
        replay_from: the folders of cassettes to read.
    """

    mode: GatewayMode
    providers: Mapping[str, GatewayProvider]
    scratch: Path
    redact: Callable[[str], str]
    host: str = "127.0.0.1"
    name: str = ""
    port: int = 0
    certificate: tuple[Path, Path] | None = None
    max_cost: float | None = None
    max_tokens: float | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)
    cache_mode: CacheMode = CacheMode.OFF
    cache_folder: Path = Path()
    record_to: Path | None = None
    replay_from: tuple[Path, ...] = ()


class Gateway:
    """A running gateway.

    Attributes:
        address: its address, such as "http://127.0.0.1:4000".
        providers: the providers by name.
    """

    def __init__(
        self, address: str, providers: Mapping[str, GatewayProvider], sessions: Sessions, *, is_recording: bool = False
    ) -> None:
        self.address, self.providers = address, providers
        self._sessions, self._is_recording = sessions, is_recording

    @contextmanager
    def open_session(self, suite: str, *, is_base: bool = False) -> Iterator[SuiteSession]:
        """A session for a launched suite. Its token is refused when the block ends.

        Args:
            suite: the name of the launch.
            is_base: whether it belongs to a baseline that is run again, which has cassettes of its own.
        """
        session = self._sessions.open(suite, is_base=is_base)
        try:
            yield session
        finally:
            self._sessions.close(session)

    @property
    def opened(self) -> int:
        """How many sessions were opened so far."""
        return self._sessions.opened

    def counts(self, first: int = 0) -> dict[CallGroup, CallCounts]:
        """The counts of all calls so far.

        Args:
            first: the number of sessions that are left out, those that were opened first.
        """
        return sum_counts(self._sessions.list_from(first))

    def sum_calls(self, first: int = 0) -> CallTotals:
        """The sums of these counts; it takes less time."""
        return sum_calls(counts for session in self._sessions.list_from(first) for counts in session.list_counts())

    def problems(self) -> dict[str, tuple[str, ...]]:
        """The problems of calls by suite, each once."""
        return {session.suite: tuple(session.problems) for session in self._sessions if session.problems}

    def suite_environment(self, session: SuiteSession) -> dict[str, str]:
        """The variables by which clients of a suite find the gateway, with the token instead of each key."""
        variables = {ADDRESS_VARIABLE: self.address}
        if self._is_recording:
            variables[RECORDS_VARIABLE] = "1"
        for provider in self.providers.values():
            variables |= dict.fromkeys(provider.key_variables, session.token)
            for variable, path in provider.url_variables.items():
                variables[variable] = f"{self.address}/{provider.name}{path}"
        return variables


@contextmanager
def open_gateway(options: GatewayOptions) -> Iterator[Gateway]:
    """Serve until the block ends; then the cassettes are written.

    Raises:
        OSError: the address can't be used, or a cassette can't be written.
    """
    sessions = Sessions()
    with contextlib.ExitStack() as stack:
        sock = stack.enter_context(_listen(options.host, options.port))
        port = sock.getsockname()[1]
        cassettes = stack.enter_context(_open_cassettes(options, options.record_to, options.replay_from))
        base_cassettes = stack.enter_context(_open_base_cassettes(options))
        scheme = "https" if options.certificate else "http"
        name = options.name or options.host
        hosts = {f"{_bracket(each).lower()}:{port}" for each in _find_names(options)}
        if port == _PORTS[scheme]:  # clients leave it out
            hosts |= {_bracket(each).lower() for each in _find_names(options)}
        thread = _ServerThread(options, sock, sessions, frozenset(hosts), cassettes, base_cassettes)
        thread.start_serving()
        try:
            address = f"{scheme}://{_bracket(name)}:{port}"
            is_recording = cassettes.writer is not None
            yield Gateway(address, options.providers, sessions, is_recording=is_recording)
        finally:
            thread.stop()


@contextmanager
def _open_cassettes(
    options: GatewayOptions, record_to: Path | None, replay_from: tuple[Path, ...], scratch: str = "cassettes"
) -> Iterator[Cassettes]:
    folder = options.scratch / scratch
    folder.mkdir(exist_ok=True)
    writer = CassetteWriter(record_to, folder) if record_to is not None else None
    reader = CassetteReader(replay_from, folder) if options.mode is GatewayMode.REPLAY else None
    try:
        yield Cassettes(writer, reader)
    finally:
        if reader is not None:
            reader.close()
        if writer is not None:
            writer.close()


@contextmanager
def _open_base_cassettes(options: GatewayOptions) -> Iterator[Cassettes]:
    """The cassettes of a baseline that is run again. If it has none, those of the run answer it."""
    record_to = options.record_to / BASE_FOLDER if options.record_to is not None else None
    bases = ((folder, folder / BASE_FOLDER) for folder in options.replay_from)
    replay_from = tuple(base if base.is_dir() else folder for folder, base in bases)
    with _open_cassettes(options, record_to, replay_from, "base-cassettes") as cassettes:
        yield cassettes


def _find_names(options: GatewayOptions) -> set[str]:
    loopback = {"localhost", "127.0.0.1"} if options.host == "127.0.0.1" else set[str]()
    return {options.host, *loopback, *filter(None, [options.name])}


def _bracket(host: str) -> str:
    """The host as it is written in an address."""
    return f"[{host}]" if ":" in host else host


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # A port that was just closed stays reserved for a while.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(_BACKLOG)
    except BaseException:
        sock.close()
        raise
    return sock


class _ServerThread(threading.Thread):
    def __init__(
        self,
        options: GatewayOptions,
        sock: socket.socket,
        sessions: Sessions,
        hosts: frozenset[str],
        cassettes: Cassettes,
        base_cassettes: Cassettes,
    ) -> None:
        super().__init__(name="scoregate-gateway", daemon=True)
        self._options, self._sock, self._sessions, self._hosts = options, sock, sessions, hosts
        self._cassettes, self._base_cassettes = cassettes, base_cassettes
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: EmbeddedServer | None = None
        self._error: BaseException | None = None

    def start_serving(self) -> None:
        """Start, and wait until requests are accepted."""
        self.start()
        self._ready.wait()
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Answer the requests that have arrived, and end."""
        if self._loop is not None and self._server is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended by itself
                self._loop.call_soon_threadsafe(self._server.stop)
        self.join()

    def run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=_find_loop_factory()) as runner:
                runner.run(self._serve())
        except BaseException as error:
            self._error = error  # raised again in the thread that waits for the start
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        options, upstream = self._options, Upstream()
        is_cached = options.cache_mode is not CacheMode.OFF and options.mode is not GatewayMode.REPLAY
        writes = options.cache_mode is not CacheMode.READONLY
        cache = get_cache(options.cache_folder, writes=writes) if is_cached else None
        try:

            def price(provider: str, model: str, usage: Usage) -> float | None:
                return find_cost(usage, provider=provider, model=model, prices=options.prices)

            state = GatewayState(
                options.providers,
                self._hosts,
                self._sessions,
                Ledger(options.max_cost, options.max_tokens, price),
                upstream,
                options.redact,
                options.prices,
                cache,
                options.cache_mode,
                self._cassettes,
                self._base_cassettes,
            )
            self._server = _make_server(GatewayApp(state), options.certificate)
            self._loop = asyncio.get_running_loop()
            self._loop.call_soon(self._ready.set)
            if options.mode is not GatewayMode.REPLAY:  # the first price takes long: it imports all prices
                self._loop.run_in_executor(None, price, "openai", "gpt-4o", Usage(1, 1))
            await self._server.serve(sockets=[self._sock])
        finally:
            await upstream.close()
            if cache is not None:
                cache.close()


def _find_loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """A faster event loop, if it is installed."""
    try:
        from uvloop import new_event_loop
    except ImportError:
        return None
    return new_event_loop


def _make_server(app: GatewayApp, files: tuple[Path, Path] | None) -> EmbeddedServer:
    certificate, key = files or (None, None)
    config = make_config(
        app,
        http=GatewayProtocol,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_GRACE_S,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    return EmbeddedServer(config)
