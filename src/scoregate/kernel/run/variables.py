"""Variables of suites: a file such as `.env`, and those that suites need (`needs`)."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from scoregate.errors import SettingsError
from scoregate.kernel.judge.settings import Settings, SuiteSettings
from scoregate.kernel.run.launch import EventsReceived, Finished, LaunchEvent
from scoregate.kernel.run.plan import DiscoveredSuites, Plan, SkippedSource, SuiteSource
from scoregate.kernel.run.run_recorder import RunRecorder
from scoregate.kernel.types.event_values import ErrorInfo
from scoregate.kernel.types.events import Event, SuiteStarted
from scoregate.kernel.types.runs.run import Script
from scoregate.kernel.types.runs.suite_labels import suite_label

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


_IN_SETTINGS = "the settings list as needed"
_MOST_NAMES = 5


def check_required_env(
    suites: DiscoveredSuites, settings: Settings, environ: Mapping[str, str], *, skip_missing: bool
) -> DiscoveredSuites:
    """Skip or fail suites that need variables, such as a model's key, which a fork's job does not have.

    Args:
        suites: the suites.
        settings: name what suites need.
        environ: the environment.
        skip_missing: skip suites whose variables are not set, with a notice, instead of failing them.
    """
    missing: dict[SuiteSource, tuple[str, ...]] = {}
    for source in suites.sources:
        names = (*(source.suite_ids or ()), source.path)
        tables = [table for glob, table in settings.suites.items() if any(fnmatchcase(name, glob) for name in names)]
        needs = (*source.needs, *(need for table in tables for need in table.needs))
        if unset := tuple(dict.fromkeys(need for need in needs if not environ.get(need))):
            missing[source] = unset
    if not skip_missing:
        sources = tuple(
            replace(source, error=f"{source.path}: {_describe_source(source, missing[source])}")
            if source in missing and source.error is None
            else source
            for source in suites.sources
        )
        return replace(suites, sources=sources)
    skipped = tuple(
        SkippedSource(source.path, _describe_source(source, names), suite_ids=source.suite_ids or (), needs=names)
        for source, names in missing.items()
    )
    return replace(
        suites,
        sources=tuple(source for source in suites.sources if source not in missing),
        skipped=(*suites.skipped, *skipped),
        notices=(*suites.notices, *(f"{each.path} was skipped: {each.why}" for each in skipped)),
    )


def _describe_source(source: SuiteSource, missing: tuple[str, ...]) -> str:
    return _describe(missing, "its endpoint needs" if set(missing) <= set(source.needs) else _IN_SETTINGS)


def _describe(missing: tuple[str, ...], reason: str) -> str:
    return f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set, which {reason}"


@dataclass
class LateNeeds:
    """Leaves out the suites whose name is only known once they report, as in result files.

    Args:
        settings: name what suites need.
        environ: the environment.
        skip_missing: whether the rest of the run counts; else the scripts of such suites fail.
        left_out: why each suite was left out, by its id.
    """

    settings: Settings
    environ: Mapping[str, str]
    skip_missing: bool
    left_out: dict[str, str] = field(default_factory=dict)
    _why: dict[tuple[str, str, str], str] = field(default_factory=dict)
    _scripts: dict[str, dict[str, str]] = field(default_factory=dict)

    @cached_property
    def tables(self) -> Mapping[str, SuiteSettings]:
        """The tables that name variables, by their globs."""
        return {glob: table for glob, table in self.settings.suites.items() if table.needs}

    def apply(self, event: LaunchEvent) -> LaunchEvent:
        """The event without what such suites report; the end of their script is an error unless they are skipped."""
        if not self.tables:
            return event
        if isinstance(event, EventsReceived):
            kept = [each for each in event.events if not self._find_reason(event.script, event.log, each)]
            return event if len(kept) == len(event.events) else replace(event, events=kept)
        if isinstance(event, Finished) and not self.skip_missing and event.script.name in self._scripts:
            return replace(event, script=self._fail(event.script))
        return event

    def _fail(self, script: Script) -> Script:
        message = "; ".join(f"suite {suite}: {why}" for suite, why in self._scripts[script.name].items())
        error = ErrorInfo("MissingVariables", message, advice="Set them where the suites run.")
        # Exit code 1 would be excused by a failed assertion of another suite, or of one that was left out.
        exit_code = 0 if script.exit_code == 1 else script.exit_code
        return replace(script, exit_code=exit_code, tests_failed=False, error=error)

    def _find_reason(self, script: str, log: str, event: Event) -> str:
        key = (script, log, event.suite)
        if isinstance(event, SuiteStarted):
            names = (event.suite, suite_label(event.suite, event.params))
            tables = [table for glob, table in self.tables.items() if _matches(names, glob)]
            needs = dict.fromkeys(need for table in tables for need in table.needs)
            missing = tuple(need for need in needs if not self.environ.get(need))
            self._why[key] = why = _describe(missing, _IN_SETTINGS) if missing else ""
            if why:
                self.left_out[event.suite] = why
                self._scripts.setdefault(script, {})[event.suite] = why
        return self._why.get(key, "")

    def finish(self, recording: RunRecorder, plan: Plan | None) -> None:
        """Add the notices about suites that were left out, and drop the scripts that have no other.

        Args:
            recording: the run at its end.
            plan: the plan; None if it isn't the run of the change, or was stopped.
        """
        if self.skip_missing:
            recording.notices += (f"{suite} was skipped: {why}" for suite, why in self.left_out.items())
        empty = self._scripts.keys() - {suite.script for suite in recording.reducer.suites.values()}
        recording.scripts = [
            script
            for script in recording.scripts
            if script.name not in empty or script.error is not None or (script.exit_code and not script.tests_failed)
        ]
        recording.notices += () if plan is None else self._list_unused(plan, recording)

    def _list_unused(self, plan: Plan, recording: RunRecorder) -> Iterator[str]:
        """A notice for each `needs` that applies to nothing in a whole run, for example because of a typo."""
        suites = recording.reducer.results() if self.tables else ()
        reported = {suite.script for suite in suites}
        is_part = plan.narrowed or self.settings.filters or plan.shard is not None or plan.carried is not None
        if is_part or plan.broken or plan.unset or any(script.name not in reported for script in recording.scripts):
            return
        names = [name for suite in suites for name in (suite.id, suite.label)]
        names += [name for each in plan.launches for name in (each.source.path, *(each.source.suite_ids or ()))]
        names += self.left_out
        known = ", ".join(sorted({suite.id for suite in suites})[:_MOST_NAMES]) or "none"
        for glob in self.tables:
            if not _matches(names, glob):
                place = self.settings.origin("suites", glob, "needs")
                yield f'`needs` of [suites."{glob}"] ({place}) applies to nothing; these suites ran: {known}'


def _matches(names: Iterable[str], glob: str) -> bool:
    return any(fnmatchcase(name, glob) for name in names)
