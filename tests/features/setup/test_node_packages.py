"""How the packages of a package.json are installed, and which suites need Node.js."""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import nullcontext
from pathlib import Path
from time import process_time

import pytest

from scoregate.errors import InstallError
from scoregate.features.setup.javascript.installer import Installer
from scoregate.features.setup.javascript.packages import find_package_plan
from scoregate.features.setup.javascript.preparation import JavaScript, find_javascript, names_node
from scoregate.features.setup.javascript.project_files import WorkspaceFiles
from scoregate.kernel.host.secrets import Redactor
from scoregate.kernel.host.user_ids import NOBODY, Identity
from scoregate.kernel.run.plan import SourceKind, SuiteSource

YARN_1, YARN_4 = "# yarn lockfile v1\n", "# yarn\n\n__metadata:\n  version: 8\n  cacheKey: 10\n"
PNPM = "lockfileVersion: '9.0'\n"
# What is in a folder: the text of its lock files and its package manager. Then the command, and what is fetched for it.
LOCKS = [
    ({"package-lock.json": "{}"}, "", "npm ci", None),
    ({"npm-shrinkwrap.json": "{}", "package-lock.json": "{}"}, "npm@10.0.0", "npm ci", None),
    ({"pnpm-lock.yaml": PNPM}, "", "pnpm install --frozen-lockfile", "pnpm@10"),
    ({"pnpm-lock.yaml": "lockfileVersion: 5.4\n"}, "", "pnpm install --frozen-lockfile", "pnpm@7"),
    ({"pnpm-lock.yaml": PNPM}, "pnpm@9.1.0+sha512.abc", "pnpm install --frozen-lockfile", "pnpm@9.1.0"),
    ({"yarn.lock": YARN_1}, "", "yarn install --frozen-lockfile --non-interactive", "yarn@1"),
    ({"yarn.lock": YARN_1}, "yarn@1.22.1", "yarn install --frozen-lockfile --non-interactive", "yarn@1.22.1"),
    ({"yarn.lock": YARN_4}, "", "yarn install --immutable", "@yarnpkg/cli-dist@4.13"),
    ({"yarn.lock": YARN_4}, "yarn@4.1.0", "yarn install --immutable", "@yarnpkg/cli-dist@4.1.0"),
    ({"package-lock.json": "{}", "yarn.lock": YARN_4}, "yarn@4.1.0", "yarn install --immutable",
     "@yarnpkg/cli-dist@4.1.0"),
    ({"package-lock.json": "{}", "yarn.lock": YARN_4}, "pnpm@9.1.0", "npm ci", None),
    ({"pnpm-lock.yaml": PNPM}, "pnpm@$(touch x)", "pnpm install --frozen-lockfile", "pnpm@10"),
    ({}, "", "npm install --no-save --no-package-lock", None),
]  # fmt: skip


def write(folder: Path, locks: dict[str, str], **package: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps(package))
    for name, text in locks.items():
        (folder / name).write_text(text)


def test_lock_files_choose_the_package_manager(tmp_path: Path) -> None:
    for number, (locks, manager, command, tool) in enumerate(LOCKS):
        folder = tmp_path / str(number)
        write(folder, locks, packageManager=manager, dependencies={"a": "1"})
        plan = find_package_plan(folder, WorkspaceFiles(tmp_path))
        assert plan is not None
        assert (" ".join(plan.command), plan.tool, plan.folder) == (command, tool, folder), (locks, manager)


def test_the_plan_names_its_files_and_what_is_ignored(tmp_path: Path) -> None:
    write(tmp_path, {"package-lock.json": "{}", "yarn.lock": YARN_1}, packageManager="pnpm@9.1.0")
    plan = find_package_plan(tmp_path, WorkspaceFiles(tmp_path))
    assert plan is not None
    assert plan.describe() == (
        "packages: `npm ci` (package-lock.json; yarn.lock is ignored; package.json asks for pnpm, but there is no lock "
        "file of pnpm)"
    )
    (tmp_path / "node_modules" / ".cache").mkdir(parents=True)
    assert not plan.is_installed
    (tmp_path / "node_modules" / "a").mkdir()
    assert plan.describe().startswith("packages: installed by an earlier step (package-lock.json")


