"""Checks of the gateway's address and certificate, with errors that name the file."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from pathlib import Path

from scoregate.errors import UsageError


class _EncryptedKeyError(Exception):
    pass


def check_certificate(certificate: Path, key: Path) -> None:
    """Check that a server can use a certificate with its key.

    Raises:
        UsageError: a file is missing, can't be read, is not a PEM file, is encrypted, or they don't belong together.
    """
    for path, title in ((certificate, "certificate"), (key, "key of the certificate")):
        try:
            path.read_bytes()
        except OSError as error:
            raise UsageError(f"the {title} {str(path)!r:.300} can't be read: {error.strerror}") from None

    # Without a function, OpenSSL asks for the password on the terminal.
    def refuse() -> str:
        raise _EncryptedKeyError

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=refuse)
    except _EncryptedKeyError:
        raise UsageError(
            f"the key of the certificate {str(key)!r:.300} is encrypted",
            advice=f"Decrypt it: openssl pkey -in {str(key)!r:.300} -out decrypted.pem",
        ) from None
    except (ssl.SSLError, ValueError) as error:
        is_other = getattr(error, "reason", None) == "KEY_VALUES_MISMATCH"
        reason = "the key belongs to another certificate" if is_other else f"one of them is not a PEM file ({error})"
        raise UsageError(
            f"{str(certificate)!r:.300} can't be used with the key {str(key)!r:.300}: {reason}",
            advice="Give the files of a certificate and of its key, in PEM format.",
        ) from None


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine only; a name if all of its addresses are."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        pass
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    # getaddrinfo adds the interface to a link-local address: fe80::1%eth0.
    return all(ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback for *_, address in addresses)


def is_any_address(host: str) -> bool:
    """Whether it means all addresses of the machine, so that no client can use it."""
    return host in ("", "0.0.0.0", "::")
