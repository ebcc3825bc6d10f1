"""Pipfile.lock as requirements for pip and uv."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scoregate.errors import InstallError
from scoregate.features.setup.install.files import read_bounded
from scoregate.kernel.types.records import record

PIPFILE_LOCK = "Pipfile.lock"
_DEFAULT_INDEX = "https://pypi.org/simple"
_VCS = ("git", "hg", "svn", "bzr")
_ADVICE = "Write the file with `pipenv lock`, or set `install` to a command."


@record
class PipfileLock:
    """The content of Pipfile.lock.

    Args:
        root: the folder of the file.
        content: the file's content.
    """

    root: Path
    content: Mapping[str, Any]

    @property
    def categories(self) -> tuple[str, ...]:
        """The names of its categories besides the default; the development packages have the names of Pipenv's."""
        names = [name for name in self.content if name not in ("_meta", "default")]
        return (*names, "dev", "dev-packages") if "develop" in names else tuple(names)

    def make_requirements(self, categories: tuple[str, ...]) -> str:
        """The packages of some categories, with their hashes, in the format of requirements.txt.

        Raises:
            InstallError: an entry has an unknown form.
        """
        lines = list(self._index_options())
        for category in categories:
            packages = self.content.get(category, {})
            if not isinstance(packages, dict):
                raise _invalid(f"{category!r:.100} is not a table")
            lines += [self._format_package(name, entry) for name, entry in packages.items()]
        if any(control in line for line in lines for control in "\r\n\0"):  # it would begin an option of pip
            raise _invalid("a value has a line break")
        # A package may be in several categories.
        return "".join(f"{line}\n" for line in dict.fromkeys(lines))

    def _index_options(self) -> Iterator[str]:
        meta = self.content.get("_meta")
        sources = meta.get("sources") if isinstance(meta, dict) else None
        urls = [source.get("url") for source in sources or () if isinstance(source, dict)]
        others = [url for url in urls if isinstance(url, str) and url.rstrip("/") != _DEFAULT_INDEX]
        for number, url in enumerate(others):
            # Without PyPI among the sources, no package may come from there.
            is_default = number == 0 and len(others) == len(urls)
            yield f"--index-url {url}" if is_default else f"--extra-index-url {url}"

    def _format_package(self, name: str, entry: object) -> str:
        if not isinstance(entry, dict):
            raise _invalid(f"{name!r:.100} is not a table")
        extras = entry.get("extras")
        requirement = f"{name}[{','.join(map(str, extras))}]" if isinstance(extras, list) else name
        marker = f" ; {entry['markers']}" if "markers" in entry else ""
        path = entry.get("path", entry.get("file"))
        vcs = next((each for each in _VCS if each in entry), None)
        if vcs is not None:
            folder = f"#subdirectory={entry['subdirectory']}" if "subdirectory" in entry else ""
            ref = f"@{entry['ref']}" if "ref" in entry else ""
            return f"{requirement} @ {vcs}+{entry[vcs]}{ref}{folder}{marker}"
        if isinstance(path, str):
            url = path if "://" in path else (self.root / path).resolve().as_uri()
            return f"-e {url}{marker}" if entry.get("editable") is True else f"{requirement} @ {url}{marker}"
        if not isinstance(entry.get("version"), str):
            raise _invalid(f"{name!r:.100} has no version")
        hashes = entry.get("hashes")
        options = "".join(f" --hash={each}" for each in hashes) if isinstance(hashes, list) else ""
        return f"{requirement}{entry['version']}{marker}{options}"


def read_pipfile_lock(root: Path) -> PipfileLock:
    """Read Pipfile.lock.

    Raises:
        InstallError: it is not valid.
    """
    try:
        content = json.loads(read_bounded(root / PIPFILE_LOCK))
    except (ValueError, RecursionError) as error:
        raise _invalid(f"it is not valid JSON: {error}") from None
    if not isinstance(content, dict):
        raise _invalid("it is not a table")
    return PipfileLock(root, content)


def _invalid(problem: str) -> InstallError:
    return InstallError(f"{PIPFILE_LOCK} can't be used: {problem}", advice=_ADVICE)