def test_a_package_of_a_workspace_uses_the_lock_at_its_root(tmp_path: Path) -> None:
    write(tmp_path, {"package-lock.json": "{}"}, workspaces=["web"])
    write(tmp_path / "web", {}, dependencies={"a": "1"})
    files = WorkspaceFiles(tmp_path)
    (tmp_path / "web" / "evals").mkdir()
    plan = find_package_plan(tmp_path / "web" / "evals", files)
    assert plan is not None
    assert (plan.folder, plan.why) == (tmp_path, "package-lock.json")
    write(tmp_path, {})
    plan = find_package_plan(tmp_path / "web", files)
    assert plan is not None
    assert plan.folder == tmp_path / "web", "the lock above belongs to another package"
    (tmp_path / "package-lock.json").unlink()
    write(tmp_path, {"pnpm-workspace.yaml": "packages: [web]\n", "pnpm-lock.yaml": PNPM})
    plan = find_package_plan(tmp_path / "web", files)
    assert plan is not None
    assert (plan.folder, plan.tool) == (tmp_path, "pnpm@10")


def test_only_members_of_a_workspace_use_its_lock(tmp_path: Path) -> None:
    files = WorkspaceFiles(tmp_path)
    for folder in ("evals", "libs/a", "libs/deep/b", "libs/old"):
        write(tmp_path / folder, {}, dependencies={"a": "1"})
    pnpm = (
        "packages:\n  # ours\n  - 'libs/*' # all\n\n  - \"libs/deep/**\"\n  - '!libs/old'\nbuilt:\n  - evals\n",
        "catalog: {}\npackages: ['libs/*', \"libs/deep/**\", '!libs/old']\n",
        "packages:\n- libs/*\n- libs/deep/b\n- '!**/old'",
    )
    declared = (["./libs/*", "libs/{deep,far}/*", "!libs/old"], {"packages": ["libs/**", "!libs/old", 3]})
    layouts = [({"package-lock.json": "{}"}, {"workspaces": each}) for each in declared]
    layouts += [({"pnpm-lock.yaml": PNPM, "pnpm-workspace.yaml": text}, {}) for text in pnpm]
    for locks, package in layouts:
        write(tmp_path, locks, **package)
        plans = {
            name: find_package_plan(tmp_path / name, files) for name in ("evals", "libs/a", "libs/deep/b", "libs/old")
        }
        folders = {name: plan.folder for name, plan in plans.items() if plan is not None}
        assert folders == {
            "evals": tmp_path / "evals",
            "libs/a": tmp_path,
            "libs/deep/b": tmp_path,
            "libs/old": tmp_path / "libs/old",
        }, (locks, package)
        for name in locks:
            (tmp_path / name).unlink()


def test_hostile_globs_are_fast(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*"abcdefghijklmnopqrst")
    write(deep, {}, dependencies={"a": "1"})
    globs = ["**/a*/" * 9 + "x", "{a,b}" * 40, "**/*/" * 10, "*" * 400, "a" * 10_000]
    write(
        tmp_path, {"package-lock.json": "{}", "pnpm-workspace.yaml": "packages:\n" + "-\n" * 100_000}, workspaces=globs
    )
    started = process_time()
    plan = find_package_plan(deep, WorkspaceFiles(tmp_path))
    assert process_time() - started < 1
    assert plan is not None
    assert plan.folder == tmp_path


def test_packages_can_be_absent(tmp_path: Path) -> None:
    files = WorkspaceFiles(tmp_path)
    assert find_package_plan(tmp_path, files) is None
    write(tmp_path, {}, type="module")
    assert find_package_plan(tmp_path, files) is None
    assert find_package_plan(tmp_path.parent, files) is None


def test_unsupported_files_are_errors(tmp_path: Path) -> None:
    cases = {
        "bun.lock": "scoregate doesn't support bun.lock",
        "pnpm-lock.yaml": "pnpm-lock.yaml has the format version unknown",
    }
    for name, message in cases.items():
        write(tmp_path, {name: "{}"}, dependencies={"a": "1"})
        with pytest.raises(InstallError, match=message):
            find_package_plan(tmp_path, WorkspaceFiles(tmp_path))
        (tmp_path / "node_modules" / "a").mkdir(parents=True)
        plan = find_package_plan(tmp_path, WorkspaceFiles(tmp_path))
        assert plan is not None
        assert plan.describe() == f"packages: installed by an earlier step ({name})"
        shutil.rmtree(tmp_path / "node_modules")
        (tmp_path / name).unlink()
    os.mkfifo(tmp_path / "yarn.lock")
    plan = find_package_plan(tmp_path, WorkspaceFiles(tmp_path))
    assert plan is not None
    assert plan.command[:2] == ("npm", "install"), "a lock that is not a file doesn't count"


def needs(root: Path, *argv: str, cwd: str = ".") -> bool:
    source = SuiteSource("demo", SourceKind.COMMAND, argv=argv, cwd=cwd)
    return find_javascript(root, root, [source], path="", with_packages=True) is not None


