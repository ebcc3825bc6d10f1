"""Which values are secret, and in which encodings they are found."""

from __future__ import annotations

import base64
import html
import json
import random
import shlex
import subprocess
import urllib.parse
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scoregate.kernel.host.secrets import LONGEST, Redactor, _search, secret_values, short_secrets

SECRET_NAMES = """
OPENAI_API_KEY APIKEY GH_TOKEN CLIENT_SECRET_V2 db_password DB_PASSWD DB_PASS SSH_PASSPHRASE AZURE_PAT
GH_PAT_CI AWS_CREDENTIAL GCP_CREDENTIALS AUTH BASIC_AUTH AUTH_HEADER SESSION_COOKIE SLACK_WEBHOOK_URL
SENTRY_DSN DATABASE_URL TLS_CERT PRIVATE_VALUE LICENSE APP_LICENSE
"""
OTHER_NAMES = """
PATH PYTHONPATH CPATH GIT_AUTHOR_NAME AUTHORITY COMPASS BYPASS_CACHE PASSENV LICENSED_TO PRIVATELY CERTAIN
HOME COOKIECUTTER DATABASE_HOST SSH_AUTH_SOCK SSL_CERT_FILE SSL_CERT_DIR COOKIE_PATH INPUT_KEY SCOREGATE_KEY
PWD OLDPWD
"""
SHAPES = {
    "openai": "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8t",
    "github": "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "server": "ghs_0123456789abcdefghijABCDEFGHIJ012345",
    "oauth": "gho_0123456789abcdefghijABCDEFGHIJ012345",
    "user": "ghu_0123456789abcdefghijABCDEFGHIJ012345",
    "refresh": "ghr_0123456789abcdefghijABCDEFGHIJ012345",
    "fine-grained": "github_pat_11ABCDEFG0abcdefghijkl_ABCDEFGHIJKLMNOP",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "slack": "xoxb-1234567890-abcdefghij",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    "pem": "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA1c7+9z5Pad7OejecsQ0bu3aumL\n-----END RSA PRIVATE KEY-----",
}


@pytest.mark.parametrize("name", SECRET_NAMES.split())
def test_the_name_of_a_variable_marks_a_secret(name: str) -> None:
    assert secret_values({name: "correct horse"}) == {"correct horse"}


@pytest.mark.parametrize("name", OTHER_NAMES.split())
def test_a_name_with_only_the_letters_does_not(name: str) -> None:
    assert secret_values({name: "correct horse"}) == set()


def test_paths_of_files_are_shown(tmp_path: Path) -> None:
    assert secret_values({"GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path), "AUTH": "/no/such/file"}) == {
        "/no/such/file"
    }


@pytest.mark.parametrize("token", SHAPES.values(), ids=SHAPES)
def test_a_token_is_secret_in_any_variable(token: str) -> None:
    assert token in secret_values({"SETTINGS": f'{{"it": "{token}"}}'})
    for text in (token, f"x={token}\n", json.dumps({"a": f"line\n{token}"}), f"<b>{token}</b>"):
        assert token not in Redactor().text(text)
        assert "***" in Redactor().text(text)
    assert base64.b64encode(token.encode()).decode() not in Redactor(secret_values({"X": token})).text(
        base64.b64encode(token.encode()).decode()
    )


@pytest.mark.parametrize(
    "text",
    [
        "task-specific-instructions-for-everyone",
        "sk-learn-style-estimators-are-fitted-here",
        "SAKIAIOSFODNN7EXAMPLES",
        "https://example.com:8080/a@b",
        "eyJhbGciOiJIUzI1NiJ9 alone",
        "mailto:someone@example.com",
    ],
)
def test_texts_like_tokens_stay(text: str) -> None:
    assert Redactor().text(text) == text


def test_the_password_of_a_url_is_secret_and_the_rest_is_not() -> None:
    environ = {"BROKER": "amqps://guest:p%40ss-w0rd@mq.example.com/prod"}
    redact = Redactor(secret_values(environ))
    assert redact.text("amqps://guest:p%40ss-w0rd@mq.example.com/prod") == "amqps://guest:***@mq.example.com/prod"
    assert redact.text("it is p@ss-w0rd") == "it is ***"
    assert Redactor().text("at http://a:other-word@b/c") == "at http://a:***@b/c"


def test_short_values_are_reported_by_name() -> None:
    environ = {"DB_PASS": "hunter2", "API_KEY": "abc", "USE_AUTH": "true", "PASS": "", "HOME": "/root", "PIN": "1234"}
    assert short_secrets(environ) == ["API_KEY", "DB_PASS"]
    assert secret_values(environ) == set()


def _in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _in_plain_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _lower_codes(text: str) -> str:
    return urllib.parse.quote(text, safe="").replace("%2F", "%2f").replace("%3A", "%3a").replace("%C3", "%c3")


WRITTEN: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON": _in_json,
    "JSON in UTF-8": _in_plain_json,
    "JSON in JSON": lambda text: _in_json(_in_json(text)),
    "JSON in JSON in JSON": lambda text: _in_plain_json(_in_json(_in_json(text))),
    "URL": lambda text: urllib.parse.quote(text, safe=""),
    "URL, a path": urllib.parse.quote,
    "URL, lower case": _lower_codes,
    "form": urllib.parse.quote_plus,
    "URL in a URL": lambda text: urllib.parse.quote_plus(urllib.parse.quote_plus(text)),
    "shell": lambda text: shlex.quote(text).strip("'"),
    "shell in JSON": lambda text: _in_json(shlex.quote(text).strip("'")),
    "HTML": html.escape,
    "Python": lambda text: repr(text)[1:-1],
    "ASCII": lambda text: ascii(text)[1:-1],
    "hex": lambda text: text.encode().hex(),
    "HEX": lambda text: text.encode().hex().upper(),
    "every character of a URL": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
}
SECRETS = st.text(st.characters(codec="utf-8", exclude_characters="\0*"), min_size=8, max_size=60)


