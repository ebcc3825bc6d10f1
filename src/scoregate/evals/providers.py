"""Applications that a converted suite calls: programs, Python files and HTTP addresses, as promptfoo calls them."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache, partial
from inspect import isawaitable, iscoroutinefunction
from pathlib import Path
from typing import Any

from scoregate.errors import InvalidSuite

_MOST_BYTES = 20_000_000
_SECONDS = 300
_LONGEST_ERROR = 2_000
_VARIABLE = re.compile(r"\{\{\s*(env\.)?([\w.]+)\s*\}\}")


class ProviderFailed(Exception):
    """The application under test gave no answer."""


async def call_provider(kind: str, prompt: str, values: Mapping[str, Any], folder: Path, /, **options: Any) -> Any:
    """Ask an application.

    Args:
        kind: "exec", "python" or "http".
        prompt: the prompt.
        values: the variables of the case.
        folder: the folder that paths are relative to.
        options: `command`, `file`, `function` and `config`, or `url`, `method`, `headers`, `body` and `path`.

    Returns:
        The answer: a text, or JSON types.

    Raises:
        ProviderFailed: there is no answer.
        InvalidSuite: there is no such kind.
    """
    if kind not in _KINDS:
        raise InvalidSuite(f"there is no provider {kind!r:.60}; there are {', '.join(_KINDS)}")
    return await _KINDS[kind](prompt, values, folder, **options)


async def _run_program(
    prompt: str, values: Mapping[str, Any], folder: Path, *, command: Sequence[str], config: Mapping[str, Any]
) -> str:
    """What a program prints. Its last arguments are the prompt, the settings and the variables."""
    import anyio

    arguments = [*command, prompt, json.dumps({"config": config}), json.dumps({"vars": values})]
    with anyio.fail_after(_SECONDS):
        done = await anyio.run_process(arguments, cwd=folder, check=False, stdin=subprocess.DEVNULL)
    errors = done.stderr.decode(errors="replace").strip()[-_LONGEST_ERROR:]
    if done.returncode:
        raise ProviderFailed(f"{command[0]} exited with code {done.returncode}: {errors}")
    answer = done.stdout[:_MOST_BYTES].decode(errors="replace").strip()
    if not answer:
        raise ProviderFailed(f"{command[0]} printed no answer to its standard output; its errors: {errors or 'none'}")
    return answer


async def _call_function(
    prompt: str, values: Mapping[str, Any], folder: Path, *, file: str, function: str, config: Mapping[str, Any]
) -> Any:
    """What a function of a Python file returns: the output, or an object with `output` or `error`.

    As in promptfoo, an object without an output is an error, and never an answer that lacks what must not be in it.
    """
    from anyio import to_thread

    call = getattr(_load_module(folder / file), function, None)
    if not callable(call):
        raise InvalidSuite(f"{file} has no function {function}")
    bound = partial(call, prompt, {"config": dict(config)}, {"vars": dict(values)})
    result = await bound() if iscoroutinefunction(call) else await to_thread.run_sync(bound)
    result = await result if isawaitable(result) else result
    if isinstance(result, Mapping) and result.get("error"):
        raise ProviderFailed(str(result["error"])[:_LONGEST_ERROR])
    answer = result.get("output") if isinstance(result, Mapping) else result
    if answer is None:
        fields = f"an object without an output, with the fields {list(result)!r:.200}" if result is not None else "None"
        raise ProviderFailed(
            f"{function} of {file} returned {fields}; it must return {{'output': …}} or {{'error': …}}"
        )
    return answer


@cache
def _load_module(path: Path) -> Any:
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(f"scoregate_provider_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InvalidSuite(f"there is no Python file {path}")
    module = module_from_spec(spec)
    _add_to_path(str(path.parent))
    spec.loader.exec_module(module)
    return module


@cache
def _add_to_path(folder: str) -> None:
    """Make the modules of a folder importable. It stays, since calls import modules, too, and several run at once."""
    import sys

    sys.path.insert(0, folder)


async def _send_request(
    prompt: str,
    values: Mapping[str, Any],
    _folder: Path,
    *,
    url: str,
    method: str,
    headers: Mapping[str, str],
    body: Any = None,
    path: Sequence[str | int] | None = None,
) -> Any:
    """The answer of an address: the value at a path in its JSON, or all of it."""
    from anyio import to_thread

    known = {**values, "prompt": prompt}
    data = None if body is None else _fill(body, known)
    content = None if data is None else data.encode() if isinstance(data, str) else json.dumps(data).encode()
    given = {name: str(_fill(value, known)) for name, value in headers.items()}
    if content is not None and "content-type" not in {name.lower() for name in given}:
        given["Content-Type"] = "text/plain" if isinstance(data, str) else "application/json"
    text = await to_thread.run_sync(partial(_read_address, str(_fill(url, known)), method, given, content))
    return _find(text, path)


def _read_address(url: str, method: str, headers: Mapping[str, str], content: bytes | None) -> str:
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    if not url.startswith(("http://", "https://")):
        raise ProviderFailed(f"the address {url.partition('?')[0]:.100} doesn't start with http:// or https://")
    request = Request(url, content, dict(headers), method=method)  # checked above
    try:
        with urlopen(request, timeout=_SECONDS) as response:
            answer: bytes = response.read(_MOST_BYTES)
    except HTTPError as error:
        start = error.read(_LONGEST_ERROR).decode(errors="replace")
        raise ProviderFailed(f"the status is {error.code}: {start}") from None
    except (URLError, OSError) as error:
        raise ProviderFailed(f"no answer: {error}") from None
    return answer.decode(errors="replace")


def _fill(value: Any, known: Mapping[str, Any]) -> Any:
    """Put variables into the texts of a value. A text that is one variable keeps the variable's type."""
    if isinstance(value, Mapping):
        return {name: _fill(each, known) for name, each in value.items()}
    if isinstance(value, list):
        return [_fill(each, known) for each in value]
    if not isinstance(value, str):
        return value
    if (whole := _VARIABLE.fullmatch(value.strip())) is not None:
        return _look_up(whole, known)
    return _VARIABLE.sub(lambda match: _to_text(_look_up(match, known)), value)


def _look_up(match: re.Match[str], known: Mapping[str, Any]) -> Any:
    if match[1]:
        if (variable := os.environ.get(match[2])) is None:
            raise ProviderFailed(f"the environment variable {match[2]} is not set")
        return variable
    value: Any = known
    for name in match[2].split("."):
        if not isinstance(value, Mapping) or name not in value:
            raise ProviderFailed(f"the case has no variable {match[2]}")
        value = value[name]
    return value


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _find(text: str, path: Sequence[str | int] | None) -> Any:
    if not text.strip():
        raise ProviderFailed("the answer is empty")
    try:
        value = json.loads(text)
    except ValueError:
        if path:
            raise ProviderFailed(f"the answer is not JSON: {text[:200]}") from None
        return text
    for part in path or ():
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            raise ProviderFailed(f"the answer has no {part!r:.60}: {text[:200]}") from None
    if value is None:
        raise ProviderFailed(f"the answer has null as its output: {text[:200]}")
    return value


_KINDS: Mapping[str, Callable[..., Awaitable[Any]]] = {
    "exec": _run_program,
    "python": _call_function,
    "http": _send_request,
}
