"""The base's tree: which commit it is, and what of the plan can be run in it."""

from __future__ import annotations

import os
import sys
import venv
from pathlib import Path

import anyio
import pytest
from tests.integration.ci.conftest import Repository

from scoregate.errors import GitError
from scoregate.kernel.job.baseline.rerun import (
    ImportFolders,
    add_base_suites,
    find_import_folders,
    link_node_packages,
    move_plan,
    open_base_tree,
)
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.discovery import choose_base_suites, plan_base_suites
from scoregate.kernel.run.interpreter import Interpreter
from scoregate.kernel.run.plan import DiscoveredSuites, Plan, SkippedSource, SourceKind, SuiteSource, make_plan

pytestmark = pytest.mark.anyio
RERUN = Settings(baseline="rerun")


async def test_the_base_is_the_merge_base(repository: Repository) -> None:
    first = repository.head
    repository.git("checkout", "-qb", "work")
    repository.commit("work.txt")
    repository.git("checkout", "-q", "main")
    repository.commit("main.txt")
    repository.git("checkout", "-q", "work")
    async with open_base_tree(repository.root, RERUN) as base:
        assert first[:7] in base.note
        assert base.note == f"rerun of main@{first[:7]}"
        assert [path.name for path in base.path.iterdir() if path.name != ".git"] == ["README.md"]
    assert not base.path.exists()


async def test_a_reference_may_be_named(repository: Repository) -> None:
    second = repository.commit("second.txt")
    repository.commit("third.txt")
    async with open_base_tree(repository.root, Settings(baseline="rerun:HEAD~1")) as base:
        assert base.note == f"rerun of HEAD~1@{second[:7]}"
    async with open_base_tree(repository.root, Settings(baseline=f"rerun:{second[:10]}")) as base:
        assert base.note == f"rerun of {second[:7]}"


async def test_a_branch_of_the_remote_is_found(repository: Repository) -> None:
    clone = repository.clone("clone")
    clone.git("checkout", "-q", "--detach")
    clone.git("branch", "-qD", "main")
    async with open_base_tree(clone.root, Settings(baseline="rerun:main")) as base:
        assert base.note == f"rerun of origin/main@{repository.head[:7]}, which is the commit itself"


async def test_a_project_in_a_subfolder_is_found_again(repository: Repository) -> None:
    repository.commit("apps/bot/evals/a.py")
    async with open_base_tree(repository.root / "apps" / "bot", RERUN) as base:
        assert (base.path / "evals" / "a.py").is_file()


