"""Suites that need something of the environment, such as a model's key, which a fork's job does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from scoregate.ci.plan import Found, Skipped, Source
from scoregate.ci.settings import Settings


def with_needs(found: Found, settings: Settings, environ: Mapping[str, str], *, spared: bool) -> Found:
    """What was found, less what lacks something that the settings say it needs.

    Args:
        environ: the environment. spared: what lacks something is left out and told; else it cannot run.
    """
    lacking = {source: missing for source in found.sources if (missing := _missing(source, settings, environ))}
    if not spared:
        sources = (_broken(source, lacking.get(source)) for source in found.sources)
        return replace(found, sources=tuple(sources))
    left_out = tuple(Skipped(source.path, _told(source, missing), suite_ids=source.suite_ids or ())
                     for source, missing in lacking.items())  # fmt: skip
    return replace(
        found,
        sources=tuple(source for source in found.sources if source not in lacking),
        skipped=(*found.skipped, *left_out),
        notices=(*found.notices, *(f"{each.path} was left out: {each.why}" for each in left_out)),
    )


def _missing(source: Source, settings: Settings, environ: Mapping[str, str]) -> tuple[str, ...]:
    names = (*(source.suite_ids or ()), source.path)
    needs = (*source.needs, *_needs(names, settings))
    return tuple(dict.fromkeys(need for need in needs if not environ.get(need)))


def _needs(names: tuple[str, ...], settings: Settings) -> Iterator[str]:
    for glob, suite in settings.suites.items():
        if any(fnmatchcase(name, glob) for name in names):
            yield from suite.needs


def _broken(source: Source, missing: tuple[str, ...] | None) -> Source:
    if not missing or source.error is not None:
        return source
    return replace(source, error=f"{source.path}: {_told(source, missing)}")


def _told(source: Source, missing: tuple[str, ...]) -> str:
    verb = "is" if len(missing) == 1 else "are"
    who = "its endpoint needs" if set(missing) <= set(source.needs) else "the settings say it needs"
    return f"{', '.join(missing)} {verb} not set, which {who}"
