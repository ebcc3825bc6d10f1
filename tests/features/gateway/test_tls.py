"""The gateway for other machines: TLS with certificates of an own authority, and clear errors without."""

from __future__ import annotations

import shutil
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.cli import run_cli
from tests.features.gateway.conftest import KEY, question
from tests.features.gateway.provider import Provider, open_provider
from tests.integration.host.conftest import clean_environment

from scoregate.features.gateway.proxy.certificate import is_loopback

EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, and the certificates that it issued."""
    if shutil.which("openssl") is None:
        pytest.skip("NOT TESTED, the gateway's TLS: there is no openssl")
    folder = tmp_path_factory.mktemp("tls")

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    # Python 3.13 refuses an authority that doesn't say so, and a certificate that doesn't name its authority.
    usage = ("-addext", "keyUsage=critical,keyCertSign,cRLSign")
    openssl("req", "-x509", *EC, "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=own authority", *usage)
    for name in ("server", "other"):
        openssl("req", *EC, "-nodes", "-keyout", f"{name}.key", "-out", "request", "-subj", "/CN=gateway")
        (folder / "names").write_text(
            "subjectAltName=DNS:gateway.test,IP:127.0.0.1\nauthorityKeyIdentifier=keyid\nsubjectKeyIdentifier=hash\n"
        )
        signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names", "-days", "1")
        openssl("x509", "-req", "-in", "request", *signed, "-out", f"{name}.pem")
    openssl("pkey", "-in", "server.key", "-aes256", "-passout", "pass:word", "-out", "encrypted.key")
    (folder / "text.pem").write_text("no certificate\n")
    return folder


@pytest.fixture
def provider() -> Iterator[Provider]:
    with open_provider() as running:
        yield running


def environment(provider: Provider) -> dict[str, str]:
    return {**clean_environment(), "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{provider.url}/v1"}


def refuse(tmp_path: Path, provider: Provider, *words: str) -> str:
    """Run the gateway with wrong options, and return its error."""
    outcome = run_cli("gateway", *words, "--", "true", cwd=tmp_path, environ=environment(provider), merge_stderr=True)
    assert outcome.returncode == 2, outcome.stdout
    assert "Traceback" not in outcome.stdout
    return " ".join(outcome.stdout.split())


def test_invalid_certificates_fail(files: Path, provider: Provider, tmp_path: Path) -> None:
    for certificate, key, reason in (
        ("server.pem", "other.key", "the key belongs to another certificate"),
        ("server.pem", "encrypted.key", "encrypted.key' is encrypted"),
        ("server.pem", "missing.key", "can't be read: No such file or directory"),
        ("missing.pem", "server.key", "missing.pem' can't be read: No such file or directory"),
        (".", "server.key", "can't be read: Is a directory"),
        ("text.pem", "server.key", "not a PEM file"),
        ("server.pem", "text.pem", "not a PEM file"),
        ("server.key", "server.pem", "not a PEM file"),
    ):
        arguments = ("--certificate", str(files / certificate), "--certificate-key", str(files / key))
        assert reason in refuse(tmp_path, provider, *arguments), (certificate, key)
    assert "go together" in refuse(tmp_path, provider, "--certificate", str(files / "server.pem"))


def test_an_address_for_other_machines_needs_tls_and_a_name(files: Path, provider: Provider, tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "gateway.invalid"):
        error = refuse(tmp_path, provider, "--host", host)
        assert "would be sent to them unencrypted" in error
        assert "--insecure in a network that you trust" in error
    pair = ("--certificate", str(files / "server.pem"), "--certificate-key", str(files / "server.key"))
    for more in (pair, ("--insecure",)):
        assert "Add --name" in refuse(tmp_path, provider, "--host", "0.0.0.0", *more)
    assert "can't listen at 192.0.2.1" in refuse(tmp_path, provider, "--host", "192.0.2.1", "--insecure")
    allowed = ("--host", "0.0.0.0", "--insecure", "--name", "gateway.test", "--", "env")
    outcome = run_cli("gateway", *allowed, cwd=tmp_path, environ=environment(provider), merge_stderr=True)
    assert outcome.returncode == 0, outcome.stdout


def test_loopback_addresses_are_local() -> None:
    assert [host for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost") if not is_loopback(host)] == []
    assert [host for host in ("0.0.0.0", "::", "10.0.0.1", "", "no.such.host.invalid") if is_loopback(host)] == []


@contextmanager
def kill_at_end(process: subprocess.Popen[str]) -> Iterator[None]:
    """Kill a process that a failed assertion would leave, so that nothing waits for it."""
    try:
        yield
    finally:
        process.kill()


def test_a_gateway_in_the_background_ends_at_either_signal(provider: Provider, tmp_path: Path) -> None:
    background = ("sh", "-c", "trap '' INT; exec \"$@\"", "sh")  # as shells start what runs in the background
    for stop in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen(
            [*background, sys.executable, "-m", "scoregate", "gateway"],
            cwd=tmp_path,
            env=environment(provider),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if "listens at" in line:
                    break
            process.send_signal(stop)
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()
            process.communicate()


def test_a_client_of_another_machine(files: Path, provider: Provider, tmp_path: Path) -> None:
    """The gateway as a process, at all addresses; the client trusts the authority, and other clients are refused."""
    pair = ("--certificate", str(files / "server.pem"), "--certificate-key", str(files / "server.key"))
    arguments = ("gateway", *pair, "--host", "0.0.0.0", "--name", "gateway.test")
    process = subprocess.Popen(
        [sys.executable, "-m", "scoregate", *arguments],
        cwd=tmp_path,
        env=environment(provider),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process, kill_at_end(process):
        assert process.stdout is not None
        variables = {}
        for line in process.stdout:
            name, _, value = line.removeprefix("export ").rstrip().partition("=")
            variables[name] = value
            if name == "no_proxy":
                break
        address = variables["OPENAI_BASE_URL"]
        assert address.startswith("https://gateway.test:")
        assert "gateway.test" in variables["NO_PROXY"].split(",")
        port = int(address.partition("test:")[2].partition("/")[0])
        headers = {"authorization": f"Bearer {variables['OPENAI_API_KEY']}", "host": f"gateway.test:{port}"}
        url = f"https://127.0.0.1:{port}/openai/v1/chat/completions"
        trusting = ssl.create_default_context(cafile=str(files / "ca.pem"))
        with httpx.Client(verify=trusting, trust_env=False, timeout=60) as client:
            sni = {"sni_hostname": "gateway.test"}
            answer = client.post(url, json=question("x"), headers=headers, extensions=sni)
            assert (answer.status_code, answer.content) == (200, b"{}")
            invalid = client.post(url, json=question("x"), headers={**headers, "host": "evil.example"}, extensions=sni)
            assert invalid.status_code == 421
        with httpx.Client(trust_env=False, timeout=60) as client:
            with pytest.raises(httpx.ConnectError, match="CERTIFICATE"):
                client.post(url, json=question("x"), headers=headers)
            with pytest.raises(httpx.HTTPError):
                client.post(url.replace("https", "http"), json=question("x"), headers=headers)
        assert len(provider.received) == 1
        assert provider.received[0].headers["authorization"] == f"Bearer {KEY}"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
        assert process.stderr is not None
        assert KEY not in process.stderr.read()