@settings(max_examples=100, deadline=None)
@given(SECRETS, st.text(max_size=9), st.text(max_size=9))
@example("P@ss w0rd/'\"\\é日\n+x%$&<>~😀 end", "x", "y")
@example("''''''''", "'", "'")
@example("\\\\\\\\\\\\\\\\", "\\", "")
def test_a_secret_in_any_encoding_is_found(secret: str, before: str, after: str) -> None:
    redact = Redactor({secret})
    for way, write in WRITTEN.items():
        written = write(secret)
        clean = redact.text(before + written + after)
        assert "***" in clean, way
        assert written not in clean, way


@settings(max_examples=300, deadline=None)
@given(SECRETS, st.binary(max_size=9), st.binary(max_size=9), st.sampled_from(["standard", "url", "wrapped"]))
def test_base64_at_any_offset_hides_no_secret(secret: str, before: bytes, after: bytes, kind: str) -> None:
    encode = {"standard": base64.b64encode, "url": base64.urlsafe_b64encode, "wrapped": base64.encodebytes}[kind]
    data = before + secret.encode() + after
    clean = Redactor({secret}).text(encode(data).decode())
    kept = "".join(clean.split()).partition("***")
    assert kept[1]
    # At each end at most a part of one of the secret's bytes is left, in a character that it shares.
    assert len(kept[0]) <= len(before) * 8 // 6 + 2
    assert len(kept[2].rstrip("=")) <= len(after) * 8 // 6 + 2


QUOTED = ['it\'s "quoted"', "two\nlines of it\tand tabs", "é $HOME `x` \\ end", "a b;c&d|e(f)"]


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
@pytest.mark.parametrize("form", ['printf %q "$1"', 'printf %s "${1@Q}"', 'set -x; : "$1"'])
@pytest.mark.parametrize(
    "secret", ['it\'s "quoted"', "two\nlines of it\tand tabs", "é $HOME `x` \\ end", "a b;c&d|e(f)"]
)
def test_a_secret_quoted_by_bash_is_found(secret: str, form: str, locale: str) -> None:
    done = subprocess.run(["bash", "-c", form, "_", secret], env={"LC_ALL": locale}, capture_output=True, check=True)
    written = (done.stdout + done.stderr).decode()
    clean = Redactor({secret}).text(written)
    assert "***" in clean
    assert max(secret.split(), key=len) not in clean


@pytest.mark.parametrize("secret", ["plain-secret", 'quote"back\\slash', "émigré ß 日本", "first line\nsecond line"])
def test_a_document_with_any_escapes_is_redacted(secret: str) -> None:
    escaped = "".join(f"\\u{ord(char):04x}" for char in secret)
    document = f'{{"output": "{escaped}", "n": [1, 2.5, null, true], "{escaped}": {{}}}}'.encode()
    redact = Redactor({secret})
    assert json.loads(redact(document)) == {"output": "***", "n": [1, 2.5, None, True], "***": {}}
    assert redact(b'{"a": 1.50}') == b'{"a": 1.50}'
    assert secret.encode() not in redact(f"no JSON: {secret}".encode())


