"""The plan of an installation: which of a project's files is used, for which groups, and what is ignored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scoregate.errors import InstallError, SettingsError
from scoregate.features.setup.install.plan import InstallPlan
from scoregate.features.setup.install.plans import find_install_plan
from scoregate.features.setup.install.python_project import WantedGroups
from scoregate.features.setup.interpreter import find_interpreter
from scoregate.kernel.judge.settings import Settings, load_settings

PROJECT = '[project]\nname = "shop"\nversion = "1"\n'
BACKEND = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
GROUPS = "[project.optional-dependencies]\nplots = []\n[dependency-groups]\nEval_Tools = []\n"
POETRY_BACKEND = '[build-system]\nrequires = ["poetry-core"]\nbuild-backend = "poetry.core.masonry.api"\n'
POETRY = (
    '[tool.poetry]\nname = "my-shop"\n[tool.poetry.dev-dependencies]\n[tool.poetry.group.test]\n'
    "[tool.poetry.group.docs]\noptional = true\n[tool.poetry.extras]\nplots = []\n"
)
PIPFILE_LOCK = {
    "_meta": {"sources": [{"url": "https://pypi.org/simple"}, {"url": "https://u:${TOKEN}@index.example/simple"}]},
    "default": {
        "one": {"version": "==1.0", "hashes": ["sha256:aa", "sha256:bb"], "markers": "python_version >= '3.7'"},
        "two": {"git": "https://git.example/two.git", "ref": "abc", "subdirectory": "lib", "extras": ["x", "y"]},
        "local": {"path": "./lib", "editable": True},
        "wheel": {"file": "https://files.example/wheel-1-py3-none-any.whl"},
    },
    "develop": {"three": {"version": "==3"}},
    "evals": {"four": {"version": "==4"}},
}


def write(root: Path, **files: str) -> None:
    """Write files; `__` in a name is a slash, `_dot_` a dot."""
    for name, content in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".").replace("_dash_", "-")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def settings(root: Path, install: str = "auto", *groups: str, python_version: str | None = None) -> Settings:
    flags = {"install": install, "install_groups": groups, "python_version": python_version}
    return load_settings(root, {}, flags=flags)


def plan(root: Path, *groups: str, install: str = "auto") -> InstallPlan:
    install_plan = find_install_plan(root, settings(root, install, *groups))
    assert install_plan is not None
    return install_plan


def commands(found: InstallPlan) -> list[str]:
    return [" ".join(step) for step in found.steps]


def problem(root: Path, *groups: str, install: str = "auto") -> str:
    with pytest.raises(InstallError) as exc_info:
        find_install_plan(root, settings(root, install, *groups))
    assert exc_info.value.advice
    return exc_info.value.message


def test_files_are_tried_in_the_documented_order(tmp_path: Path) -> None:
    write(
        tmp_path,
        uv_dot_lock="",
        poetry_dot_lock="",
        pdm_dot_lock="[metadata]\n",
        pylock_dot_toml="",
        Pipfile_dot_lock="{}",
        requirements_dot_txt="",
        pyproject_dot_toml=PROJECT,
        evals__requirements_dot_txt="",
        environment_dot_yml="",
    )
    order = ["uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "Pipfile.lock", "requirements.txt", "pyproject.toml"]
    for name in order:
        planned = plan(tmp_path)
        assert planned.why.startswith(name)
        ignored = next(note for note in planned.notes if note.startswith("ignored: "))
        rest = [other for other in order[order.index(name) + 1 :] if other != "pyproject.toml"]
        assert all(other in ignored for other in rest)
        assert "environment.yml, as Conda environments aren't supported" in ignored
        (tmp_path / name).unlink()
    assert plan(tmp_path).why == "evals/requirements.txt"
    (tmp_path / "evals" / "requirements.txt").unlink()
    assert "environment.yml, but Conda environments aren't supported" in problem(tmp_path)
    (tmp_path / "environment.yml").unlink()
    assert find_install_plan(tmp_path, settings(tmp_path)) is None
    only_python = find_install_plan(tmp_path, settings(tmp_path, python_version="3.12"))
    assert only_python is not None
    assert commands(only_python) == ["{uv} venv --python 3.12 {venv}"]


def test_nothing_is_ignored_in_a_plain_project(tmp_path: Path) -> None:
    write(tmp_path, uv_dot_lock="", pyproject_dot_toml=PROJECT)
    assert plan(tmp_path).notes == ()
    write(tmp_path, requirements_dot_in="", requirements_dot_txt="")
    (tmp_path / "uv.lock").unlink()
    assert plan(tmp_path).notes == (), "requirements.in is the source of requirements.txt"


def test_groups_and_extras_are_options_of_uv(tmp_path: Path) -> None:
    write(tmp_path, uv_dot_lock="", pyproject_dot_toml=PROJECT + GROUPS)
    assert commands(plan(tmp_path, "eval-tools", "plots")) == [
        "{uv} sync --frozen --group Eval_Tools --extra plots",
    ]
    message = problem(tmp_path, "nope")
    for part in ("'nope'", "--install-groups", "pyproject.toml", "dependency groups: Eval_Tools", "extras: plots"):
        assert part in message
    (tmp_path / "uv.lock").unlink()
    assert commands(plan(tmp_path, "eval-tools", "plots"))[1].endswith(
        "-r pyproject.toml --extra plots --group Eval_Tools"
    )


def test_a_workspace_member_uses_the_lock_of_the_root(tmp_path: Path) -> None:
    workspace = '[tool.uv.workspace]\nmembers = ["./services/*", "libs/**"]\nexclude = ["services/old"]\n'
    write(
        tmp_path,
        repo__uv_dot_lock="",
        repo__pyproject_dot_toml=workspace,
        repo__services__bot__pyproject_dot_toml=PROJECT + GROUPS,
        repo__services__old__pyproject_dot_toml=PROJECT,
        repo__libs__a__b__pyproject_dot_toml=PROJECT,
        repo__other__pyproject_dot_toml=PROJECT,
    )
    repo = tmp_path / "repo"
    folders = {name: repo / name for name in ("services/bot", "services/old", "libs/a/b", "other")}
    assert plan(folders["services/bot"]).why == "pyproject.toml", "no repository: folders above don't count"
    (repo / ".git").mkdir()
    why = {name: plan(folder).why for name, folder in folders.items()}
    assert why["services/bot"] == why["libs/a/b"] == f"uv.lock of the workspace in {repo}"
    assert why["services/old"] == why["other"] == "pyproject.toml"
    assert commands(plan(folders["services/bot"], "plots")) == ["{uv} sync --frozen --extra plots"]
    (repo / "notes").mkdir()
    assert plan(repo / "notes").why == f"uv.lock of the project in {repo}"
    (folders["services/bot"] / ".git").mkdir()
    assert plan(folders["services/bot"]).why == "pyproject.toml", "the repository ends there"


def test_a_member_runs_with_the_local_workspace(tmp_path: Path) -> None:
    write(
        tmp_path,
        uv_dot_lock="",
        pyproject_dot_toml='[tool.uv.workspace]\nmembers = ["bot"]\n',
        bot__pyproject_dot_toml=PROJECT + GROUPS,
        bin__uv="#!/bin/sh\n",
    )
    (tmp_path / ".git").mkdir()
    (tmp_path / "bin" / "uv").chmod(0o755)
    chosen = settings(tmp_path / "bot", "auto", "plots")
    groups = WantedGroups(chosen.install_groups)
    interpreter = find_interpreter(tmp_path / "bot", {"PATH": str(tmp_path / "bin")}, groups=groups)
    assert interpreter.argv[1:] == ("run", "--quiet", "--extra", "plots", "python")
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch(mode=0o755)
    interpreter = find_interpreter(tmp_path / "bot", {})
    assert (interpreter.argv, "workspace" in interpreter.why) == ((str(python),), True)


def test_poetry_exports_the_groups_that_it_installs(tmp_path: Path) -> None:
    header = "# This file is automatically @generated by Poetry 1.8.3 and should not be changed by hand.\n"
    write(tmp_path, poetry_dot_lock=header, pyproject_dot_toml=POETRY + POETRY_BACKEND, my_shop_dot_py="")
    planned = plan(tmp_path)
    export = commands(planned)[1]
    assert "--from poetry>=1,<2 --with poetry-plugin-export poetry export" in export
    assert export.endswith("--with test --with dev")
    assert commands(planned)[2].endswith("--no-deps -r {requirements}")
    assert planned.project_step[-3:] == ("--no-deps", "-e", ".")
    assert commands(plan(tmp_path, "docs", "plots", "test"))[1].endswith(
        "--with test --with dev --with docs --extras plots"
    )
    assert "optional groups: docs" in problem(tmp_path, "evals")
    (tmp_path / "my_shop.py").unlink()
    assert plan(tmp_path).project_step == (), "an application without a package"
    write(tmp_path, poetry_dot_lock="")
    assert "--from poetry --with" in commands(plan(tmp_path))[1]
    (tmp_path / "poetry.lock").unlink()
    write(tmp_path, my_shop_dot_py="")
    assert plan(tmp_path).steps[1][-2:] == ("-e", ".")
    with pytest.raises(InstallError) as exc_info:
        find_install_plan(tmp_path, settings(tmp_path, "auto", "test"))
    assert "poetry lock" in str(exc_info.value.advice)


def test_pdm_exports_the_groups_that_its_lock_has(tmp_path: Path) -> None:
    lock = '[metadata]\ngroups = ["default", "dev", "plots"]\n'
    write(tmp_path, pdm_dot_lock=lock, pyproject_dot_toml=PROJECT + BACKEND)
    planned = plan(tmp_path, "plots")
    assert "pdm export" in commands(planned)[1]
    assert commands(planned)[1].endswith("--group plots")
    assert planned.project_step
    assert "groups: dev, plots" in problem(tmp_path, "default")
    write(tmp_path, pyproject_dot_toml=f"{PROJECT}{BACKEND}[tool.pdm]\ndistribution = false\n")
    assert plan(tmp_path).project_step == ()
    for content in ("groups = 3", "metadata = 3", "[metadata]\ngroups = [1]\n"):
        write(tmp_path, pdm_dot_lock=content)
        assert "it has none" in problem(tmp_path, "plots")
    write(tmp_path, pdm_dot_lock="[")
    assert "pdm.lock is not valid TOML" in problem(tmp_path)


def test_a_pipfile_lock_becomes_requirements_with_hashes(tmp_path: Path) -> None:
    write(tmp_path, Pipfile="", Pipfile_dot_lock=json.dumps(PIPFILE_LOCK))
    planned = plan(tmp_path, "dev", "evals")
    assert planned.notes == ()
    assert planned.requirements == (
        "--extra-index-url https://u:${TOKEN}@index.example/simple\n"
        "one==1.0 ; python_version >= '3.7' --hash=sha256:aa --hash=sha256:bb\n"
        "two[x,y] @ git+https://git.example/two.git@abc#subdirectory=lib\n"
        f"-e {(tmp_path / 'lib').as_uri()}\n"
        "wheel @ https://files.example/wheel-1-py3-none-any.whl\n"
        "three==3\nfour==4\n"
    )
    assert "three" not in (plan(tmp_path).requirements or "")
    assert "categories: dev, dev-packages, develop, evals" in problem(tmp_path, "nope")
    only = {"_meta": {"sources": [{"url": "https://index.example/simple"}]}}
    write(tmp_path, Pipfile_dot_lock=json.dumps(only))
    assert plan(tmp_path).requirements == "--index-url https://index.example/simple\n"
    for content, part in (
        ("{", "not valid JSON"),
        ("[]", "is not a table"),
        ('{"default": 1}', "is not a table"),
        ('{"default": {"a": 1}}', "'a' is not a table"),
        ('{"default": {"a": {}}}', "'a' has no version"),
        ('{"default": {"a": {"version": "==1\\n--index-url https://x.example"}}}', "line break"),
    ):
        write(tmp_path, Pipfile_dot_lock=content)
        assert part in problem(tmp_path)
    (tmp_path / "Pipfile.lock").unlink()
    assert "no Pipfile.lock" in problem(tmp_path)


def test_requirements_of_many_layouts_are_found(tmp_path: Path) -> None:
    install = "{uv} pip install --python {python} "
    write(tmp_path, requirements_dot_in="")
    planned = plan(tmp_path)
    assert commands(planned)[1] == f"{install}-r requirements.in"
    assert "requirements.in is not compiled" in planned.notes[0]
    write(tmp_path, requirements__dev_dot_txt="", requirements__base_dot_txt="", requirements_dash_evals_dot_txt="")
    planned = plan(tmp_path, "evals")
    assert commands(planned)[1] == f"{install}-r requirements/base.txt -r requirements-evals.txt"
    assert any("requirements/dev.txt" in note for note in planned.notes)
    write(tmp_path, requirements_dot_txt="", test_requirements_dot_txt="", evals__requirements_dot_txt="")
    planned = plan(tmp_path, "dev", "test")
    assert (
        planned.why == "requirements.txt and evals/requirements.txt and requirements/dev.txt and test_requirements.txt"
    )
    assert "requirements files: base, dev, evals, test" in problem(tmp_path, "nope")
    write(tmp_path, pyproject_dot_toml=PROJECT + BACKEND + GROUPS)
    assert plan(tmp_path).project_step == (), "its code is in the root, where suites find it"
    (tmp_path / "src").mkdir()
    assert plan(tmp_path).project_step[-3:] == ("--no-deps", "-e", ".")
    assert commands(plan(tmp_path, "plots", "eval.tools"))[1] == (
        f"{install}-r requirements.txt -r evals/requirements.txt --group Eval_Tools -r pyproject.toml --extra plots"
    )


def test_requirements_of_a_folder_are_not_the_projects(tmp_path: Path) -> None:
    write(tmp_path, requirements__docs_dot_txt="", requirements_dot_in="", pyproject_dot_toml=PROJECT)
    planned = plan(tmp_path)
    assert planned.why == "pyproject.toml"
    assert planned.notes == ("ignored: requirements.in, requirements/docs.txt, as pyproject.toml is used",)
    assert plan(tmp_path, install="requirements").why == "requirements.in"
    (tmp_path / "pyproject.toml").unlink()
    (tmp_path / "requirements.in").unlink()
    assert find_install_plan(tmp_path, settings(tmp_path)) is None


def test_ignored_dependencies_of_the_project_itself_are_listed(tmp_path: Path) -> None:
    pyproject = PROJECT + 'dependencies = ["b"]\n'
    write(
        tmp_path,
        requirements_dot_txt="a\n",
        setup_dot_py="",
        setup_dot_cfg="[metadata]\n",
        pyproject_dot_toml=pyproject,
    )
    ignored = ("ignored: pyproject.toml, setup.py, setup.cfg, as requirements.txt is used",)
    assert plan(tmp_path).notes == ignored
    for line in ("-e .", ".[plots]  # the project", "--editable=./", ". ; python_version > '3'"):
        write(tmp_path, requirements_dot_txt=f"a\n{line}\n")
        assert plan(tmp_path).notes == (), line
    write(tmp_path, requirements_dot_txt="-e ./other\n.hidden\n")
    assert plan(tmp_path).notes == ignored
    write(tmp_path, setup_dot_cfg="[flake8]\n", pyproject_dot_toml=PROJECT)
    (tmp_path / "setup.py").unlink()
    assert plan(tmp_path).notes == ()


def test_requirements_of_a_group_are_installed_on_request(tmp_path: Path) -> None:
    write(tmp_path, requirements_dash_evals_dot_txt="")
    assert find_install_plan(tmp_path, settings(tmp_path)) is None
    assert plan(tmp_path, "evals").why == "requirements-evals.txt"
    assert "requirements files: evals" in problem(tmp_path, "nope")


def test_a_project_that_is_a_package_is_installed(tmp_path: Path) -> None:
    write(tmp_path, pyproject_dot_toml=PROJECT)
    assert plan(tmp_path).project_step == ()
    write(tmp_path, pyproject_dot_toml=PROJECT + BACKEND, evals__requirements_dot_txt="")
    planned = plan(tmp_path)
    assert commands(planned)[1].endswith("-r pyproject.toml -r evals/requirements.txt")
    assert planned.why == "pyproject.toml and evals/requirements.txt"
    assert planned.project_step[-3:] == ("--no-deps", "-e", ".")
    write(tmp_path, pyproject_dot_toml=f"{PROJECT}{BACKEND}[tool.uv]\npackage = false\n")
    assert plan(tmp_path).project_step == ()


def test_setup_files_are_read_and_not_run(tmp_path: Path) -> None:
    write(tmp_path, setup_dot_cfg="[flake8]\nx = 1\n")
    assert find_install_plan(tmp_path, settings(tmp_path)) is None
    write(tmp_path, setup_dot_cfg="[metadata]\nname = shop\n[options.extras_require]\nplots =\n  a\n")
    planned = plan(tmp_path, "plots")
    assert (planned.why, planned.steps[1][-2:]) == ("setup.cfg", ("-e", ".[plots]"))
    write(tmp_path, setup_dot_py="import os\nos.abort()\nsetup(extras_require={'evals': [], **more})\n")
    planned = plan(tmp_path, "evals", "plots")
    assert (planned.why, planned.steps[1][-1]) == ("setup.py", ".[evals,plots]")
    write(tmp_path, setup_dot_py="(" * 5000, setup_dot_cfg="nonsense")
    assert plan(tmp_path).steps[1][-1] == "."


def test_environments_of_hatch_add_their_packages(tmp_path: Path) -> None:
    environments = (
        '[tool.hatch.envs.default]\ndependencies = ["a"]\nfeatures = ["plots"]\n'
        '[tool.hatch.envs.evals]\nextra-dependencies = ["b @ {root:uri}/b.whl"]\ndependency-groups = ["Eval_Tools"]\n'
        '[tool.hatch.envs.alone]\ndetached = true\ndependencies = ["c"]\n'
        '[tool.hatch.envs.odd]\ntemplate = "evals"\ndependencies = ["{env:X}"]\n'
        '[tool.hatch.envs.loop]\ntemplate = "pool"\n[tool.hatch.envs.pool]\ntemplate = "loop"\n'
    )
    write(tmp_path, pyproject_dot_toml=PROJECT + BACKEND + GROUPS + environments)
    assert plan(tmp_path).requirements == "a\n"
    planned = plan(tmp_path, "evals")
    assert planned.requirements == f"a\nb @ {tmp_path.as_uri()}/b.whl\n"
    assert commands(planned)[1].endswith("--extra plots --group Eval_Tools -r {requirements}")
    assert plan(tmp_path, "alone").requirements == "a\nc\n"
    assert plan(tmp_path, "loop").requirements == "a\n"
    assert "only Hatch can read" in problem(tmp_path, "odd")
    assert "Hatch environments: alone, default, evals" in problem(tmp_path, "nope")
    write(tmp_path, hatch_dot_toml='[envs.default]\nskip-install = true\ndependencies = ["d"]\n')
    planned = plan(tmp_path)
    assert (planned.requirements, planned.project_step) == ("d\n", ())


def test_a_named_tool_needs_its_files(tmp_path: Path) -> None:
    write(tmp_path, requirements_dot_txt="", pyproject_dot_toml=PROJECT)
    assert plan(tmp_path, install="project").why == "pyproject.toml"
    for install, part in (
        ("uv-sync", "uv.lock"),
        ("poetry", "poetry.lock"),
        ("pdm", "pdm.lock"),
        ("pipenv", "Pipfile"),
    ):
        message = problem(tmp_path, install=install)
        assert f"install = '{install}' (--install)" in message
        assert part in message
    assert find_install_plan(tmp_path, settings(tmp_path, "none", "nope")) is None
    planned = plan(tmp_path, "nope", install="make install")
    assert (planned.steps[1], planned.notes) == (
        ("sh", "-ec", "make install"),
        ("install_groups is ignored: `install` is a command",),
    )


def test_names_of_groups_are_checked(tmp_path: Path) -> None:
    for name in ("--index-url", "a b", "a\n", "ä"):
        with pytest.raises(SettingsError, match="no name of a dependency group or extra"):
            settings(tmp_path, "auto", name)
    assert load_settings(tmp_path, {"INPUT_INSTALL-GROUPS": "a, b\nc"}).install_groups == ("a", "b", "c")
    assert "it has none" in problem(tmp_path, "a")
