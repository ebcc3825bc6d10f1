"""Suites that a file starts through modules of its project."""

from __future__ import annotations

import os
import time
from pathlib import Path
from textwrap import dedent

import pytest
from tests.integration.ci.conftest import Repository

from scoregate.kernel.judge.settings import load_settings
from scoregate.kernel.run.discover import project_calls, project_modules
from scoregate.kernel.run.discover.files import ProjectFiles
from scoregate.kernel.run.discover.packages import InstalledPackages
from scoregate.kernel.run.discovery import find_suites
from scoregate.kernel.run.plan import DiscoveredSuites, SourceKind

pytestmark = pytest.mark.anyio
COMMON = "from scoregate import evaluate\ndef run(name, task):\n    return evaluate(name, data=[], task=task)\n"
ONE = "evals/eval_one.py"


async def find(root: Path, files: dict[str, str], **flags: list[str]) -> DiscoveredSuites:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(dedent(text), encoding="utf-8")
    return await find_suites(ProjectFiles(root), load_settings(root, {}, flags=flags))


STARTED = {
    "function": {"evals/common.py": COMMON, ONE: "from common import run\nrun('one', print)"},
    "module": {"evals/common.py": COMMON, ONE: "import common as c\nif __name__ == '__main__':\n    c.run('a', print)"},
    "own function": {"evals/common.py": COMMON, ONE: "import common\ndef main():\n    common.run('a', print)\nmain()"},
    "loop": {"evals/common.py": COMMON, ONE: "import common\nfor name in ('a', 'b'):\n    common.run(name, print)"},
    "root": {"common.py": COMMON, ONE: "from common import run\nrun('one', print)"},
    "source folder": {"src/bot/evals.py": COMMON, ONE: "from bot.evals import run\nrun('one', print)"},
    "service": {"x/src/bot/kit.py": COMMON, "x/evals/one.py": "from bot import kit\nkit.run('one', print)"},
    "package": {"kit/__init__.py": "from .core import run", "kit/core.py": COMMON, ONE: "import kit\nkit.run('a', 1)"},
    "relative": {
        "evals/__init__.py": "", "evals/common.py": COMMON, ONE: "from .common import run\nrun('one', print)",
    },
    "relative module": {
        "evals/__init__.py": "", "evals/common.py": COMMON, ONE: "from . import common\ncommon.run('a', print)",
    },
    "two levels": {
        "evals/kit/deep.py": COMMON,
        "evals/kit/__init__.py": "from . import deep\ndef go(name):\n    deep.run(name, print)",
        ONE: "from kit import go\ngo('one')",
    },
    "method": {
        "evals/common.py": "import scoregate\nclass Runner:\n    def start(self):\n        scoregate.evaluate('x')",
        ONE: "from common import Runner\nrunner = Runner()\nrunner.start()",
    },
    "base class": {
        "evals/common.py": "import scoregate\nclass Base:\n    def start(self):\n        scoregate.evaluate('x')",
        ONE: "from common import Base\nclass Mine(Base):\n    name = 'mine'\nMine().start()",
    },
    "inherited base class": {
        "evals/base.py": "import scoregate\nclass Base:\n    def start(self):\n        scoregate.evaluate('x')",
        "evals/common.py": "from base import Base\nclass Runner(Base):\n    pass\nrunner = Runner()",
        ONE: "from common import runner\nrunner.start()",
    },
    "context manager": {
        "evals/common.py": "import scoregate\nclass Runner:\n    def __enter__(self):\n        scoregate.evaluate('x')",
        ONE: "import common\nwith common.Runner() as runner:\n    pass",
    },
    "decorator": {
        "evals/common.py": """
            from scoregate import evaluate
            def suite(name):
                def start(task):
                    evaluate(name, data=[], task=task)
                    return task
                return start
        """,
        ONE: "from common import suite\n@suite('one')\ndef answer(text):\n    return text",
    },
    "partial": {
        "common.py": f"from functools import partial\n{COMMON}quick = partial(run, task=print)\n",
        ONE: "from common import quick\nquick('one')",
    },
    "argument": {"evals/common.py": COMMON, ONE: "import asyncio, common\nasyncio.run(common.run('one', print))"},
    "callback": {"evals/common.py": COMMON, ONE: "import fire\nfrom common import run\nfire.Fire(run)"},
    "unknown call": {"evals/common.py": COMMON, ONE: "from common import run\nfor job in [run]:\n    job('a', print)"},
    "star": {"evals/common.py": COMMON, ONE: "from common import *\nrun('one', print)"},
    "two stars": {
        "evals/common.py": COMMON, "evals/kit.py": "from common import *", ONE: "from kit import *\nrun('one', print)",
    },
    "dynamic import": {
        "evals/common.py": COMMON, ONE: "import importlib\nimportlib.import_module('common').run('one', print)",
    },
    "lines in parentheses": {"evals/common.py": COMMON, ONE: "from common import (\n    run,\n)\nrun('one', print)"},
    "executed import": {"suites/all.py": "import scoregate\nscoregate.evaluate('a')", ONE: "import suites.all"},
    "run_test_suite": {
        "evals/common.py": "from scoregate.testing import run_test_suite\ndef go():\n    run_test_suite(id='x')",
        ONE: "from common import go\ngo()",
    },
}  # fmt: skip


