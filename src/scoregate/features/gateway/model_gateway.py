"""The model gateway of a run: its providers, the environment of suites, and what it adds to their results."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from scoregate.errors import SettingsError
from scoregate.features.gateway.declare import CASSETTES, GATEWAY, GatewayMode
from scoregate.features.gateway.folders import copy_folders
from scoregate.features.gateway.proxy import (
    Gateway,
    GatewayOptions,
    GatewayProvider,
    check_address,
    find_providers,
    open_gateway,
)
from scoregate.features.gateway.proxy.sessions import SuiteSession
from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.job.baseline.artifact import fetch_cassettes
from scoregate.kernel.job.job import JobContext
from scoregate.kernel.judge.archive import RUN_FOLDER
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.types.records import record
from scoregate.models.providers import DEFAULT, PROVIDERS, resolve_target, split_project_name
from scoregate.models.settings import ModelSettings, load_model_settings

CASSETTES_FOLDER = "cassettes"
_DEFAULT_FOLDER = ".scoregate/cassettes"
_PLACEHOLDER = "sk-scoregate"
_MODEL_KEY, _MODEL_ADDRESS = "SCOREGATE_MODEL_API_KEY", "SCOREGATE_MODEL_BASE_URL"
_HOSTS_VARIABLE = "SCOREGATE_GATEWAY_HOSTS"
_SHORTEST_KEY = 8


@record
class ModelGateway:
    """The gateway of a run.

    Attributes:
        gateway: the running gateway.
        setup: what it was made of.
    """

    gateway: Gateway
    setup: GatewaySetup

    @property
    def notices(self) -> tuple[str, ...]:
        """The notices for the report."""
        return (self.setup.note,) if self.setup.note else self.setup.problems

    def hide_keys(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The environment without keys under any name, with a placeholder where suites get a token."""
        kept = {
            name: value
            for name, value in environ.items()
            if name not in self.setup.key_variables and not any(key in value for key in self.setup.keys)
        }
        served = (name for each in self.setup.options.providers.values() for name in each.key_variables)
        return {**kept, **dict.fromkeys(served, _PLACEHOLDER)}

    def make_environment(self, session: SuiteSession, environment: Mapping[str, str]) -> dict[str, str]:
        """The environment of a suite: without keys, with its token and the addresses of the gateway."""
        variables = self.gateway.suite_environment(session)
        exceptions = environment.get("NO_PROXY") or environment.get("no_proxy")
        own = {"127.0.0.1", "localhost", urlsplit(self.gateway.address).hostname or ""}
        direct = ",".join(filter(None, (exceptions, *sorted(own))))
        return {**self.hide_keys(environment), **variables, "NO_PROXY": direct, "no_proxy": direct}


@asynccontextmanager
async def open_model_gateway(
    context: JobContext, variables: Mapping[str, str], scratch: Path
) -> AsyncIterator[ModelGateway]:
    """The gateway of a run until the block ends.

    The job of a fork's pull request has no keys. If cassettes are kept with runs, it replays those of the base: what
    the change doesn't affect is measured.

    Args:
        context: where the run takes place; its environment has the keys.
        variables: the variables of `env_file`.
        scratch: a folder of the host for temporary files, which suites can't read.

    Raises:
        SettingsError: the settings of the gateway don't fit together.
    """
    environ = {**variables, **context.environ}
    if context.subject is not None and context.subject.request is not None:
        check_addresses(context.settings, context.environ)
        environ = dict(context.environ)  # a file of the change can't choose addresses either
    setup = prepare_gateway(
        context.root,
        context.settings,
        environ,
        scratch,
        redact=context.redact,
        kept_cassettes=context.out / RUN_FOLDER / CASSETTES_FOLDER,
    )
    if context.skips_missing and not setup.keys and CASSETTES.of(context.settings) == "artifact":
        setup = await _replay_base(setup, context, environ, scratch / CASSETTES_FOLDER)
    with setup.open() as running:
        yield running


async def _replay_base(
    setup: GatewaySetup, context: JobContext, environ: Mapping[str, str], folder: Path
) -> GatewaySetup:
    folder.mkdir()  # noqa: ASYNC240
    source = await fetch_cassettes(context.connection, context.base, folder)
    custom = GATEWAY.of(context.settings).providers
    options = replace(
        setup.options,
        mode=GatewayMode.REPLAY,
        providers=find_providers(environ, custom, replays=True),
        record_to=None,
        replay_from=(folder,),
    )
    note = f"this job has no key of a provider, so calls of models are answered from recordings: {source}"
    return replace(setup, options=options, note=note)


@record
class GatewaySetup:
    """A gateway that can be opened.

    Attributes:
        options: how it works.
        key_variables: the variables that may contain a provider's key; suites get none of them.
        keys: the keys.
        note: why answers are only replayed, for the report; empty if they aren't, or the settings say so.
        problems: what suites can't use, for the report.
    """

    options: GatewayOptions
    key_variables: frozenset[str]
    keys: frozenset[str]
    note: str = ""
    problems: tuple[str, ...] = ()

    @contextmanager
    def open(self) -> Iterator[ModelGateway]:
        """Serve until the block ends.

        Raises:
            OSError: the address can't be used, or a cassette can't be written.
            UsageError: a folder in the workspace has a link in its path, or can't be read or written.
        """
        with copy_folders(self.options, os.environ) as options, open_gateway(options) as running:
            yield ModelGateway(running, self)


