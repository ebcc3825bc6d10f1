"""Names of a package that are imported when they are first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module


def make_getattr(package: str, names: Mapping[str, Iterable[str]]) -> Callable[[str], object]:
    """Make the `__getattr__` of a package.

    Args:
        package: the name of the package.
        names: the names by the module that defines them; `.module` is a module of the package.
    """
    modules = {name: module for module, defined in names.items() for name in defined}

    def import_name(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(modules[name], package), name)
        setattr(sys.modules[package], name, value)  # the next access is a plain one
        return value

    return import_name


def make_dir(package: str) -> Callable[[], list[str]]:
    """Make the `__dir__` of a package: prompts and editors complete its public names, imported or not; no helpers."""

    def list_names() -> list[str]:
        names = vars(sys.modules[package])
        return sorted({*(name for name in names if name.startswith("__")), *names["__all__"]})

    return list_names