async def test_a_call_of_a_suite_is_found(tmp_path: Path) -> None:
    for name, files in STARTED.items():
        suites_found = await find(tmp_path / name, files)
        assert len(suites_found.sources) == 1, (name, suites_found)
        (source,) = suites_found.sources
        assert (source.path, source.kind) == (list(files)[-1], SourceKind.PYTHON), name
        assert (source.suite_ids, source.expected, suites_found.notices) == (None, (), ()), name
        assert " through " in source.why, name


async def test_a_reexported_name_keeps_its_id(tmp_path: Path) -> None:
    reexports = {
        "import": {"common.py": "from scoregate import evaluate", ONE: "from common import evaluate as e\ne('one')"},
        "star": {"evals/common.py": "from scoregate import *", ONE: "from common import *\nevaluate('one')"},
        "stars": {
            "evals/a.py": "from b import *", "evals/b.py": "from scoregate import evaluate",
            ONE: "from a import *\nevaluate('one')",
        },
        "circle": {
            "evals/a.py": "from b import *\nfrom scoregate import evaluate", "evals/b.py": "from a import *",
            ONE: "from b import evaluate\nevaluate('one')",
        },
    }  # fmt: skip
    for name, files in reexports.items():
        (source,) = (await find(tmp_path / name, files)).sources
        assert (source.path, source.suite_ids, source.expected) == (ONE, ("one",), ("one",)), name


async def test_a_package_of_a_workspace_is_followed(repository: Repository) -> None:
    kit = {"packages/kit/src/kit/__init__.py": "from .core import run", "packages/kit/src/kit/core.py": COMMON}
    suites_found = await find(
        repository.root, {**kit, "services/x/evals/one.py": "from kit import run\nrun('one', print)"}
    )
    assert [source.path for source in suites_found.sources] == ["services/x/evals/one.py"]
    named = await find(repository.root, {}, paths=["services/x/evals/one.py"])
    assert [source.path for source in named.sources] == ["services/x/evals/one.py"]


async def test_pytest_runs_tests_with_helpers(tmp_path: Path) -> None:
    test = "from common import run\ndef test_it():\n    run('one', print)"
    (source,) = (await find(tmp_path, {"evals/common.py": COMMON, "evals/test_one.py": test})).sources
    assert (source.path, source.kind, source.suite_ids) == ("evals/test_one.py", SourceKind.PYTEST, None)


async def test_helper_modules_are_skipped_silently(tmp_path: Path) -> None:
    helpers = {
        "evals/eval_utils.py": "from functools import partial\nfrom common import run\nquick = partial(run, task=print)"
        "\ndef go():\n    run('x', print)\nJOBS = {'a': run}",
        "evals/common.py": COMMON,
        "evals/eval_data.py": "import scoregate\nfrom other import load\nCASES = load()",
        "evals/eval_git.py": "import tools\nVERSION = tools.version()",
        "evals/tools.py": "import subprocess\nfrom common import run\ndef version():\n    subprocess.run(['git'])",
        "evals/one.py": "from scoregate import evaluate\nfrom eval_data import CASES\nevaluate('one', data=CASES)",
    }
    suites_found = await find(tmp_path, helpers)
    assert [source.path for source in suites_found.sources] == ["evals/one.py"]
    assert suites_found.notices == ()
    assert not any(each.notable for each in suites_found.skipped)


HELPER = "import sys\nfrom pathlib import Path\n{path}\nfrom helper import run\nrun('one', print)"
ADDED_PATHS = (
    "sys.path.insert(0, 'tools/lib')",
    "sys.path.append('./tools/lib')",
    "sys.path.insert(0, str(Path(__file__).parent.parent / 'tools' / 'lib'))",
    "ROOT = Path(__file__).resolve().parents[1]\nsys.path.insert(0, str(ROOT / 'tools/lib'))",
    "sys.path.insert(0, Path(__file__).absolute().parent.joinpath('..', 'tools', 'lib').as_posix())",
    "import os\nHERE = os.path.dirname(__file__)\nsys.path.append(os.path.abspath(os.path.join(HERE, '../tools/lib')))",
)


async def test_folders_added_to_the_path_are_searched(tmp_path: Path) -> None:
    files = {f"evals/eval_{index}.py": HELPER.format(path=path) for index, path in enumerate(ADDED_PATHS)}
    unknown = {
        "evals/eval_argument.py": HELPER.format(path="sys.path.insert(0, sys.argv[1])"),
        "evals/eval_outside.py": HELPER.format(path="sys.path.insert(0, '../lib')"),
        "evals/eval_endless.py": HELPER.format(path="A = A / 'x'\nsys.path.insert(0, A)"),
    }
    suites_found = await find(tmp_path, {"tools/lib/helper.py": COMMON, **files, **unknown})
    assert [source.path for source in suites_found.sources] == sorted(files)


