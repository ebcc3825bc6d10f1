"""`scoregate gateway`: the model gateway alone, for a command or for other terminals."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scoregate.cli.options import project_root, working_directory_option
from scoregate.errors import SettingsError, UsageError
from scoregate.features.gateway.declare import GATEWAY, GatewayMode
from scoregate.kernel.host.process import visible_environment
from scoregate.kernel.host.secrets import Redactor, secret_values
from scoregate.kernel.judge.settings import load_settings
from scoregate.kernel.run.variables import read_env_file
from scoregate.kernel.types.runs.model_calls import ModelCalls

if TYPE_CHECKING:  # a package of the gateway may be missing
    from scoregate.features.gateway.model_gateway import ModelGateway
    from scoregate.features.gateway.proxy.sessions import SuiteSession

_LOOPBACK = "127.0.0.1"


@click.command("gateway", context_settings={"allow_interspersed_args": False})
@click.argument("words", nargs=-1, metavar="[-- COMMAND...]", type=click.UNPROCESSED)
@working_directory_option
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in GatewayMode if mode is not GatewayMode.OFF]),
    help="Ask the providers, record their answers in cassettes, or replay cassettes.",
)
@click.option("--cassettes", metavar="DIR", help="Folder of the cassettes (default: .scoregate/cassettes).")
@click.option("--host", default=_LOOPBACK, show_default=True, metavar="ADDRESS", help="Address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port (default: a free one).")
@click.option("--name", default="", metavar="HOST", help="Name by which clients reach it (default: ADDRESS).")
@click.option("--certificate", type=click.Path(path_type=Path), metavar="FILE", help="Certificate for TLS.")
@click.option("--certificate-key", type=click.Path(path_type=Path), metavar="FILE", help="Key of the certificate.")
@click.option("--insecure", is_flag=True, help="Allow an address that other machines reach without TLS.")
@click.option("--env-file", metavar="FILE", help="File with variables, such as the keys; variables that are set win.")
@click.option("--cache", metavar="[on|off|readonly|refresh][:DIR]", help="How to use the cache of answers.")
@click.option("--max-cost", type=float, metavar="USD", help="Cost budget: refuse calls when it is reached.")
@click.option("--max-tokens", type=float, metavar="N", help="Token budget: refuse calls when it is reached.")
def command(
    words: tuple[str, ...],
    mode: str | None,
    port: int,
    **flags: Any,
) -> int:
    """Keep the keys of model providers, and forward, limit, count, record and replay the calls of COMMAND.

    COMMAND gets a token and the address of the gateway in the variables of each provider. Without a COMMAND, the
    gateway serves until Ctrl+C, and prints these variables for other terminals.
    """
    from scoregate.features.gateway.counts import CallCounter
    from scoregate.features.gateway.model_gateway import prepare_gateway

    root = project_root(flags)
    host, name, pair = _take_address(flags)
    if mode is not None:
        flags["gateway"] = mode
    settings = load_settings(root, os.environ, flags=flags, cwd=Path.cwd())
    # Settings may turn it off for runs, but this command is the gateway itself.
    if GATEWAY.of(settings).mode is GatewayMode.OFF:
        settings = load_settings(root, os.environ, flags={**flags, "gateway": "on"}, cwd=Path.cwd())
    environ = {**read_env_file(root, settings, os.environ), **os.environ}
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="scoregate-gateway-")))
        setup = prepare_gateway(root, settings, environ, scratch, redact=Redactor(secret_values(environ)))
        options = replace(setup.options, host=host, name=name, port=port, certificate=pair)
        missing = [provider.missing_key for provider in options.providers.values()]
        if all(missing):
            variable = missing[0] if missing else "OPENAI_API_KEY"
            raise SettingsError("no provider has a key", advice=f"Set the variable of a provider, such as {variable}.")
        try:
            gateway = stack.enter_context(replace(setup, options=options).open())
        except OSError as error:
            raise UsageError(
                f"can't listen at {host}:{port}: {error.strerror}", advice="Use another --host or --port."
            ) from None
        with gateway.gateway.open_session("command" if words else "gateway") as session:
            code = _run(words, gateway, session, environ) if words else _serve(gateway, session, environ)
        _print_calls(CallCounter(gateway.gateway).list_calls())
        for message in (*setup.problems, *session.problems):
            print(f"! {message}", file=sys.stderr)
    return code


def _take_address(flags: dict[str, Any]) -> tuple[str, str, tuple[Path, Path] | None]:
    """Take the address, its name, and the files of the certificate from the options.

    Raises:
        UsageError: other machines reach the address, but there is no certificate, or no name for them.
    """
    host, name, is_insecure = flags.pop("host"), flags.pop("name"), flags.pop("insecure")
    certificate, key = flags.pop("certificate"), flags.pop("certificate_key")
    if (certificate is None) != (key is None):
        raise UsageError("--certificate and --certificate-key go together")
    from scoregate.features.gateway.proxy.certificate import check_certificate, is_any_address, is_loopback

    if certificate is not None:
        check_certificate(certificate, key)
    elif not is_loopback(host) and not is_insecure:
        raise UsageError(
            f"other machines reach --host {host!r:.100}: tokens and answers would be sent to them unencrypted",
            advice="Add --certificate and --certificate-key, or --insecure in a network that you trust.",
        )
    if is_any_address(host) and not name:
        raise UsageError(
            f"--host {host!r} listens at all addresses", advice="Add --name with the host name that clients use."
        )
    return host, name, None if certificate is None else (certificate, key)


def _run(words: tuple[str, ...], gateway: ModelGateway, session: SuiteSession, environ: dict[str, str]) -> int:
    program = shutil.which(words[0])
    if program is None:
        raise UsageError(f"there is no program {words[0]!r:.100}", advice="Check its spelling.")
    environment = gateway.make_environment(session, visible_environment(environ))
    try:
        code = subprocess.run((program, *words[1:]), env=environment, check=False).returncode
    except OSError as error:
        raise UsageError(f"{words[0]!r:.100} can't be started: {error.strerror}") from None
    return 128 - code if code < 0 else code  # as shells report the end by a signal


def _serve(gateway: ModelGateway, session: SuiteSession, environ: dict[str, str]) -> int:
    for stop in (signal.SIGINT, signal.SIGTERM):  # shells start what runs in the background with SIGINT ignored
        signal.signal(stop, signal.default_int_handler)
    try:
        before = gateway.hide_keys(environ)
        for name, value in sorted(gateway.make_environment(session, before).items()):
            if environ.get(name) != value:
                print(f"export {name}={shlex.quote(value)}")
        sys.stdout.flush()  # a pipe would hold the lines back as long as the gateway serves
        address = gateway.gateway.address
        print(f"scoregate: the gateway listens at {address}; stop it with Ctrl+C", file=sys.stderr, flush=True)
        threading.Event().wait()
    except KeyboardInterrupt:
        print(file=sys.stderr)
    return 0


def _print_calls(rows: tuple[ModelCalls, ...]) -> None:
    """Print the counts of each model, to standard error."""
    for row in rows:
        tokens, cost = row.input_tokens + row.output_tokens, round(row.cost, 12)
        parts = [f"{row.calls:,} call{'' if row.calls == 1 else 's'}", f"{tokens:,} tokens", f"${cost:.4f}"]
        parts += [
            f"{count:,} {name}"
            for name in ("cached", "replayed", "retried", "failed", "unpriced")
            if (count := getattr(row, name))
        ]
        print(f"scoregate: {row.provider}/{row.model or 'no model'}: {', '.join(parts)}", file=sys.stderr)
