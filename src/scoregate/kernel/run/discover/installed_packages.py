"""Installed packages that start suites: helpers that a company shares between its projects."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from scoregate.kernel.run.discover.files import PYTHON, open_nonblocking

_ENVIRONMENTS = (".venv", "venv")
_MOST_FOLDERS = 20
_MOST_FILES = 40  # of a package
_MOST_BYTES = 256 * 1024
# An SDK's name in an import; other words would find packages that only mention one.
_IMPORTS = (b"import scoregate", b"from scoregate", b"import autoblocks", b"from autoblocks")


@dataclass(slots=True)
class InstalledPackages:
    """The packages in some folders of installed packages. Only those are found that import an SDK which starts suites.

    Looked at are the modules directly in a package's folder, so that a large package without suites costs little.
    """

    folders: Sequence[str] = ()
    _found: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def find(self, name: str) -> tuple[str, ...]:
        """The folders that hold the top-level package or module of this name, if it imports an SDK."""
        if name not in self._found:
            # A name that no import has, or one of Python's own.
            is_known = not name.isidentifier() or name in sys.stdlib_module_names
            holders = () if is_known else (each for each in self.folders if _starts_suites(each, name))
            self._found[name] = tuple(islice(holders, 1))
        return self._found[name]


def find_site_packages(root: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The folders of installed packages: those of the project's virtual environment, and of this process.

    Args:
        root: the folder of the project.
        environ: the host's environment.
    """
    homes = [root / name for name in _ENVIRONMENTS]
    if active := environ.get("VIRTUAL_ENV"):
        homes.append(Path(active))
    folders = dict.fromkeys(str(path) for home in homes for path in _list_site_packages(home))
    folders |= dict.fromkeys(path for path in sys.path if path.endswith(("site-packages", "dist-packages")))
    return tuple(folders)[:_MOST_FOLDERS]


def _list_site_packages(home: Path) -> Iterator[Path]:
    try:
        yield from sorted(home.glob("lib/python3.*/site-packages"))[:2]
        yield from sorted(home.glob("Lib/site-packages"))[:1]
    except OSError:
        return


def _starts_suites(folder: str, name: str) -> bool:
    package = Path(folder, name)
    try:
        with os.scandir(package) as entries:
            paths = [entry.path for entry in islice(entries, 10 * _MOST_FILES) if entry.name.endswith(PYTHON)]
    except OSError:  # a module of one file
        paths = [f"{package}{PYTHON}"]
    return any(any(word in content for word in _IMPORTS) for content in map(_read, sorted(paths)[:_MOST_FILES]))


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", opener=open_nonblocking) as file:
            return file.read(_MOST_BYTES)
    except OSError:
        return b""