async def test_installed_packages_that_start_suites_are_followed(tmp_path: Path) -> None:
    site = ".venv/lib/python3.11/site-packages"
    files = {
        f"{site}/company/__init__.py": "",
        f"{site}/company/evals.py": COMMON,
        f"{site}/tools.py": "def run(name, task):\n    print(name)",
        f"{site}/large/__init__.py": "from large import deep",
        f"{site}/large/deep/__init__.py": "raise",
        "evals/eval_one.py": "from company.evals import run\nrun('one', print)",
        "evals/eval_data.py": "from company.evals import run",
        "evals/eval_tools.py": "import tools, large\ntools.run('one', print)",
    }
    suites_found = await find(tmp_path, files)
    (source,) = suites_found.sources
    assert (source.path, source.why.rpartition(", ")[2]) == (ONE, "starts a suite at line 2 through company.evals.run")
    assert suites_found.notices == ()
    (tmp_path / site / "company" / "evals.py").unlink()
    os.mkfifo(tmp_path / site / "company" / "evals.py")
    assert (await find(tmp_path, {})).sources == ()


def test_modules_next_to_an_installed_package_are_not_read(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    for name, text in {"company/__init__.py": "", "company/evals.py": COMMON, "large/__init__.py": "import os"}.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")
    modules = project_modules.ProjectModules(tmp_path / "project", installed=InstalledPackages((str(site),)))
    assert modules.locate("evals/eval_one.py", "large") is None
    module = modules.locate("evals/eval_one.py", "company.evals.run")
    assert module is not None
    assert module.files == (f"{site}/company/__init__.py", f"{site}/company/evals.py")
    assert modules.locate(module.files[-1], "large") is None
    assert modules.locate(module.files[-1], "company.evals") is not None
    assert modules.locate(module.files[-1], ".") is not None


async def test_a_possible_suite_file_is_a_notice(tmp_path: Path) -> None:
    files = {
        ONE: "import scoregate, sys\nfrom company import evals\nevals.start(sys.argv)",
        "evals/eval_two.py": "import scoregate\nimport broken\nbroken.run('two')",
        "evals/broken.py": "import scoregate\ndef run(:\n",
        "evals/tool.py": "import scoregate\nfrom company import evals\nevals.start()",
        "evals/eval_other.py": "from company import evals\nevals.start()",
    }
    suites_found = await find(tmp_path, files)
    one, two = (notice for notice in suites_found.notices if "no suite is found" in notice)
    assert one == (
        f"{ONE} was skipped: no suite is found in it, but line 3 calls company.evals.start, which may start one; "
        "call evaluate in this file, or give it a name that is not a suite's if it starts none"
    )
    assert "not all modules that it imports can be read" in two
    why = {each.path: each.why for each in suites_found.skipped}
    assert "which may start one" in why["evals/tool.py"]
    assert why["evals/eval_other.py"] == "starts no suite of scoregate"


async def test_modules_are_followed_within_limits(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository.root
    (root / "evals").mkdir()
    os.mkfifo(root / "evals" / "pipe.py")
    chain = {f"evals/m{index}.py": f"from m{index + 1} import run" for index in range(300)}
    start = f"import scoregate\nfrom m0 import run\nrun({'.x' * 0}'one', print)\n"
    suites_found = await find(
        root, {**chain, "evals/m300.py": COMMON, ONE: "import pipe\nfrom m0 import run\nrun('a', print)"}
    )
    assert [source.path for source in suites_found.sources] == [ONE]
    monkeypatch.setattr(project_modules, "_MOST_MODULES", 100)
    monkeypatch.setattr(project_calls, "_MOST_PARSED_BYTES", 0)
    suites_found = await find(root, {ONE: start})
    assert (suites_found.sources, len(suites_found.notices)) == ((), 1)


async def test_a_thousand_files_are_inspected_in_a_moment(repository: Repository) -> None:
    files = {"evals/common.py": COMMON, "src/app/__init__.py": ""}
    for index in range(200):
        files[f"src/app/m{index}.py"] = (
            f"import os\nfrom app import m{(index + 1) % 200}\ndef f():\n    return {index}\n" * 5
        )
    for index in range(1000):
        files[f"evals/eval_{index}.py"] = (
            f"from common import run\nfrom app import m{index % 200}\nrun('{index}', m{index % 200}.f)\n"
        )
    for name, text in files.items():
        repository.write(name, text)
    start = time.process_time()
    suites_found = await find(repository.root, {})
    assert len(suites_found.sources) == 1000
    assert time.process_time() - start < 5