def prepare_gateway(
    root: Path,
    settings: Settings,
    environ: Mapping[str, str],
    scratch: Path,
    *,
    redact: Redactor,
    kept_cassettes: Path | None = None,
) -> GatewaySetup:
    """Find the providers and the cassettes of a project's gateway.

    Args:
        root: the project.
        settings: its settings.
        environ: the variables with keys and addresses.
        scratch: a folder of the host for temporary files, which suites can't read.
        redact: removes secrets from what is recorded.
        kept_cassettes: the folder of cassettes that are kept with a run; None if there is no run.

    Raises:
        SettingsError: the settings of the gateway don't fit together.
    """
    mode = GATEWAY.of(settings).mode
    models = load_model_settings({**environ, **settings.environment(root=root)})
    providers = _find_providers(settings, environ, models, replays=mode is GatewayMode.REPLAY)
    names = {name for known in PROVIDERS.values() for name in known.keys} | {_MODEL_KEY}
    names |= {each.key_env for each in GATEWAY.of(settings).providers.values() if each.key_env}
    folder = find_cassettes_folder(root, settings, kept_cassettes)
    options = GatewayOptions(
        mode,
        providers,
        scratch,
        redact.text,
        max_cost=settings.max_cost,
        max_tokens=settings.max_tokens,
        prices=models.prices,
        cache_mode=models.cache,
        cache_folder=models.cache_folder,
        record_to=folder if mode is GatewayMode.RECORD else None,
        replay_from=(folder,) if folder is not None and mode is GatewayMode.REPLAY else (),
    )
    keys = {environ[name] for name in names if len(environ.get(name, "")) >= _SHORTEST_KEY}
    problems = tuple(_describe_missing_keys(settings, providers))
    return GatewaySetup(options, frozenset(names), frozenset(keys), problems=problems)


def _describe_missing_keys(settings: Settings, providers: Mapping[str, GatewayProvider]) -> Iterator[str]:
    for name, provider in providers.items():
        if provider.missing_key:
            origin = settings.origin("gateway", "providers", name, "key_env")
            yield (
                f"{provider.missing_key} is not set (named in gateway.providers.{name}.key_env, {origin}), "
                f"so the gateway refuses calls of {name}"
            )
    if not providers:
        mode, origin = GATEWAY.of(settings).mode, settings.origin("gateway", "mode")
        yield (
            f"gateway = {mode} ({origin}), but no provider has a key, so suites can't ask models through it; "
            "set the variable of a provider, such as OPENAI_API_KEY"
        )


def find_cassettes_folder(root: Path, settings: Settings, kept: Path | None) -> Path | None:
    """The folder of cassettes; None if none are kept.

    Args:
        root: the project.
        settings: its settings.
        kept: the folder of cassettes that are kept with a run; None if there is no run, as in `scoregate gateway`.

    Raises:
        SettingsError: the folder is outside of the project, or outputs of models may not be kept with the run.
    """
    cassettes, origin = CASSETTES.of(settings), settings.origin(CASSETTES.name)
    if cassettes == "none":
        return None
    if cassettes == "artifact":
        if settings.show_outputs == "none":
            raise SettingsError(
                f'cassettes = "artifact" ({origin}) contradicts show_outputs = "none": '
                "cassettes contain the outputs of models",
                advice='Set cassettes to a folder, or to "none".',
            )
        return kept or root / _DEFAULT_FOLDER
    folder = (root / cassettes).resolve()
    if not folder.is_relative_to(root.resolve()):
        raise SettingsError(f"cassettes = {cassettes!r:.200} ({origin}) is outside of the project")
    return folder


def _find_providers(
    settings: Settings, environ: Mapping[str, str], models: ModelSettings, *, replays: bool
) -> dict[str, GatewayProvider]:
    """The providers, with the project's own model under the name `model` if it has an address or key of its own."""
    project_provider, _ = split_project_name(models.model or DEFAULT, models, environ)
    providers = find_providers(
        environ, GATEWAY.of(settings).providers, replays=replays, project_provider=project_provider
    )
    if models.base_url is not None or models.key is not None:
        target = resolve_target(models.model or DEFAULT, settings=models, environ=environ)
        address = check_address(target.base_url, "the address of the project's model").rstrip("/")
        variables = {_MODEL_ADDRESS: "/v1"}
        key = "" if target.key in (None, "none") else str(target.key)
        providers["model"] = GatewayProvider(
            "model", address, key=key, key_variables=(_MODEL_KEY,), url_variables=variables
        )
    return providers


def check_addresses(settings: Settings, environ: Mapping[str, str]) -> None:
    """Check that a pull request's own settings don't send a key to an address of their choice.

    Raises:
        SettingsError: they name an address whose host the workflow does not allow.
    """
    allowed = {host.strip().lower() for host in environ.get(_HOSTS_VARIABLE, "").split(",") if host.strip()}
    named: list[tuple[str, tuple[str, ...], str]] = [
        (f"gateway.providers.{name}.base_url", ("gateway", "providers", name, "base_url"), each.base_url)
        for name, each in GATEWAY.of(settings).providers.items()
    ]
    if settings.model_base_url is not None:
        named.append(("model_base_url", ("model_base_url",), settings.model_base_url))
    for name, keys, address in named:
        if settings.is_from_change(*keys) and (urlsplit(address).hostname or "").lower() not in allowed:
            raise SettingsError(
                f"{name} ({settings.origin(*keys)}): a pull request can't choose where keys are sent: {address!r:.200}",
                advice=f'Set policy_from = "base", or {_HOSTS_VARIABLE} in the workflow to the host.',
            )
