"""What is found in real folders, with git and without."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.integration.ci.conftest import Repository

from scoregate.errors import UsageError
from scoregate.kernel.host import git
from scoregate.kernel.judge.settings import load_settings
from scoregate.kernel.run.discover import python_files
from scoregate.kernel.run.discover.files import ProjectFiles
from scoregate.kernel.run.discover.python_files import MAX_BYTES
from scoregate.kernel.run.discovery import find_suites
from scoregate.kernel.run.plan import DiscoveredSuites, SourceKind

pytestmark = pytest.mark.anyio


def suite(name: str = "demo") -> str:
    return f"from scoregate.testing.run import run_test_suite\n\nrun_test_suite(id={name!r}, test_cases=[], fn=print)\n"


async def find(root: Path, **flags: Any) -> DiscoveredSuites:
    return await find_suites(ProjectFiles(root), load_settings(root, {}, flags=flags))


def paths(suites: DiscoveredSuites) -> list[str]:
    return [source.path for source in suites.sources]


def why(suites: DiscoveredSuites) -> dict[str, str]:
    return {each.path: each.why for each in suites.skipped}


async def test_only_the_usual_folders_are_searched(repository: Repository) -> None:
    repository.write(".gitignore", "ignored/\n")
    usual = [
        "evals/deep/any.py",
        "evals/main.py",
        "src/eval_a.py",
        "src/b_eval.py",
        "c.eval.py",
        "services/x/evals/f.py",
    ]
    others = [
        "src/other.py",
        "src/evals.py",
        "my_evals/d.py",
        "node_modules/x/eval_e.py",
        "lib/site-packages/evals/f.py",
    ]
    for name in (*usual, *others, "ignored/eval_d.py", "ignored/evals/g.py"):
        repository.write(name, suite(name))
    suites_found = await find(repository.root)
    assert paths(suites_found) == sorted(usual)
    source = next(each for each in suites_found.sources if each.path == "evals/main.py")
    assert (source.kind, source.line, source.suite_ids) == (SourceKind.PYTHON, 3, ("evals/main.py",))
    assert source.why == "in evals/, starts a suite at line 3"
    nested = next(each for each in suites_found.sources if each.path == "services/x/evals/f.py")
    assert nested.why == "in services/x/evals/, starts a suite at line 3"


async def test_outside_git_other_folders_are_skipped(tmp_path: Path) -> None:
    for name in (
        "evals/a.py",
        "x/eval_b.py",
        ".tox/eval_c.py",
        "env/lib/eval_d.py",
        "build/eval_e.py",
        "dist/eval_f.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(suite(name), encoding="utf-8")
    (tmp_path / "env" / "pyvenv.cfg").touch()
    assert paths(await find(tmp_path)) == ["evals/a.py", "x/eval_b.py"]


async def test_outside_git_skills_are_found_in_the_folders_of_agents(tmp_path: Path) -> None:
    for folder in (".claude/skills/a", ".agents/skills/b", ".cache/skills/c", "skills/d"):
        (tmp_path / folder / "evals").mkdir(parents=True)
        (tmp_path / folder / "SKILL.md").touch()
        (tmp_path / folder / "evals" / "evals.json").write_text('{"evals": [{"prompt": "Go", "checks": ["true"]}]}')
    expected = [".agents/skills/b/SKILL.md", ".claude/skills/a/SKILL.md", "skills/d/SKILL.md"]
    assert sorted(why(await find(tmp_path))) == expected


async def test_files_without_a_suite_are_skipped_with_the_reason(repository: Repository) -> None:
    repository.write("evals/data.py", "x = 1")
    repository.write("evals/never.py", f"def main():\n    pass\n{suite()}".replace("\nrun_", "\ndef go():\n    run_"))
    suites_found = await find(repository.root)
    assert paths(suites_found) == []
    assert why(suites_found) == {
        "evals/data.py": "starts no suite of scoregate",
        "evals/never.py": "starts a suite at line 6, but in a function that the file never calls",
    }


async def test_invalid_templates_and_texts_are_no_suites(repository: Repository) -> None:
    call = "from scoregate.testing.run import run_test_suite\n"
    files = {
        "templates/evals/jinja.py": f"{call}{{% if cases %}}\nrun_test_suite(id='a')\n{{% endif %}}\n",
        "templates/evals/cookie.py": f"{call}from {{{{ cookiecutter.name }}}} import bot\n",
        "templates/evals/name.py": f"{call}from {{{{name}}}}.bot import answer\n",
        "docs/evals/text.py": "Write `scoregate run` to start it.\n",
    }
    for name, text in files.items():
        repository.write(name, text)
    suites_found = await find(repository.root)
    assert (suites_found.sources, len(suites_found.notices)) == ((), len(files))
    for name in files:
        assert any(notice.startswith(f"{name} was skipped: Python ") for notice in suites_found.notices), name
    assert (await find(repository.root, paths=["docs/evals/text.py"])).sources[0].error
    for name in ("evals/text.py", "evals/jinja.py", "services/x/evals/real.py"):
        repository.write(name, f"{call}def broken(:\n" if "real" in name else files["templates/evals/jinja.py"])
    suites_found = await find(repository.root)
    assert [each.path for each in suites_found.sources if each.error] == [
        "evals/jinja.py",
        "evals/text.py",
        "services/x/evals/real.py",
    ]


async def test_a_syntax_error_has_its_line(repository: Repository) -> None:
    repository.write("evals/broken.py", "import scoregate\ndef f(:\n")
    repository.write("evals/good.py", suite())
    broken, good = (await find(repository.root)).sources
    assert (broken.error or "").startswith("evals/broken.py:2: Python 3.")
    assert good.error is None


async def test_a_file_that_does_not_mention_scoregate_is_not_parsed(repository: Repository) -> None:
    names = ["evals/template.py", "legacy/eval_old.py"]
    for name in names:
        repository.write(name, "print 'python 2'\n")
    suites_found = await find(repository.root)
    assert paths(suites_found) == []
    assert why(suites_found) == dict.fromkeys(names, "starts no suite of scoregate")


async def test_only_named_paths_are_searched(repository: Repository) -> None:
    repository.write("evals/a.py", suite("a"))
    repository.write("mine/b.py", suite("b"))
    repository.write("mine/deep/c.py", suite("c"))
    assert paths(await find(repository.root, paths=["mine", "mine/b.py"])) == ["mine/b.py", "mine/deep/c.py"]
    assert paths(await find(repository.root, paths=["."])) == ["evals/a.py", "mine/b.py", "mine/deep/c.py"]
    assert paths(await find(repository.root, paths=[str(repository.root / "mine" / "b.py")])) == ["mine/b.py"]


async def test_a_named_folder_that_git_ignores_is_searched(repository: Repository) -> None:
    repository.write(".gitignore", "scratch/\n")
    repository.write("scratch/x.py", suite())
    assert paths(await find(repository.root, paths=["scratch"])) == ["scratch/x.py"]


@pytest.mark.parametrize(
    ("path", "message"),
    [("gone.py", "does not exist"), ("README.md", "is neither a Python file"), ("pipe.py", "is neither a Python file")],
)
async def test_a_named_path_that_is_no_suite_file_is_an_error(repository: Repository, path: str, message: str) -> None:
    os.mkfifo(repository.root / "pipe.py")
    with pytest.raises(UsageError, match=rf"{path} {message}.* \(named by the command line\)"):
        await find(repository.root, paths=[path])


async def test_named_files_without_a_suite_are_one_error(repository: Repository) -> None:
    repository.write("a.py", "x = 1")
    repository.write("b.py", "x = 2")
    with pytest.raises(UsageError, match=r"a\.py: starts no suite(.|\n)*b\.py: starts no suite") as caught:
        await find(repository.root, paths=["a.py", "b.py"])
    assert "[[commands]]" in caught.value.advice


async def test_a_named_file_with_a_syntax_error_fails(repository: Repository) -> None:
    repository.write("a.py", "def")
    (source,) = (await find(repository.root, paths=["a.py"])).sources
    assert source.error is not None


async def test_links_are_followed_once(repository: Repository) -> None:
    repository.write("evals/real.py", suite())
    (repository.root / "evals" / "again.py").symlink_to("real.py")
    (repository.root / "evals" / "loop.py").symlink_to("loop.py")
    (repository.root / "evals" / "gone.py").symlink_to("nowhere.py")
    (repository.root / "evals" / "round").symlink_to(".")
    suites_found = await find(repository.root)
    assert paths(suites_found) == ["evals/real.py"]
    assert why(suites_found)["evals/again.py"] == "the same file as evals/real.py"
    assert why(suites_found)["evals/gone.py"] == "not a regular file"


async def test_a_link_and_its_file_may_be_named(repository: Repository) -> None:
    repository.write("real.py", suite())
    (repository.root / "link.py").symlink_to("real.py")
    assert paths(await find(repository.root, paths=["link.py", "real.py"])) == ["real.py"]
    assert paths(await find(repository.root, paths=["link.py"])) == ["link.py"]


async def test_an_undecodable_name_is_named(repository: Repository) -> None:
    repository.write("evals/\udcff.py", suite())
    suites_found = await find(repository.root)
    assert paths(suites_found) == []
    assert suites_found.notices == ("evals/\ufffd.py was skipped: its name is not UTF-8",)


async def test_circular_links_end_outside_git(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "a.py").write_text(suite(), encoding="utf-8")
    (tmp_path / "evals" / "round").symlink_to(tmp_path)
    assert paths(await find(tmp_path)) == ["evals/a.py"]


async def test_a_huge_file_is_not_read(repository: Repository) -> None:
    repository.write("evals/huge.py", suite() + "#" * MAX_BYTES)
    suites_found = await find(repository.root)
    assert paths(suites_found) == []
    assert suites_found.notices == ("evals/huge.py was skipped: too large to be a suite (5.2 MB)",)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
async def test_an_unreadable_file_is_an_error(repository: Repository) -> None:
    repository.write("evals/secret.py", suite()).chmod(0)
    (source,) = (await find(repository.root)).sources
    assert source.error == "evals/secret.py can't be read: Permission denied"


async def test_a_deleted_file_in_the_index_is_skipped(repository: Repository) -> None:
    repository.commit("evals/a.py", suite())
    (repository.root / "evals" / "a.py").unlink()
    assert paths(await find(repository.root)) == []


async def test_known_suite_ids_select_suites(repository: Repository) -> None:
    repository.write("evals/a.py", suite("support-bot"))
    repository.write("evals/b.py", suite("router"))
    repository.write("evals/c.py", suite().replace("'demo'", "NAME"))
    suites_found = await find(repository.root, suite=["support-*", "x"])
    assert paths(suites_found) == ["evals/a.py", "evals/c.py"]
    assert why(suites_found) == {"evals/b.py": "its suites (router) match none of support-*, x"}


async def test_one_id_in_two_files_is_noticed(repository: Repository) -> None:
    repository.write("evals/a.py", suite())
    repository.write("evals/b.py", suite())
    (notice,) = (await find(repository.root)).notices
    assert notice.startswith("the suite id demo is used in evals/a.py, evals/b.py")


async def test_pytest_runs_tests(repository: Repository) -> None:
    test = "from scoregate.testing import run_test_suite\n\ndef test_it():\n    run_test_suite(id='t')\n"
    repository.write("evals/test_a.py", test)
    (source,) = (await find(repository.root)).sources
    assert (source.kind, source.suite_ids) == (SourceKind.PYTEST, ("t",))


async def test_files_are_listed_once_and_parsed_only_if_they_mention_scoregate(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(50):
        repository.write(f"services/x{number}/evals/data.py", "x = 1\n")
    repository.write("evals/a.py", suite())
    calls, parsed = [], []
    list_files, read_script = git.list_files, python_files.read_script
    monkeypatch.setattr(git, "list_files", lambda root: calls.append(root) or list_files(root))
    monkeypatch.setattr(python_files, "read_script", lambda *source: parsed.append(source) or read_script(*source))
    assert paths(await find(repository.root)) == ["evals/a.py"]
    assert (len(calls), len(parsed)) == (1, 1)


async def test_nothing_is_imported(repository: Repository) -> None:
    repository.write("evals/a.py", f"open('ran', 'w')\n{suite()}")
    await find(repository.root)
    assert not (repository.root / "ran").exists()


async def test_commands_are_added_to_scripts_without_paths(repository: Repository) -> None:
    repository.write(
        "scoregate.toml", 'commands = [{ name = "js", run = "npx tsx e.ts", cwd = "web" }, { name = "x", run = ["y"] }]'
    )
    repository.write("evals/a.py", suite())
    script, js, plain = (await find(repository.root)).sources
    assert script.kind is SourceKind.PYTHON
    assert (js.kind, js.argv, js.error) == (
        SourceKind.COMMAND,
        ("npx", "tsx", "e.ts"),
        "js: its cwd web is not a folder",
    )
    assert (plain.argv, plain.why, plain.error) == (("y",), "a command in scoregate.toml", None)
    named = await find(repository.root, paths=["evals"])
    assert paths(named) == ["evals/a.py"]
    assert set(why(named)) == {"js", "x"}


NIGHTLY = ".scoregate/configs/nightly.toml"


async def test_test_configs_are_added_to_scripts_unless_named(repository: Repository) -> None:
    repository.write(
        "scoregate.toml", '[[configs]]\nname = "nightly"\nagent = "bot:answer"\n[[configs]]\nname = "gone"'
    )
    repository.write("evals/a.py", suite("a"))
    for name in ("nightly", "other"):
        repository.write(f".scoregate/configs/{name}.toml", "")
    script, nightly, gone = (await find(repository.root)).sources
    assert (script.kind, nightly.kind) == (SourceKind.PYTHON, SourceKind.CONFIG)
    assert (nightly.path, nightly.suite_ids, nightly.why) == (NIGHTLY, ("nightly",), "a config in scoregate.toml")
    assert nightly.argv[:3] == ("-m", "scoregate.worker", "config")
    assert gone.error == "there is no test config 'gone' (a config in scoregate.toml); existing ones: nightly, other"
    assert paths(await find(repository.root, suite=["night*"])) == [NIGHTLY, gone.path]
    assert paths(await find(repository.root, paths=["evals"])) == ["evals/a.py"]
    assert paths(await find(repository.root, paths=["evals"], config=["nightly"])) == ["evals/a.py", NIGHTLY]


async def test_a_named_test_config_needs_no_table(repository: Repository) -> None:
    repository.write("scoregate.toml", 'commands = [{ name = "x", run = ["y"] }]')
    repository.write("evals/a.py", suite("a"))
    repository.write(NIGHTLY, "")
    suites_found = await find(repository.root, config=["nightly", "nightly"])
    (source,) = suites_found.sources
    assert (source.path, source.why, source.error) == (NIGHTLY, "named by --config", None)
    assert why(suites_found) == {"x": "the configs to run were named"}
    assert [notice.split(" in ")[0] for notice in suites_found.notices] == ["nightly has no table [[configs]]"]


async def test_an_empty_project_has_nothing(tmp_path: Path) -> None:
    assert await find(tmp_path) == DiscoveredSuites()
