"""The documentation: every code block of every page executed, in the order of its page (see tests/docs/README.md)."""

from __future__ import annotations

import importlib
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType

import pytest
from tests.docs.page import Block, read_blocks
from tests.docs.project import Project, execute, matches

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
MODULES = Path(__file__).parent / "docs" / "pages"


# Pages with the examples of other frameworks: tests/integration/migrate executes them, in the frameworks' environments.
FOREIGN = "migrate/"


@pytest.mark.parametrize("page", [page for page in PAGES if read_blocks(DOCS / page) and not page.startswith(FOREIGN)])
def test_the_blocks_of_a_page_work(page: str, tmp_path: Path) -> None:
    module = module_of(page)
    with ExitStack() as stack:
        project = Project(tmp_path, DOCS / page, stack)
        if hasattr(module, "prepare"):
            module.prepare(project)
        for block in read_blocks(DOCS / page):
            execute(block, project, module)
        if hasattr(module, "finish"):
            module.finish(project)


def module_of(page: str) -> ModuleType | None:
    """What a page needs besides a project: the module that is named after it, with its folder if there is one."""
    path = Path(page).with_suffix("")
    names = ["_".join(path.parts), path.name]
    module = next((name for name in names if (MODULES / f"{name}.py").exists()), None)
    return importlib.import_module(f"tests.docs.pages.{module}") if module else None


def test_few_blocks_are_not_run_and_each_has_a_reason() -> None:
    marked = [block for page in PAGES for block in read_blocks(DOCS / page) if "not run" in block.marks]
    assert [block.place for block in marked if len(block.marks["not run"].split()) < 3] == []
    assert len(marked) <= 10, [block.place for block in marked]


def test_every_module_belongs_to_a_page() -> None:
    used = {module.__name__.rpartition(".")[2] for page in PAGES if (module := module_of(page))}
    assert {path.stem for path in MODULES.glob("*.py")} - used == set()


def test_a_page_is_read_with_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- exit: 3 -->\n\n```sh\nexit 3\n```\n\nText\n<!-- exit: 1 -->\nText\n\n"
        "=== tab\n\n    ```python\n    # a/b.py, a file\n    if x:\n        y\n    ```\n\n"
        '```csv title="a.csv"\nx\n```\n'
        "<!-- not run: it needs a key\n````md\n# a.md\n```sh\n```\n````\n-->\n"
    )
    assert read_blocks(page) == [
        Block("page.md:3", "sh", "exit 3\n", {"exit": "3"}),
        Block("page.md:13", "python", "# a/b.py, a file\nif x:\n    y\n", {}),
        Block("page.md:19", "csv", "# a.csv\nx\n", {}),
        Block("page.md:23", "md", "# a.md\n```sh\n```\n", {"not run": "it needs a key"}),
    ]
    assert [block.path for block in read_blocks(page)] == [None, "a/b.py", "a.csv", "a.md"]
    assert read_blocks(page)[2].content == "x\n"
    assert read_blocks(page)[3].content == "```sh\n```\n"


@pytest.mark.parametrize(
    ("expected", "output", "same"),
    [
        ("a\n", "a\n", True),
        ("a\n", "a\nb\n", False),
        ("a...\n", "a\nb\n", True),
        ("a ... c", "a b c", True),
        ("...b", "a", False),
        ("done in ... ms", "done in 1.3 s", True),
        ("done in ... ms", "done in 1.3 h", False),
    ],
)
def test_outputs_are_compared_with_gaps(expected: str, output: str, same: bool) -> None:
    assert matches(expected, output) is same
