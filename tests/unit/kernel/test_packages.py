"""Files with relative imports are modules of a package."""

from __future__ import annotations

import ast
from pathlib import Path

from scoregate.kernel.run.discover.packages import find_relative_level, locate_import_folders, locate_module
from scoregate.kernel.run.plan import Module


def test_only_executed_imports_that_must_succeed_count() -> None:
    for source, level in {
        "import a\nfrom b import c": 0,
        "from . import a\nfrom ..b import c": 2,
        "def f():\n    if x:\n        from ...a import b": 3,
        "if TYPE_CHECKING:\n    from .a import B\nelse:\n    from ..a import B": 2,
        "import typing\nif typing.TYPE_CHECKING:\n    from .a import B": 0,
        "try:\n    from .a import b\nexcept ImportError:\n    from a import b": 0,
        "try:\n    from .a import b\nexcept (ValueError, ImportError):\n    pass": 0,
        "try:\n    from .a import b\nexcept ValueError:\n    pass": 1,
    }.items():
        assert find_relative_level(ast.parse(source)) == level, source


def test_a_module_is_named_from_its_top_level_package(tmp_path: Path) -> None:
    for name in ("src/bot/__init__.py", "src/bot/evals/__init__.py", "evals/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for path, level, module in (
        ("evals/a.py", 0, None),
        ("evals/a.py", 1, Module("evals.a")),
        ("evals/__init__.py", 1, Module("evals", is_package=True)),
        ("src/bot/evals/a.py", 1, Module("bot.evals.a", "src")),
        ("services/x/evals/a.py", 1, Module("evals.a", "services/x")),
        ("services/x/evals/a.py", 2, Module("x.evals.a", "services")),
        ("a.py", 1, None),
        ("evals/a.py", 2, None),
        ("evals/a.eval.py", 1, None),
        ("v1.2/a.py", 1, None),
    ):
        assert locate_module(tmp_path, path, level) == module, path


def test_imports_come_from_the_project_around_a_file(tmp_path: Path) -> None:
    for name in ("services/x/src", "services/x/evals/deep", "src/bot/evals", "lib/bot/evals"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "lib" / "bot" / "__init__.py").touch()
    (tmp_path / "lib" / "bot" / "evals" / "__init__.py").touch()
    for path, folders in {
        "evals/a.py": (),
        "eval_a.py": (),
        "services/x/evals/deep/a.py": ("services/x", "services/x/src"),
        "src/bot/evals/a.py": (),
        "lib/bot/evals/a.py": ("lib",),
    }.items():
        assert locate_import_folders(tmp_path, path) == folders, path