async def test_a_missing_base_is_explained(repository: Repository, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for root, settings, message in (
        (outside, RERUN, "is not in a git repository"),
        (repository.root, Settings(baseline="rerun:v9"), "rerun:v9 is not a commit"),
        (repository.root, Settings(baseline="rerun", base_branch="trunk"), "has no branch trunk"),
    ):
        with pytest.raises(GitError, match=message) as caught:
            async with open_base_tree(root, settings):
                pass
        assert caught.value.advice


async def test_a_shallow_clone_gets_advice(repository: Repository) -> None:
    repository.git("checkout", "-qb", "work")
    repository.commit("work.txt")
    repository.git("checkout", "-q", "main")
    repository.commit("main.txt")
    clone = repository.clone("clone", "--depth=1", "--no-single-branch")
    clone.git("checkout", "-q", "work")
    with pytest.raises(GitError, match="no commit in common") as caught:
        async with open_base_tree(clone.root, RERUN):
            pass
    assert "fetch-depth: 0" in caught.value.advice


async def test_cancelling_removes_the_tree(repository: Repository) -> None:
    before = repository.state()
    with anyio.CancelScope() as scope:
        async with open_base_tree(repository.root, RERUN) as base:
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert not base.path.exists()
    assert repository.state() == before


def plan(root: Path) -> Plan:
    sources = (
        SuiteSource("evals/old.py", SourceKind.PYTHON),
        SuiteSource("evals/new.py", SourceKind.PYTHON),
        SuiteSource("js", SourceKind.COMMAND, argv=("node", "e.js"), cwd="web"),
        SuiteSource("go", SourceKind.COMMAND, argv=("go", "test"), cwd="gone"),
        SuiteSource("evals/bad.py", SourceKind.PYTHON, error="bad"),
    )
    return make_plan(
        DiscoveredSuites(tuple(sources)), Settings(repeats=3), interpreter=Interpreter(("/venv/python",), ""), root=root
    )


async def test_the_plan_is_the_same_except_for_missing_files(tmp_path: Path) -> None:
    root, tree = tmp_path / "root", tmp_path / "tree"
    for name in ("evals", "web"):
        (tree / name).mkdir(parents=True)
    (tree / "evals" / "old.py").touch()
    moved = move_plan(plan(root), tree, imports=ImportFolders((Path("/elsewhere"),), (root / "src", root / "lib")))
    script, command = moved.launches
    assert (script.argv, script.cwd) == (("/venv/python", "evals/old.py"), tree)
    assert script.environment == {
        "SCOREGATE_ROOT": str(tree),
        "SCOREGATE_REPORT": f"{root}/scoregate-out/comment.md",
        "SCOREGATE_REPEATS": "3",
        "SCOREGATE_CACHE": f"on:{root}/.scoregate-cache",
        "PYTHONPATH": f"/elsewhere:{tree}:{tree}/src:{tree}/lib",
    }
    assert (command.argv, command.cwd) == (("node", "e.js"), tree / "web")
    assert (moved.root, moved.broken) == (tree, ())
    assert moved.notices == tuple(f"{name} is new: the base does not have it" for name in ("evals/new.py", "go"))


async def test_installed_node_packages_are_linked(
    repository: Repository, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    repository.write(".gitignore", "node_modules\n")
    for folder in (".", "app", "app/web", "app/libs/a", "other"):
        repository.write(f"{folder}/package.json", "{}")
    repository.write("app/web/evals/e.js", "")
    (repository.root / "app" / "linked").symlink_to(outside)
    repository.commit("app/web/evals/deep/e.js")
    packages = ("", "app/", "app/web/", "app/web/evals/", "app/libs/a/", "app/linked/", "app/new/")
    for folder in packages:
        repository.write(f"{folder}node_modules/x/index.js", "")
    root = repository.root / "app"
    sources = (
        SuiteSource("js", SourceKind.COMMAND, argv=("node", "e.js"), cwd="web/evals/deep"),
        SuiteSource("linked", SourceKind.COMMAND, argv=("node", "e.js"), cwd="linked"),
    )
    here = make_plan(DiscoveredSuites(sources), Settings(), interpreter=Interpreter(("python",), ""), root=root)
    async with open_base_tree(root, RERUN) as base:
        link_node_packages(move_plan(here, base.path), here)
        top = base.path.parent
        assert {str(path.parent.relative_to(top)) for path in top.rglob("node_modules")} == {
            ".", "app", "app/web", "app/web/evals", "app/libs/a",
        }  # fmt: skip
        assert (base.path / "web" / "node_modules").resolve() == root / "web" / "node_modules"
    assert [path.name for path in outside.iterdir()] == ["node_modules"]
    assert not (outside / "node_modules").is_symlink()


async def test_without_import_folders_python_is_unchanged(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "old.py").touch()
    assert "PYTHONPATH" not in move_plan(plan(Path("/root")), tmp_path).launches[0].environment


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a virtual environment of its own, installed so that its source is what is imported."""
    root = tmp_path_factory.mktemp("installed").resolve()
    venv.create(root / ".venv", symlinks=True)
    (root / "src" / "bot").mkdir(parents=True)
    site = next((root / ".venv" / "lib").glob("python*/site-packages"))
    (site / "bot.pth").write_text(f"{root}/src\n", encoding="utf-8")
    finder = f'MAPPING = {{"tools": "{root}/lib/tools"}}\n'
    (site / "__editable___tools_finder.py").write_text(finder, encoding="utf-8")
    (site / "tools.pth").write_text("import __editable___tools_finder\n", encoding="utf-8")
    return root


async def test_imports_of_the_project_are_found(environment: Path) -> None:
    python = Interpreter((str(environment / ".venv" / "bin" / "python"),), "test")
    suites_found = await find_import_folders(python, environment, environ={"PYTHONPATH": "more:/elsewhere"})
    assert suites_found == ImportFolders(
        named=(environment / "more", Path("/elsewhere")), installed=(environment / "src", environment / "lib")
    )


@pytest.mark.parametrize("argv", [("/no/python",), ("false",), ("echo", "no json")])
async def test_a_hanging_python_is_no_error(tmp_path: Path, argv: tuple[str, ...]) -> None:
    assert (
        await find_import_folders(Interpreter(argv, ""), tmp_path, environ={"PATH": os.environ["PATH"]})
        == ImportFolders()
    )


async def test_the_base_imports_only_its_own_code(repository: Repository) -> None:
    repository.write(".gitignore", "__pycache__/\n")
    repository.write("evals/a.py", "import bot.core\nprint(bot.core.NAME)\n")
    repository.write("src/bot/__init__.py")
    repository.commit("src/bot/core.py", "NAME = 'base'\n")
    repository.write("src/bot/core.py", "NAME = 'changed'\n")
    environ = {"PYTHONPATH": str(repository.root / "src"), "PATH": os.environ["PATH"]}
    python = Interpreter((sys.executable,), "test")
    script = make_plan(
        DiscoveredSuites((SuiteSource("evals/a.py", SourceKind.PYTHON),)),
        Settings(),
        interpreter=python,
        root=repository.root,
    )
    async with open_base_tree(repository.root, RERUN) as base:
        imports = await find_import_folders(python, repository.root, environ=environ)
        (launch,) = move_plan(script, base.path, imports=imports).launches
        process = await anyio.run_process(launch.argv, cwd=launch.cwd, env={**environ, **launch.environment})
    assert process.stdout == b"base\n"


async def test_the_plan_of_the_base_drops_suites_that_cannot_run(tmp_path: Path) -> None:
    root, tree = tmp_path / "root", tmp_path / "tree"
    for name in ("same", "gone", "unset", "broken", "needing"):
        path = tree / "evals" / f"eval_{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"import scoregate\nscoregate.evaluate('{name}')\n", encoding="utf-8")
    needs = Settings.model_validate({"suites": {"needing": {"needs": ["MODEL_KEY"]}}})
    python = Interpreter(("python",), "")
    sources = (
        SuiteSource("evals/eval_same.py", SourceKind.PYTEST),
        SuiteSource("evals/eval_broken.py", SourceKind.PYTHON, error="broken"),
    )
    skipped = SkippedSource("evals/eval_unset.py", "MODEL_KEY is not set", needs=("MODEL_KEY",))
    here = make_plan(DiscoveredSuites(sources, (skipped,)), Settings(), interpreter=python, root=root)
    base = await plan_base_suites(tree, choose_base_suites(Settings(), needs), here, environ={})
    merged_plan = add_base_suites(here, base)
    assert [(launch.name, launch.kind) for launch in merged_plan.launches] == [
        ("evals/eval_same.py", SourceKind.PYTHON),
        ("evals/eval_gone.py", SourceKind.PYTHON),
    ]
    assert merged_plan.launches[0].argv == ("python", "evals/eval_same.py")
    assert [source.path for source in merged_plan.broken] == ["evals/eval_needing.py"]
    named = Settings(paths=("evals/eval_same.py",), origins={("paths",): "the command line"})
    narrow = await plan_base_suites(tree, choose_base_suites(named, Settings()), here, environ={})
    assert [launch.name for launch in narrow.launches] == ["evals/eval_same.py"]
