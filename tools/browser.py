"""Pages of chromium, and comments as GitHub shows them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import cmarkgfm
from cmarkgfm.cmark import Options
from playwright.sync_api import Page, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
_QUIET = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
_STYLE = """<!doctype html><meta charset=utf-8><style>
body { margin: 0; background: #fff; color: #1f2328; font: 14px/1.5 "Liberation Sans", Arial, sans-serif }
main { width: 862px; padding: 24px } h1 { margin: 0 0 8px; font-size: 24px; font-weight: 400 }
h1 span { color: #59636e }
.state { background: #1a7f37; border-radius: 2em; color: #fff; display: inline-block; padding: 3px 12px }
.state { font-weight: 700 }
.box { width: 860px; border: 1px solid #d1d9e0; border-radius: 6px; margin-bottom: 16px } .box:last-child { margin: 0 }
.head { background: #f6f8fa; border-bottom: 1px solid #d1d9e0; border-radius: 6px 6px 0 0; padding: 8px 16px }
.head { color: #59636e } .above { margin-bottom: 16px }
.head b { color: #1f2328 } .tag { border: 1px solid #d1d9e0; border-radius: 2em; padding: 0 7px; font-size: 12px }
article { padding: 16px } p { margin: 0 0 16px } a { color: #0969da } article > :last-child { margin-bottom: 0 }
h2, h3 { margin: 0 0 16px } h2 { padding-bottom: .3em; border-bottom: 1px solid #d1d9e0; font-size: 1.5em }
table { border-collapse: collapse; margin-bottom: 16px } th, td { border: 1px solid #d1d9e0; padding: 6px 13px }
tr:nth-child(2n) td { background: #f6f8fa } details { margin-bottom: 16px } ul { margin: 0 0 16px; padding-left: 2em }
sub { font-size: 12px; vertical-align: baseline } hr { background: #d1d9e0; border: 0; height: 4px; margin: 24px 0 }
code { background: #818b981f; border-radius: 6px; padding: .2em .4em; font: 85% "Liberation Mono", monospace }
pre { background: #f6f8fa; border-radius: 6px; margin: 0 0 16px; padding: 16px; overflow: hidden }
pre code { background: none; padding: 0 } .reaction { border: 1px solid #d1d9e0; border-radius: 2em; padding: 2px 8px }
</style><main>BODY</main>"""
_BOX = "<div class=box><div class=head><b>LOGIN</b> TAG WHEN</div><article>BODY</article></div>"


@contextmanager
def browser_page(*, width: int, height: int, scale: float) -> Iterator[Page]:
    """A page of chromium."""
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        raise SystemExit(f"no browser is installed; install one of {', '.join(BROWSERS)}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(_QUIET))
        yield browser.new_page(viewport={"width": width, "height": height}, device_scale_factor=scale)
        browser.close()


def make_box(login: str, markdown: str, *, when: str = "commented 2 minutes ago", below: str = "") -> str:
    """A comment or the text of an issue, with GitHub's own Markdown parser.

    Args:
        login: who wrote it.
        markdown: the text.
        when: when it was written.
        below: HTML below the text.
    """
    body = cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE) + below
    tag = "<span class=tag>bot</span>" if login == "github-actions" else ""
    return _BOX.replace("LOGIN", login).replace("TAG", tag).replace("WHEN", when).replace("BODY", body)


def save_picture(content: str, picture: Path) -> None:
    """Save a picture of comments on a page of GitHub."""
    with browser_page(width=910, height=400, scale=1.5) as page:
        page.set_content(_STYLE.replace("BODY", content))
        page.locator("main").screenshot(path=picture)