def test_a_secret_of_digits_keeps_a_document_valid() -> None:
    assert json.loads(Redactor({"12345678"})(b'{"n": 12345678, "at": 0.5, "text": "12345678"}')) == {
        "n": "***",
        "at": 0.5,
        "text": "***",
    }


def test_each_line_of_a_secret_is_secret() -> None:
    key = "-----BEGIN KEY-----\nline-one-of-the-key\n  indented line two\nshort\n-----END KEY-----"
    redact = Redactor({key})
    for line in ("line-one-of-the-key", "indented line two", "-----END KEY-----"):
        assert redact.text(f"<{line}>") == "<***>"
    assert redact.text("short") == "short"
    wrapped = base64.encodebytes(key.encode()).decode().splitlines()
    assert redact.text(wrapped[0]) == "***"


def test_a_secret_of_any_length_is_found() -> None:
    secret = "".join(random.Random(1).choices([chr(code) for code in range(33, 127)], k=5_000))
    for text in (secret, _in_json(secret), secret.encode().hex()):
        clean = Redactor({secret}).text(text)
        assert not [index for index in range(0, len(text) - 40, 40) if text[index : index + 40] in clean]


def test_more_secrets_than_one_search_fits_are_found() -> None:
    secrets = {f"secret-{number:06}-{'x' * 40}" for number in range(3_000)}
    redact = Redactor(secrets)
    assert redact.text(f"it is {max(secrets)} and no other") == "it is *** and no other"


def test_without_a_joint_search_each_is_found() -> None:
    search = _search(["(?:a{999}){999}"])
    assert search("anything")


def test_a_secret_of_other_bytes_is_found() -> None:
    secret = b"\xff\xfe\xfd\xfcabc\xff\xfe\xfd"
    redact = Redactor({secret.decode("utf-8", "surrogateescape")})
    assert redact(b"it is " + secret) == b"it is ***"
    assert redact.text("half a pair: \ud800") == "half a pair: \ud800"


def test_a_secret_within_a_longer_one_does_not_uncover_the_rest() -> None:
    assert Redactor({"abcdefgh", "abcdefgh-and-more"}).text("abcdefgh-and-more") == "***"


def test_overlapping_secrets_are_hidden() -> None:
    assert Redactor({"abcdefgh", "efghijkl"}).text("<abcdefghijkl>") == "<***>"


@pytest.mark.parametrize("size", [1, 7, 4_096, 100_000])
def test_a_secret_is_found_across_chunks(size: int) -> None:
    secret = "the-secret-that-is-cut"
    text = f"{'a' * 70_000}{secret}{'b' * 300_000}{secret}{'é' * (5 * LONGEST)}{secret}"
    chunks = (text[index : index + size] for index in range(0, len(text), size))
    assert "".join(Redactor({secret}).stream(chunks)) == text.replace(secret, "***")


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 60), st.sampled_from(["the-secret-that-is-cut", SHAPES["jwt"]]))
def test_a_secret_is_found_where_a_long_text_is_cut(shift: int, secret: str) -> None:
    redact = Redactor({"the-secret-that-is-cut"})
    text = f"{'.' * (10_000 - shift)}{secret}{'.' * (LONGEST - 30)}"
    settled, rest = redact.redact_settled(text)
    assert settled + redact.text(rest) == text.replace(secret, "***")


@pytest.mark.parametrize(
    "line",
    ["::add-mask::token-1%25", "  ::add-mask::token-1%25", "text ##[add-mask]token-1%25", "::ADD-MASK::token-1%25"],
)
def test_a_value_masked_by_a_script_is_secret(line: str) -> None:
    redact = Redactor()
    redact.learn_from(line)
    assert redact.text("so token-1% is it") == "so *** is it"


def test_a_mask_of_several_lines_is_decoded_and_its_lines_are_secret() -> None:
    redact = Redactor()
    assert redact.text("line-one-of-it") == "line-one-of-it"
    redact.learn_from("::add-mask::line-one-of-it%0Aline%2520two-of-it%0D%0Aend")
    assert redact.text("line-one-of-it, line%20two-of-it") == "***, ***"
    assert redact.text(base64.b64encode(b"a line-one-of-it").decode()).count("***") == 1


def test_a_script_cannot_mask_everything() -> None:
    redact = Redactor()
    for number in range(10_000):
        redact.learn_from(f"::add-mask::{number:08}")
    redact.learn_from("::add-mask::e")
    assert redact.text("e 00009999 00000007") == "e 00009999 ***"
