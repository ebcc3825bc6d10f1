"""From a stored definition to something that conversations can be had with."""

from __future__ import annotations

from collections.abc import Mapping

from scoregate.endpoints.addresses import shown_address
from scoregate.endpoints.surroundings import Surroundings
from scoregate.endpoints.target import EndpointTarget, Wire
from scoregate.errors import MissingExtra
from scoregate.store.endpoints import StoredEndpoint


def open_target(definition: StoredEndpoint, *, environment: Mapping[str, str] | None = None) -> EndpointTarget:
    """The endpoint, ready to be called; connections are opened when they are first needed, one client for a run.

    Args:
        definition: as it is stored. environment: what its variables are looked up in; that of the process if not given.

    Raises:
        EndpointError: it cannot be called as it is defined, or a variable is not set.
        MissingExtra: a package that it takes is not installed.
    """
    place = Surroundings(definition.title, shown_address(definition), environment=environment)
    try:
        return EndpointTarget(definition.title, _wire(definition, place))
    except ImportError as error:
        if error.name and error.name.partition(".")[0] in ("httpx", "jinja2", "websockets"):
            said = f"endpoints take the package {error.name}, which is not installed"
            raise MissingExtra(said, advice="Run: pip install 'scoregate[endpoints]'") from None
        raise


def _wire(definition: StoredEndpoint, place: Surroundings) -> Wire:
    if definition.connection_type == "WebSocket":
        from scoregate.endpoints.websocket import WebSocket

        return WebSocket(definition, place)
    if definition.connection_type == "SDK":
        from scoregate.endpoints.function import Function

        return Function(definition, place)
    from scoregate.endpoints.rest import Rest

    return Rest(definition, place)
