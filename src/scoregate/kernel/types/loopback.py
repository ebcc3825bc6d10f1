"""Variables that keep requests to this machine away from proxies."""

from __future__ import annotations

from collections.abc import Mapping

_PROXIES = ("http_proxy", "https_proxy", "all_proxy")
_LOOPBACK = ("127.0.0.1", "localhost")


def exclude_from_proxies(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that exclude this machine from proxies, which would look for it on their own machine.

    Args:
        environ: the environment of a program; without a proxy in it, there are no variables.
    """
    if not any(environ.get(name) or environ.get(name.upper()) for name in _PROXIES):
        return {}
    variables = {}
    for name in ("no_proxy", "NO_PROXY"):  # programs read one of the two
        hosts = [host.strip() for host in (environ.get(name) or environ.get(name.swapcase()) or "").split(",")]
        variables[name] = ",".join(filter(None, dict.fromkeys((*hosts, *_LOOPBACK))))
    return variables
