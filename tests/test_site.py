"""The documentation as a site: it builds without warnings, every page is in the navigation, and no link is broken."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from tools import reference

ROOT = Path(__file__).parent.parent
ADDRESS = "https://scoregate.github.io/scoregate/"


class Page(HTMLParser):
    """The anchors of a page, and what it links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := named.get(name))}
        if (tag, named.get("rel")) != ("link", "preconnect"):
            self.links += [value for name in ("href", "src") if (value := named.get(name))]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built from the files of this repository by the command of the workflow."""
    if find_spec("zensical") is None:
        pytest.skip("NOT TESTED, the site: zensical is not installed (pip install '.[docs]')")
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    shutil.copytree(ROOT / "docs", folder / "docs")
    # The site describes none of these, and reading the source is a third of what it costs.
    ignored = shutil.ignore_patterns("features", "cli", "web", "convert", "job", "report", "__pycache__")
    shutil.copytree(ROOT / "src", folder / "src", ignore=ignored)
    command = [Path(sys.executable).with_name("zensical"), "build", "--strict"]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    text = re.sub(r"\x1b\[[\d;]*m", "", process.stdout + process.stderr)
    assert process.returncode == 0, text
    assert "arning" not in text, text
    return folder / "site"


def test_no_link_on_the_site_is_broken(site: Path) -> None:
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            target = resolve(link, path, site)
            if target is None:
                continue
            file, anchor = target
            known = pages[file].anchors if file in pages else set()
            if not file.is_file() or (anchor and file in pages and anchor not in known):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []
    assert len(pages) > 30


def resolve(link: str, path: Path, site: Path) -> tuple[Path, str] | None:
    """The file and the anchor that a link names; None if it leaves the site."""
    parts = urlsplit(link.removeprefix(ADDRESS) if link.startswith(ADDRESS) else link)
    if parts.scheme or parts.netloc:
        return None
    start = site if link.startswith((ADDRESS, "/")) else path.parent
    name = unquote(parts.path).removeprefix("/scoregate/").lstrip("/") if start == site else unquote(parts.path)
    file = (start / name).resolve() if name else path if start != site else site
    return (file / "index.html" if file.is_dir() else file), unquote(parts.fragment)


def test_links_and_anchors_of_a_page_are_found() -> None:
    page = Page(
        '<a data-name="no" title="a > b" href="a.html?b&amp;c#d">text</a> <h2 id=e>E</h2><!-- <a href="no"> -->'
        '<script src="f.js">"<a href=no>"</script><link rel="preconnect" href="no"><a name="g"></a>'
    )
    assert (page.links, page.anchors) == (["a.html?b&c#d", "f.js"], {"e", "g"})


def test_links_are_resolved() -> None:
    site = Path("/site")
    page = site / "guides" / "judges" / "index.html"
    assert resolve("#people", page, site) == (page, "people")
    assert resolve("../forks.html#a%20b", page, site) == (site / "guides" / "forks.html", "a b")
    assert resolve("https://example.org/x", page, site) is None
    assert resolve(f"{ADDRESS}x.txt", page, site) == (site / "x.txt", "")


def test_every_page_is_in_the_navigation_and_exists() -> None:
    names = re.findall(re.escape(reference.SOURCE) + r"(\S+)\)", reference.list_pages())
    docs = ROOT / "docs"
    assert sorted(names) == sorted(path.relative_to(docs).as_posix() for path in docs.rglob("*.md"))


def test_scripts_pictures_and_styles_come_with_the_site(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    loaded = re.findall(
        r"<(?:script|img|iframe)[^>]+src=\"(https?:[^\"]+)|<link[^>]+stylesheet[^>]+href=\"(https?:[^\"]+)", text
    )
    assert loaded == []
