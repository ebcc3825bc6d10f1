"""What of our environment the user's code may see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_PREFIXES = ("INPUT_", "ACTIONS_")
_NAMES = frozenset(
    {"GITHUB_TOKEN", "GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"}
)
# What a runner's host leaks into its steps, and what would mislead the interpreter that we chose.
_LEAKS = frozenset({"LD_LIBRARY_PATH", "pythonLocation", "VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT", "PYTHONHOME"})
_SHORTEST = 8


def visible(environ: Mapping[str, str]) -> dict[str, str]:
    """The host's environment without CI's tokens, inputs and command files, whatever the variable that carries one."""
    given = set(_tokens(environ))
    return {
        name: value
        for name, value in environ.items()
        if not _forbidden(name, environ) and not any(token in value for token in given)
    }


def _tokens(environ: Mapping[str, str]) -> Iterator[str]:
    for name, value in environ.items():
        if (
            name.startswith((*_PREFIXES, "GITHUB_", "SCOREGATE_"))
            and name.endswith("TOKEN")
            and len(value) >= _SHORTEST
        ):
            yield value


def _forbidden(name: str, environ: Mapping[str, str]) -> bool:
    if name in _NAMES or name.startswith(_PREFIXES):
        return True
    leaked = name in _LEAKS or name.startswith("UV_PYTHON")
    return leaked and environ.get("GITHUB_ACTIONS") == "true"
