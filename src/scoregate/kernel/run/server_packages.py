"""The packages of local servers, which only some commands need."""

from __future__ import annotations

from importlib.util import find_spec

from scoregate.errors import MissingExtra

_PACKAGES = ("starlette", "uvicorn")


def require_server_packages(user: str) -> None:
    """Check that the packages of local servers are installed.

    Args:
        user: what needs them, with which the message begins.

    Raises:
        MissingExtra: one of them is missing.
    """
    if missing := [name for name in _PACKAGES if find_spec(name) is None]:
        raise MissingExtra(f"{user} needs {' and '.join(missing)}", advice="Run: pip install 'scoregate[cli,server]'")
