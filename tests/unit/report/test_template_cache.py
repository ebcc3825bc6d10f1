"""Templates are compiled once, like modules, if bytecode can be written."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader

from scoregate.kernel.report import markdown
from scoregate.kernel.report.html import compiled_templates, document
from scoregate.kernel.report.templating import TemplateCache


def render_template(folder: Path) -> str:
    return (
        Environment(loader=FileSystemLoader(folder), bytecode_cache=TemplateCache(folder)).get_template("t").render(x=1)
    )


def test_a_template_is_compiled_once_and_after_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    template = tmp_path / "t"
    template.write_text("{{ x }}")
    assert render_template(tmp_path) == "1"
    (kept,) = (tmp_path / "__pycache__").iterdir()
    monkeypatch.setattr(Environment, "_generate", lambda *_: pytest.fail("compiled again"))
    assert render_template(tmp_path) == "1"
    monkeypatch.undo()
    template.write_text("new {{ x }}")
    assert render_template(tmp_path) == "new 1"
    kept.write_bytes(b"damaged")
    assert render_template(tmp_path) == "new 1"


def test_nothing_is_cached_if_python_writes_no_bytecode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t").write_text("{{ x }}")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert render_template(tmp_path) == "1"
    assert not (tmp_path / "__pycache__").exists()
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "__pycache__").write_text("a file stands in the way")
    assert render_template(tmp_path) == "1"


def test_all_templates_are_compiled_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for module in (markdown, document):
        module.load_environment.cache_clear()  # a template in memory is not compiled again
    compiled_templates.compile_templates()
    monkeypatch.setattr(Environment, "_generate", lambda *_: pytest.fail("compiled again"))
    for module, first in ((markdown, "comment.md.j2"), (document, "top.html.j2")):
        module.load_environment.cache_clear()
        ending = first.removeprefix(first.partition(".")[0])
        names = [name for name in module.load_environment().list_templates() if name.endswith(ending)]
        assert first in names
        for name in names:
            assert module.load_environment().get_template(name)
    monkeypatch.undo()