def test_commands_that_need_node_are_recognized(tmp_path: Path) -> None:
    for argv in (
        ["node", "a.mjs"], ["npx", "promptfoo", "eval"], ["/usr/bin/npm", "test"], ["pnpm", "x"], ["tsx", "a"],
        ["yarn"], ["sh", "-c", "cd web && npx vitest run"], ["env", "A=1", "jest"], ["./evals/run.mjs"],
        ["./evals/run.ts"],
    ):  # fmt: skip
        assert needs(tmp_path, *argv), argv
    for argv in (["sh", "evals/smoke.sh"], ["cargo", "run"], ["python", "make_node.py"], ["uv", "run", "node"]):
        assert not needs(tmp_path, *argv), argv
    assert names_node("npm ci && uv sync")
    assert not names_node("uv sync --all-extras")


def test_a_package_json_makes_other_commands_need_it(tmp_path: Path) -> None:
    write(tmp_path / "web", {}, devDependencies={"ava": "6"})
    for argv in (["go", "run", "./evals"], ["go", "run", "./cmd/node"], ["cargo", "test"], ["./run"], ["eslint"]):
        assert not needs(tmp_path, *argv, cwd="web"), argv
    for argv in (["ava"], ["timeout", "60", "npx", "ava"], ["sh", "run.sh"], ["just", "evals"]):
        assert needs(tmp_path, *argv, cwd="web"), argv
    (tmp_path / "api").mkdir()
    assert needs(tmp_path, "make", "evals", cwd="web")
    assert not needs(tmp_path, "make", "evals", cwd="api")
    assert not needs(tmp_path, "python3", "-m", "evals", cwd="web")
    script = SuiteSource("evals/demo.py", SourceKind.PYTHON)
    assert find_javascript(tmp_path / "web", tmp_path, [script], path="", with_packages=True) is None


def test_a_guessed_need_does_not_fail(tmp_path: Path) -> None:
    write(tmp_path, {"bun.lock": ""}, dependencies={"a": "1"})

    def find(*argv: str) -> JavaScript | None:
        source = SuiteSource("demo", SourceKind.COMMAND, argv=argv)
        return find_javascript(tmp_path, tmp_path, [source], path="", with_packages=True)

    assert find("go", "run", "./evals") is None
    found = find("make", "evals")
    assert found is not None
    assert (found.is_needed, found.plans) == (False, ())
    assert "scoregate doesn't support bun.lock" in found.describe()[-1]
    with pytest.raises(InstallError, match="doesn't support bun"):
        find("node", "run.mjs")


@pytest.mark.anyio
async def test_a_workspace_of_root_fails_only_commands_that_need_packages(tmp_path: Path) -> None:
    write(tmp_path, {"package-lock.json": "{}"})
    printed: list[str] = []
    identity = Identity(NOBODY, NOBODY, owns=False)
    installer = Installer(tmp_path, {}, Redactor(()), printed.append, identity, 9, "install = 'auto'")
    for argv, is_needed in ((("make", "evals"), False), (("node", "run.mjs"), True)):
        source = SuiteSource("demo", SourceKind.COMMAND, argv=argv)
        javascript = find_javascript(tmp_path, tmp_path, [source], path="", with_packages=True)
        assert javascript is not None
        with pytest.raises(InstallError, match="root owns the workspace") if is_needed else nullcontext():
            await javascript.install_packages(installer, None)
    assert printed == [
        f"packages can't be installed in {tmp_path}: root owns the workspace, so suites can't write into it"
    ]


@pytest.mark.anyio
async def test_what_a_command_prints_is_marked(tmp_path: Path) -> None:
    printed: list[str] = []
    installer = Installer(tmp_path, {}, Redactor(()), printed.append, None, 60, "install = 'auto'")
    await installer.run((sys.executable, "-c", "print('added 1 package')"), tmp_path, why="a test")
    installer.report("packages installed")
    command, output, own = printed
    assert (command[:2], output, own) == ("$ ", "  | added 1 package", "packages installed")


def test_a_need_can_be_set(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match=r"has no package\.json"):
        find_javascript(tmp_path, tmp_path, [], path="", with_packages=True, forced=True)
    write(tmp_path, {"package-lock.json": "{}"}, engines={"node": "22"})
    javascript = find_javascript(tmp_path, tmp_path, [], path="", with_packages=True, forced=True)
    assert javascript is not None
    assert javascript.describe() == (
        "Node.js: installed from PyPI (engines.node of package.json asks for 22)",
        "packages: `npm ci` (package-lock.json)",
    )
    assert javascript.folders == (tmp_path,)
