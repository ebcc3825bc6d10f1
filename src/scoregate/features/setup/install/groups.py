"""The dependency groups and extras that the setting `install_groups` names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from scoregate.errors import InstallError
from scoregate.kernel.types.records import record

_MOST_LISTED = 20


@record
class WantedGroups:
    """The names in the setting, and where it is set."""

    names: tuple[str, ...] = ()
    origin: str = "default"

    def choose(self, available: Mapping[str, Iterable[str]], *, source: str, advice: str = "") -> ChosenGroups:
        """The wanted names, as the project's files spell them, by kind.

        Args:
            available: the names that exist, by kind, such as `extra`.
            source: the files that list them.
            advice: what to do about a name that is missing.

        Raises:
            InstallError: a name exists in no kind.
        """
        known = {kind: {normalize_name(name): name for name in names} for kind, names in available.items()}
        for wanted in self.names:
            if not any(normalize_name(wanted) in names for names in known.values()):
                raise InstallError(
                    f"install_groups ({self.origin}) names {wanted!r:.100}, but {source} has no such group; "
                    f"{_describe(known)}",
                    advice=advice or "Correct the name, or add the group.",
                )
        keys = [normalize_name(wanted) for wanted in self.names]
        return ChosenGroups(
            {kind: tuple(dict.fromkeys(names[key] for key in keys if key in names)) for kind, names in known.items()}
        )


@record
class ChosenGroups:
    """The chosen names by kind."""

    by_kind: Mapping[str, tuple[str, ...]]

    def of(self, *kinds: str) -> tuple[str, ...]:
        """The names of some kinds."""
        return tuple(name for kind in kinds for name in self.by_kind.get(kind, ()))


def normalize_name(name: str) -> str:
    """The form in which names of groups and extras are compared (PEP 685)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _describe(known: Mapping[str, Mapping[str, str]]) -> str:
    parts = []
    for kind, names in known.items():
        if names:
            listed = ", ".join(f"{name:.100}" for name in sorted(names.values())[:_MOST_LISTED])
            parts.append(f"{kind}: {listed}{', …' if len(names) > _MOST_LISTED else ''}")
    return f"it has {'; '.join(parts)}" if parts else "it has none"
