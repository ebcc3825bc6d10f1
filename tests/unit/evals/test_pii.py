"""`pii_free`: what it finds, what it ignores, and reasons without values."""

from __future__ import annotations

import re
import sys
from time import process_time

import pytest

from scoregate import evaluate
from scoregate.errors import MissingExtra
from scoregate.kernel.types.evaluation import Threshold
from scoregate.scorers import pii_free

if "stdnum" not in sys.modules:
    pytest.importorskip("stdnum")

# The kind, a text, and the value in it. All numbers are examples of their issuers, or made up with right check digits.
FOUND = (
    ("email", "Write to jane.doe+x@shop.example.com now.", "jane.doe+x@shop.example.com"),
    ("email", "mail me:o'neil@café.fr", "o'neil@café.fr"),
    ("iban", "DE89 3704 0044 0532 0130 00 is the account", "DE89 3704 0044 0532 0130 00"),
    ("iban", "to gb82west12345698765432 and so on", "gb82west12345698765432"),
    ("credit_card", "Card 4111 1111 1111 1111.", "4111 1111 1111 1111"),
    ("credit_card", "378282246310005", "378282246310005"),
    ("credit_card", "5555-5555-5555-4444", "5555-5555-5555-4444"),
    ("ip", "from 8.8.8.8.", "8.8.8.8"),
    ("ip", "at 2606:4700:4700::1111", "2606:4700:4700::1111"),
    ("phone", "call +49 30 901820 or come", "+49 30 901820"),
    ("phone", "+14155552671", "+14155552671"),
    ("phone", "0049 30 901820", "0049 30 901820"),
    ("phone", "(212) 555-0123", "(212) 555-0123"),
    ("phone", "212.555.0123", "212.555.0123"),
    ("phone", "06 12 34 56 78", "06 12 34 56 78"),
    ("phone", "020 7946 0958", "020 7946 0958"),
    ("national_id", "SSN 536-22-8726", "536-22-8726"),
    ("national_id", "36574261809", "36574261809"),
    ("national_id", "44051401359", "44051401359"),
    ("national_id", "12345678Z", "12345678Z"),
    ("national_id", "X1234567L", "X1234567L"),
    ("national_id", "AB 12 34 56 C", "AB 12 34 56 C"),
    ("national_id", "RSSMRA85T10A562S", "RSSMRA85T10A562S"),
    ("national_id", "111.444.777-35", "111.444.777-35"),
    ("national_id", "756.9217.0769.85", "756.9217.0769.85"),
    ("national_id", "2 95 10 99 126 111 93", "2 95 10 99 126 111 93"),
    ("national_id", "131052-308T", "131052-308T"),
)
CLEAN = (
    "",
    None,
    "We are open from 9 to 17, Monday to Friday.",
    "4111-1111-1111-1112",  # a wrong check digit
    "DE89 3704 0044 0532 0130 01",
    "SSN 000-22-8726",
    "192.168.1.1, 10.0.0.1, 127.0.0.1 and 256.1.1.1",
    "fe80::1 and ::1",
    "v1.2.3.4",
    "01-02-2026 10:30 and 2026-11-23T09:10:11Z",
    "order 123456789 of 12345678901 at 1700000000",
    "total 1.234.567,89 EUR, $1,234.56, 3.14159265358979 and 0.1234567890123",
    "ISBN 978-3-16-148410-0",
    "uuid 123e4567-e89b-12d3-a456-426614174000, sha 5d41402abc4b2a76b9719d911017c592",
    "+1 555 is short",
    "a @ b, @handle, user@localhost",
)


def test_personal_data_is_found_and_never_repeated() -> None:
    check = pii_free()
    for kind, text, value in FOUND:
        checked = check(text)
        assert (checked.score, checked.threshold) == (0, Threshold(gte=1)), text
        metadata = dict(checked.metadata or {})
        assert metadata["found"] == {kind: 1}, text
        assert metadata["reason"].startswith(f"{kind} "), text
        assert value not in str(metadata), text
        assert len(re.findall(r"[^\W_]", metadata["reason"].removeprefix(kind))) <= 1, metadata


def test_other_texts_pass() -> None:
    check = pii_free()
    for text in CLEAN:
        checked = check(text)
        assert (checked.passed, checked.metadata) == (True, None), text


def test_unicode_variants_are_found() -> None:
    check = pii_free()
    for text in (
        "４１１１ １１１１ １１１１ １１１１",
        "٤١١١١١١١١١١١١١١١",
        "jane\u200b@shop.com",
        "536\u201122\u20138726",
    ):
        assert check(text).score == 0, text
    assert check({"mail": ["jane@shop.com"]}).score == 0


def test_several_findings_are_counted_and_the_first_are_shown() -> None:
    found = pii_free()("4111 1111 1111 1111 " + "".join(f"a{n}@b.com " for n in range(9)))
    assert found.metadata == {
        "reason": "credit_card 4••• •••• •••• ••••, email a•@•.•••, email a•@•.•••, email a•@•.•••, email a•@•.••• "
        "and 5 more",
        "found": {"credit_card": 1, "email": 9},
    }


def test_kinds_countries_and_allowed_values() -> None:
    text = "Help@shop.example, 212-555-0123, 536-22-8726"
    assert dict(pii_free()(text).metadata or {})["found"] == {"email": 1, "phone": 1, "national_id": 1}
    assert pii_free(kinds=["iban"])(text).passed
    assert pii_free(kinds=["national_id"], countries=["de"])(text).passed
    assert pii_free(kinds=["email"], allow=["*@shop.example"])(text).passed
    assert not pii_free(kinds=["email"], allow=["*@other.example"])(text).passed
    for arguments, message in (
        ({"kinds": ["name"]}, "pii_free knows no 'name'; there are email"),
        ({"countries": ["xx"]}, "pii_free knows no 'xx'"),
        ({"kinds": []}, "at least one kind"),
        ({"kinds": "email"}, r"kinds must be a list: \['email'\]"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            pii_free(**arguments)  # type: ignore[arg-type]


def test_the_time_is_linear() -> None:
    check = pii_free()
    with pytest.raises(ValueError, match="takes texts of up to 1,000,000 characters, and this one has 10,000,000"):
        check("a" * 10_000_000)
    for part in ("1", "4 ", "a.", "a@", "AB12 ", "+1 ", "0 1", "2:", "é1"):
        started = process_time()
        assert check(part * (100_000 // len(part))).passed, part
        assert process_time() - started < 5, part


def test_suites_use_it_as_yes_no_scorer() -> None:
    result = evaluate("demo", data=["a"], task=lambda _: "Ask jane@shop.com", scorers=pii_free())
    (case,) = result.failed
    assert case.reasons == {"pii_free": "email j•••@••••.•••"}


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stdnum.iban", None)
    with pytest.raises(MissingExtra, match=r"scoregate\[pii\]"):
        pii_free()
