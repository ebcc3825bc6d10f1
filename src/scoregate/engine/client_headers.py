"""Clients of HTTP libraries name the suite, case and evaluator of their calls at the gateway of a run.

The gateway serves clients that know nothing of cases. Only this process knows which case runs, so the headers are added
here: to requests for the gateway's address alone, by `httpx` (which the clients of OpenAI, Anthropic and others use, or
its successor `httpx2`) and by `http.client` (which `urllib` and `requests` use).
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import MappingProxyType, ModuleType
from typing import Any, TypeAlias

from scoregate.kernel.types.call_headers import ADDRESS_VARIABLE, CASE, COUNTED, describe_origin
from scoregate.kernel.types.usage import find_origin

_Patch: TypeAlias = Callable[[Any], None]
_NOTHING: Mapping[str, str] = MappingProxyType({})


@cache
def name_calls() -> None:
    """Make HTTP libraries name the origin of calls, now or when they are imported."""
    patches: dict[str, _Patch] = {"httpx": _patch_httpx, "httpx2": _patch_httpx, "http.client": _patch_http_client}
    for name in [name for name in patches if name in sys.modules]:
        patches.pop(name)(sys.modules[name])
    sys.meta_path.insert(0, _PatchAtImport(patches))


class _PatchAtImport(MetaPathFinder):
    """Finds no module itself; it patches some when they are loaded."""

    def __init__(self, patches: dict[str, _Patch]) -> None:
        self._patches = patches

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        patch = self._patches.pop(fullname, None)
        spec = None if patch is None else importlib.util.find_spec(fullname)
        if patch is None or spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_patch(module: ModuleType) -> None:
            load(module)
            if module.__spec__ is spec:  # a loader may be shared
                patch(module)

        with suppress(AttributeError):  # a loader in C; its calls name no case
            setattr(spec.loader, "exec_module", load_and_patch)  # noqa: B010
        return spec


def _find_headers(is_for_gateway: Callable[[str], bool]) -> Mapping[str, str]:
    address = os.environ.get(ADDRESS_VARIABLE, "")
    origin = find_origin() if address and is_for_gateway(address) else None
    return _NOTHING if origin is None else describe_origin(origin)


def _patch_httpx(httpx: Any) -> None:
    send, send_async = httpx.Client.send, httpx.AsyncClient.send

    @wraps(send)
    def send_with_headers(client: Any, request: Any, *args: Any, **options: Any) -> Any:
        _name_request(request)
        return send(client, request, *args, **options)

    @wraps(send_async)
    async def send_async_with_headers(client: Any, request: Any, *args: Any, **options: Any) -> Any:
        _name_request(request)
        return await send_async(client, request, *args, **options)

    httpx.Client.send, httpx.AsyncClient.send = send_with_headers, send_async_with_headers


def _name_request(request: Any) -> None:
    if CASE not in request.headers and COUNTED not in request.headers:
        request.headers.update(_find_headers(lambda address: str(request.url).startswith(f"{address}/")))


def _patch_http_client(client: Any) -> None:
    end = client.HTTPConnection.endheaders

    @wraps(end)
    def end_with_headers(connection: Any, *args: Any, **options: Any) -> Any:
        def is_for_gateway(address: str) -> bool:
            host = f"[{connection.host}]" if ":" in connection.host else connection.host
            return address.partition("//")[2] == f"{host}:{connection.port}"

        headers = _find_headers(is_for_gateway)
        buffered = b"\n".join(getattr(connection, "_buffer", ())).lower() if headers else b""
        if CASE.encode() not in buffered and COUNTED.encode() not in buffered:
            for name, value in headers.items():
                connection.putheader(name, value)
        return end(connection, *args, **options)

    client.HTTPConnection.endheaders = end_with_headers
