"""Where messages go: an address in full, and the same as it may be shown."""

from __future__ import annotations

import re
from urllib.parse import urlsplit, urlunsplit

from scoregate.endpoints.surroundings import Surroundings
from scoregate.store.endpoints import StoredEndpoint

_UNSHOWN = re.compile(r"//[^/?#@]*@|[?#].*$")
_SCHEMES = {
    "REST": {"http": "http", "https": "https"},
    "WebSocket": {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"},
}


def shown_address(definition: StoredEndpoint) -> str:
    """As it is written: variables by their names, without user, password and parameters."""
    if definition.connection_type == "SDK":
        return definition.function
    method = f"{definition.method} " if definition.connection_type == "REST" else ""
    return method + without_parameters(_joined(definition.url, definition.endpoint_path))


def without_parameters(url: str) -> str:
    """An address without what may be secret in it."""
    return _UNSHOWN.sub(lambda found: "//" if found[0].startswith("//") else "", url)


def address_of(definition: StoredEndpoint, place: Surroundings) -> str:
    """The address that messages go to.

    Raises:
        EndpointError: a variable is not set, or it is no address of the kind that the endpoint has.
    """
    parts = urlsplit(_joined(place.filled(definition.url), place.filled(definition.endpoint_path)))
    known = _SCHEMES[definition.connection_type]
    if parts.scheme not in known or not parts.hostname:
        place.misconfigured(
            f"this is no address with {' or '.join(sorted(known))}",
            f"Such as {next(iter(known))}://localhost:8000/chat.",
        )
    return urlunsplit(parts._replace(scheme=known[parts.scheme], fragment=""))


def _joined(url: str, path: str) -> str:
    """The path stands before the parameters of the address."""
    if not path:
        return url
    before, mark, parameters = url.partition("?")
    return f"{before.rstrip('/')}/{path.lstrip('/')}{mark}{parameters}"
