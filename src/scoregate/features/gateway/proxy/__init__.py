"""The model gateway: a proxy between suites and providers that keeps the keys, and limits, counts and records calls."""

from scoregate.errors import MissingExtra

try:
    from scoregate.features.gateway.proxy.providers import GatewayProvider, check_address, find_providers
    from scoregate.features.gateway.proxy.server import Gateway, GatewayOptions, open_gateway
except ImportError as error:
    raise MissingExtra(f"the gateway needs {error.name}", advice="pip install 'scoregate[cli,gateway]'") from None

__all__ = ["Gateway", "GatewayOptions", "GatewayProvider", "check_address", "find_providers", "open_gateway"]
