"""Redirects Autoblocks' SDK, if a program imports it, to the address in `SCOREGATE_CLOUD`.

It runs in the user's Python, 3.8 or newer, at the start of every Python program that the user's command runs. So it
can't import scoregate, and it must not import anything slow. A Python that ignores its environment (`python -I`, `-E`,
`-S`) does not run it.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType
else:
    Loader = object

CONSTANTS = "autoblocks._impl.config.constants"
PLACES = {
    "https://api.autoblocks.ai": "",
    "https://api-v2.autoblocks.ai": "/v2",
    "https://ingest-event.autoblocks.ai": "/ingest",
}


class _Redirecting(Loader):
    """Loads a module with another loader, then changes the addresses in it."""

    def __init__(self, loader: Loader, cloud: str) -> None:
        self._loader, self._cloud = loader, cloud

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        for name, value in list(vars(module).items()):
            if isinstance(value, str) and value.rstrip("/") in PLACES:
                setattr(module, name, self._cloud + PLACES[value.rstrip("/")])


class _Finder:
    """Finds the one module that contains the addresses; Python calls it for every import."""

    def __init__(self, cloud: str) -> None:
        self._cloud = cloud

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != CONSTANTS:
            return None
        # Finders in the style of before Python 3.4 have no such method; Python skips them, too.
        others = (getattr(finder, "find_spec", None) for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (find(fullname, path, target) for find in others if find is not None)), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _Redirecting(spec.loader, self._cloud)
        return spec


def _run_next() -> None:
    """Run the next `sitecustomize` on the import path, which this one hides from Python."""
    folder = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    spec = PathFinder.find_spec("sitecustomize", [entry for entry in sys.path if os.path.abspath(entry) != folder])  # noqa: PTH100
    if spec is None or spec.loader is None:
        return
    from importlib.util import module_from_spec

    module = sys.modules["sitecustomize"] = module_from_spec(spec)
    spec.loader.exec_module(module)


if os.environ.get("SCOREGATE_CLOUD"):
    sys.meta_path.insert(0, _Finder(os.environ["SCOREGATE_CLOUD"]))
_run_next()
