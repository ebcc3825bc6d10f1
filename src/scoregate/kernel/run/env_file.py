"""Variables for suites from a file such as `.env`."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from scoregate.errors import SettingsError
from scoregate.kernel.judge.settings import Settings

_MOST_BYTES = 1 << 20
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# These would change what runs, or how it is judged, without a trace in the settings.
_SETTING = re.compile(r"(?!SCOREGATE_MODEL_API_KEY$)SCOREGATE_|AUTOBLOCKS_(FILTERS|OVERRIDES)|INPUT_", re.IGNORECASE)


def read_env_file(root: Path, settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of the file that `env_file` names, without those that the environment has.

    Only suites get them: the host's own variables, such as the address of a proxy, must not come from a file of the
    project. Values are taken as they are written, so a file can't copy a token of the job.

    Args:
        root: the folder of the project.
        settings: the settings of the project.
        environ: the host's environment.

    Raises:
        SettingsError: the file can't be read, a line of it isn't valid, or it sets a setting of scoregate.
    """
    if settings.env_file is None:
        return {}
    path = root / settings.env_file
    where = f"env_file = {settings.env_file!r:.200} ({settings.origin('env_file')})"
    try:
        if settings.is_from_file("env_file") and not path.exists():
            return {}  # a project's settings name the file of developers, which CI doesn't have
        if not path.is_file():
            problem = "is not a file" if path.exists() else "does not exist"
            raise SettingsError(f"{where}: {path} {problem}")
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise SettingsError(f"{where}: the file has more than {_MOST_BYTES >> 20} MB")
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise SettingsError(f"{where}: {path} can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{where}: {path} is not UTF-8") from None
    return {name: value for name, value in _parse(text, settings.env_file) if name not in environ}


def _parse(text: str, shown: str) -> Iterator[tuple[str, str]]:
    from dotenv.parser import parse_stream

    for binding in parse_stream(io.StringIO(text)):
        line = binding.original.line + len(binding.original.string) - len(binding.original.string.lstrip("\r\n"))
        place = f"{shown}:{line}"
        if binding.error or (binding.key is not None and not _NAME.fullmatch(binding.key)):
            raise SettingsError(f"{place}: this line can't be read; write it as NAME=value")
        if binding.key is None or binding.value is None:
            continue
        if "\0" in binding.value:
            raise SettingsError(f"{place}: the value of {binding.key} has a null character")
        if _SETTING.match(binding.key):
            raise SettingsError(
                f"{place}: {binding.key} is a setting of scoregate, which this file can't set",
                advice="Write it into scoregate.toml, or set it in the environment.",
            )
        yield binding.key, binding.value
