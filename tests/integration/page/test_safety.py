"""Texts of models are only text: nothing in a report runs, loads or asks for anything."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.integration.page.conftest import Opener
from tests.integration.page.test_navigation import rows

VIOLATIONS = (
    "document.addEventListener('securitypolicyviolation', (e) => (window.refused ??= []).push(e.violatedDirective))"
)


def elements(page: Page) -> set[str]:
    results: list[str] = page.evaluate("[...document.querySelectorAll('body *')].map((each) => each.localName)")
    return set(results)


def test_no_text_becomes_markup(hostile: Path, visit: Opener) -> None:
    page = visit(hostile)
    names = rows(page)
    assert len(names) == 12
    assert any("<img src=x onerror='window.pwned = 1'>" in name for name in names)
    for _ in names:
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog")
        expect(dialog.locator("h2")).not_to_be_empty()
        assert dialog.locator("pre").count() >= 2
        page.keyboard.press("Escape")
    assert elements(page).isdisjoint({"img", "iframe", "form.evil", "meta", "textarea", "object", "embed", "base"})
    assert page.evaluate("window.pwned") is None
    assert page.locator("[onerror], [onload], [onclick], [style*=url]").count() == 0
    assert page.locator('a[href*=evil]:not([href^="#"]), form[action]').count() == 0
    assert page.url.startswith(hostile.as_uri())


def test_invisible_and_bidi_characters_are_shown_as_escapes(hostile: Path, visit: Opener) -> None:
    page = visit(hostile, "#q=left")
    (row,) = rows(page)
    assert "left\\u202eright\\u2066" in row
    assert "\u202e" not in page.content()


def test_without_script_the_same_texts_are_text(hostile: Path, visit: Opener) -> None:
    page = visit(hostile, ready=False, java_script_enabled=False)
    assert page.locator("details.sample").count() == 10
    assert page.locator('img, iframe, form, a[href*=evil]:not([href^="#"])').count() == 0


def test_the_page_sends_no_request(report: Path, hostile: Path, visit: Opener) -> None:
    for path in (report, hostile):
        page = visit(path, ready=False)
        asked: list[str] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.reload()
        page.wait_for_selector("html[data-ready=all]", state="attached")
        page.click(".list tbody tr:not(.space) >> nth=0")
        expect(page.get_by_role("dialog").locator("h2")).not_to_be_empty()
        assert [url for url in asked if not url.startswith(path.as_uri())] == []


@pytest.mark.parametrize(
    "attempt",
    [
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 1'}))",
        "document.body.setAttribute('onclick', 'window.ran = 1'), document.body.click()",
        "document.body.append(Object.assign(new Image(), {src: 'https://evil.example/x.png'}))",
        "fetch('https://evil.example/').catch(() => 0)",
        "document.body.append(Object.assign(document.createElement('iframe'), {src: 'https://evil.example/'}))",
        "document.body.setAttribute('style', 'background: url(https://evil.example/)')",
    ],
)
def test_the_policy_blocks_injections(report: Path, visit: Opener, attempt: str) -> None:
    page = visit(report)
    page.evaluate(VIOLATIONS)
    page.evaluate(f"() => {{ try {{ {attempt} }} catch (error) {{ (window.refused ??= []).push(String(error)) }} }}")
    # Not `wait_for_function`, which the policy refuses as well: it looks by evaluating text.
    for _ in range(100):
        if page.evaluate("window.refused"):
            break
        page.wait_for_timeout(50)
    assert page.evaluate("window.refused")
    assert page.evaluate("window.ran") is None


def test_trusted_types_prevent_markup_from_text(report: Path, visit: Opener) -> None:
    page = visit(report)
    error = page.evaluate(
        "() => { try { document.body.innerHTML = '<b>x</b>' } catch (error) { return String(error) } }"
    )
    assert "TrustedHTML" in error


def test_the_page_keeps_its_own_policy(report: Path, visit: Opener) -> None:
    page = visit(report, ready=False)
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.reload()
    page.wait_for_selector("html[data-ready=all]", state="attached")
    page.click(".list tbody tr:not(.space) >> nth=0")
    expect(page.get_by_role("dialog").locator("h2")).not_to_be_empty()
    assert messages == []


def test_the_file_has_one_script(hostile: Path) -> None:
    text = hostile.read_text(encoding="utf-8")
    kinds = re.findall(r"<script([^>]*)>", text.partition("<script>")[0])
    assert kinds
    assert all(re.fullmatch(r' type="text/plain" id="[a-z]+-\d+"', kind) for kind in kinds)
    assert len(re.findall(r"</script", text)) == len(kinds) + 1
