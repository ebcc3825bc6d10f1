"""What suites depend on: the log of a process, the files of a repository, and what changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from math import inf
from pathlib import Path

import anyio
import pytest

from scoregate.features.affected.changes import Changes
from scoregate.kernel.judge.archive.run_json import read_dependencies
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.dependencies.file_uses import FileUses, describe_uses, read_uses
from scoregate.kernel.run.dependencies.project import read_project_tree
from scoregate.kernel.run.dependencies.recording import STDLIB, read_python_recorder
from scoregate.kernel.run.dependencies.shared_files import digest_shared_files
from scoregate.kernel.run.dependencies.tree import Tree, read_tree
from scoregate.kernel.run.dependencies.unread import find_unread
from scoregate.kernel.types.relative_paths import matches_path
from scoregate.kernel.types.runs.dependencies import (
    LONGEST_PATH,
    UNKNOWN,
    Dependency,
    RunDependencies,
    ScriptDependencies,
    merge_dependencies,
)


class Repository:
    """A git repository in which Python code runs with recording."""

    def __init__(self, root: Path) -> None:
        self.root = root / "repository"
        self.root.mkdir()
        self.log, self.folder = root / "log", root / "recorder"
        self.folder.mkdir()
        (self.folder / "sitecustomize.py").write_text(read_python_recorder(), encoding="utf-8")
        self.git("init", "-q")

    def git(self, *arguments: str) -> None:
        options = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
        subprocess.run(["git", *options, *arguments], cwd=self.root, check=True, capture_output=True)

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def tree(self) -> Tree:
        tree = anyio.run(read_tree, self.root)
        assert tree is not None
        return tree

    def run(self, code: str, *, cwd: str = ".", **variables: str) -> FileUses:
        """Run a script, and return the files that it used."""
        script = self.root / cwd / "script.py"
        script.write_text(code, encoding="utf-8")
        self.log.write_bytes(b"")
        environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        environ |= {"PYTHONPATH": str(self.folder), "SCOREGATE_DEPENDENCIES": f"{self.root}\n{self.log}", **variables}
        tree = self.tree()
        done = subprocess.run(
            [sys.executable, "script.py"], cwd=script.parent, env=environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return read_uses(self.log, tree)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path.resolve())
    made.write({"app/__init__.py": "", "app/one.py": "", "app/two.py": "", "prompts/a.md": "a", "data.json": "{}"})
    made.git("add", "-A")
    made.git("commit", "-qm", "start")
    return made


def test_a_process_records_its_files(repository: Repository) -> None:
    uses = repository.run(
        "import importlib, os, sqlite3\n"
        "from pathlib import Path\n"
        "import app.one\n"
        "importlib.import_module('app.' + 'two')\n"
        "try:\n    import app.settings_of_this_machine\nexcept ImportError:\n    pass\n"
        "os.chdir('prompts')\n"
        "open('a.md').read()\n"
        "assert not Path('../override.toml').exists() and os.stat('../data.json')\n"
        "os.listdir('.')\n"
        "open('../out.txt', 'w').write('x')\n"
        "open('../out.txt').read()\n"
        "sqlite3.connect('file:../data.json?mode=ro', uri=True)\n"
    )
    assert (uses.unknown, uses.native) == ("", "sqlite3")
    assert {"script.py", "app/__init__.py", "app/one.py", "app/two.py"} < uses.looked_up.keys()
    assert {"prompts/a.md", "override.toml", "data.json"} < uses.looked_up.keys()
    assert uses.written == {"out.txt": False}
    assert list(uses.listed) == ["prompts"]
    assert {"", "app"} <= uses.imported.keys()
    assert {"app", "one", "two", "settings_of_this_machine"} <= uses.modules


def test_unobservable_access_is_in_doubt(repository: Repository) -> None:
    for code, reason in {
        "import subprocess, sys; subprocess.run([sys.executable, '-c', ''])": "other processes",
        "import os; os.system('true')": "other processes",
        "import os; os.waitpid(os.fork() or os._exit(0), 0)": "other processes",
        "import os; os._exit(0)": "didn't end normally",
        "import socket; s = socket.socket()\ntry: s.connect(('127.0.0.1', 9))\nexcept OSError: pass": "127.0.0.1",
        "import socket\ntry: socket.getaddrinfo('service.invalid', 80)\nexcept OSError: pass": "service.invalid",
        "import socket\ntry: socket.getaddrinfo('x.execute-api.amazonaws.com', 80)\nexcept OSError: pass": "x.ex",
        "import os, socket\ntry: socket.getaddrinfo('localhost', 9)\nexcept OSError: pass": "localhost",
        "open('.git/HEAD').read()": "history",
        "import os; os.closerange(3, 100); open('/dev/null'); import app.one": "didn't end normally",
    }.items():
        assert reason in repository.run(code).unknown, code


def test_processes_without_an_event_are_in_doubt(repository: Repository) -> None:
    code = (
        "import multiprocessing\nfrom pathlib import Path\n"
        "if __name__ == '__main__':\n"
        "    context = multiprocessing.get_context('spawn')\n"
        "    child = context.Process(target=Path('prompts/a.md').read_text)\n"
        "    child.start()\n    child.join()\n"
    )
    assert "other processes" in repository.run(code).unknown
    interpreter = (
        "try: import _interpreters as made\nexcept ImportError: import _xxsubinterpreters as made\nmade.create()"
    )
    assert "other interpreters" in repository.run(interpreter).unknown
    tracker = "from multiprocessing import resource_tracker; resource_tracker.ensure_running()"
    assert repository.run(tracker).unknown == ""


def test_files_relative_to_open_folders_are_recorded(repository: Repository) -> None:
    code = (
        "import os\nfolder = os.open('prompts', os.O_RDONLY)\n"
        "os.read(os.open('a.md', os.O_RDONLY, dir_fd=folder), 9)\n"
        "try: os.stat('b.md', dir_fd=folder)\nexcept OSError: pass\n"
    )
    uses = repository.run(code)
    assert uses.unknown == ""
    assert {"prompts/a.md", "prompts/b.md"} < uses.looked_up.keys()
    assert not {"a.md", "b.md"} & uses.looked_up.keys()


def test_files_written_and_read_are_in_doubt(repository: Repository) -> None:
    assert repository.run("open('data.json', 'a').close()").written == {"data.json": False}
    assert repository.run("open('data.json', 'a').close(); open('data.json')").written == {"data.json": True}
    assert repository.run("open('data.json', 'w').close(); open('data.json')").written == {"data.json": False}


def test_native_code_can_do_more_than_read_data(repository: Repository) -> None:
    code = (
        "import sys, types\nfrom importlib.machinery import ModuleSpec\nname = {name!r}\n"
        "module = sys.modules[name] = types.ModuleType(name)\n"
        "module.__spec__ = ModuleSpec(name, None, origin='/usr/lib/' + name + '.so')\n"
    )
    for name, unknown, native in (
        ("psycopg2._psycopg", "psycopg2 connects to servers that can't be seen", ""),
        ("minijinja._lowlevel", "minijinja reads texts that can't be seen", ""),
        ("polars._polars", "", "polars._polars"),
        ("orjson.orjson", "", ""),
    ):
        uses = repository.run(code.format(name=name))
        assert (uses.unknown, uses.native) == (unknown, native), name


def test_databases_can_attach_others(repository: Repository) -> None:
    assert repository.run("import sqlite3; sqlite3.connect(':memory:')").native == "sqlite3"


def test_threads_record_while_another_follows_links(repository: Repository) -> None:
    code = (
        "import os, threading\n"
        "follow, started, ended = os.readlink, threading.Event(), threading.Event()\n"
        "recorder = next(each for each in __import__('gc').get_objects() if type(each).__name__ == '_Recorder')\n"
        "def wait(path):\n    started.set()\n    ended.wait()\n    return path\n"
        "recorder.realpath = wait\n"
        "thread = threading.Thread(target=open, args=('/tmp/../dev/null',))\n"
        "thread.start()\nstarted.wait()\nopen('prompts/a.md').read()\nended.set()\nthread.join()\n"
    )
    assert "prompts/a.md" in repository.run(code).looked_up


def test_packages_built_in_the_repository_are_in_doubt(repository: Repository) -> None:
    folder = repository.root.parent / "site-packages"
    info = folder / "own-1.dist-info"
    info.mkdir(parents=True)
    code = f"import sys; sys.path.append({str(folder)!r})"
    repository.write({"dist/own.whl": ""})
    for name in ("own.whl", "scoregate-1.whl"):
        (repository.root.parent / name).touch()
    for path, kind in (
        (repository.root / "dist" / "own.whl", "file"),
        (repository.root / "dist" / "gone.whl", "unknown"),
        (repository.root / "app", "tree"),
        (repository.root.parent / "own.whl", "unknown"),
        (repository.root.parent / "scoregate-1.whl", ""),  # its version is compared
        (repository.root.parent / "gone.whl", ""),
    ):
        (info / "direct_url.json").write_text(json.dumps({"url": path.as_uri()}), encoding="utf-8")
        uses = repository.run(code)
        found = {"file": "dist/own.whl" in uses.looked_up, "tree": "app" in uses.trees}
        found["unknown"] = "which may be built from this repository" in uses.unknown
        assert [name for name, is_found in found.items() if is_found] == ([kind] if kind else []), path
    assert "installed" not in repository.run("").unknown


def test_a_repository_below_the_prefix_of_python_is_recorded(repository: Repository) -> None:
    repository.log.write_bytes(b"")
    start = f"import sys; sys.prefix = {str(repository.root.parent)!r}\n"
    code = f"{start}exec({read_python_recorder()!r}, {{'__name__': 'recorder'}})\nopen('data.json').read()"
    environ = {**os.environ, "SCOREGATE_DEPENDENCIES": f"{repository.root}\n{repository.log}"}
    subprocess.run([sys.executable, "-c", code], cwd=repository.root, env=environ, check=True)
    assert "data.json" in read_uses(repository.log, repository.tree()).looked_up


def test_model_servers_and_safe_programs_cause_no_doubt(repository: Repository) -> None:
    code = (
        "import socket, subprocess\nsubprocess.run(['uname'])\n"
        "from scoregate.scorers import regex\nassert regex('(a)+b')('ab').score\n"
        "for host, port in (('api.openai.com', 443), ('127.0.0.1', 9)):\n"
        "    try:\n        socket.create_connection((host, port), 0.01)\n    except OSError:\n        pass\n"
    )
    assert repository.run(code, SCOREGATE_GATEWAY_URL="http://127.0.0.1:9").unknown == ""
    # A proxy on this machine may be configured by a file of the repository.
    assert "127.0.0.1" in repository.run(code, OPENAI_BASE_URL="http://127.0.0.1:9/v1").unknown


def test_the_process_does_not_see_that_it_is_recorded(repository: Repository) -> None:
    repository.write({"sitecustomize.py": "import os; os.environ['OWN'] = 'yes'"})
    uses = repository.run(
        "import os, shutil, sys, sitecustomize\n"
        "assert os.environ['OWN'] == 'yes' and sitecustomize.__file__.startswith(os.getcwd())\n"
        "assert 'SCOREGATE_DEPENDENCIES' not in os.environ and not any('recorder' in each for each in sys.path)\n"
        "assert shutil.rmtree.avoids_symlink_attacks and os.stat in os.supports_dir_fd\n"
        "try: os.stat('missing')\nexcept FileNotFoundError: pass\n"
        "assert os.stat(path='.', follow_symlinks=True)",
        PYTHONPATH=f"{repository.folder}{os.pathsep}{repository.root}",
    )
    assert uses.unknown == ""
    assert "sitecustomize.py" in uses.looked_up


def test_logs_written_by_suites_are_not_trusted(repository: Repository) -> None:
    tree, top = repository.tree(), os.fsencode(repository.root)
    for text, reason in {
        b"": "no process",
        b"P\0E\0P\0E\0": "started others",
        b"P\0": "end normally",
        b"P\0r" + top + b"/a": "cut off",
        b"P\0r/etc/passwd\0E\0": "can't be recorded",
        b"P\0r" + top + b"/../x\0E\0": "can't be recorded",
        b"P\0r" + top + b"/\xff\0E\0": "can't be recorded",
        b"P\0r" + top + b"/" + b"x" * (LONGEST_PATH + 1) + b"\0E\0": "can't be recorded",
        b"P\0\0E\0": "unknown entry",
        b"P\0z\0E\0": "unknown entry",
        b"P\0" + b"".join(b"r%b/%d\0" % (top, number) for number in range(10_001)) + b"E\0": "too many",
    }.items():
        repository.log.write_bytes(text)
        assert reason in read_uses(repository.log, tree).unknown, text[:100]
    repository.log.unlink()
    repository.log.symlink_to("/etc/passwd")
    assert "can't be read" in read_uses(repository.log, tree).unknown


def test_a_file_that_changes_during_a_script_is_in_doubt(repository: Repository) -> None:
    tree = repository.tree()
    uses = FileUses()
    for kind, path in (("r", "data.json"), ("w", "data.json"), ("s", "cache.json"), ("w", "cache.json"), ("w", "o")):
        uses.add_path(kind, path)
    uses.add_path("r", "prompts/a.md")
    found = {each.path: each.digest for each in describe_uses(uses, tree, since=0, stdlib=STDLIB)}
    assert found == {"data.json": UNKNOWN, "cache.json": "", "prompts/a.md": UNKNOWN}


def _reason(repository: Repository, record: RunDependencies) -> str:
    return Changes(record, repository.tree(), "").find_reason(record.scripts[0], "launch")


def test_every_kind_of_change_is_found(repository: Repository) -> None:
    tree = repository.tree()
    table = (
        Dependency("file", "data.json", tree.digest_file("data.json")),
        Dependency("file", "missing.txt", ""),
        Dependency("folder", "prompts", tree.digest_folder("prompts")),
        Dependency("imports", "", tree.digest_imports("", ["app", "helper"], STDLIB)),
        Dependency("inputs", "lib/**", tree.digest_tree(["lib/**"])),
        Dependency("tree", "app", tree.digest_tree(["app/**"])),
    )
    uses = tuple(range(len(table)))
    script = ScriptDependencies("a.py", "launch", uses, ("app", "helper"), native="polars")
    record = RunDependencies(table, (script,), digest_shared_files(tree, ""), tree.digest_data())
    assert _reason(repository, record) == ""
    for files, reason in (
        ({"README.md": "x"}, ""),
        ({"other/x.py": "x"}, ""),
        ({"data.json": "[]"}, "files of the kind .json changed, which polars may read unseen"),
        ({"missing.txt": ""}, "missing.txt is new"),
        ({"prompts/b.md": ""}, "prompts has other files"),
        ({"helper.py": ""}, "the top folder has other modules"),
        ({"json/inner.py": ""}, "the top folder has other modules"),
        ({"lib/deep/x.rs": ""}, "lib/** changed"),
        ({"app/two.py": "x = 1"}, "app changed"),
        ({"uv.lock": ""}, "uv.lock is new, which all suites depend on"),
        ({".github/workflows/ci.yml": ""}, ".github/workflows/ci.yml is new, which all suites depend on"),
    ):
        repository.write(files)
        assert _reason(repository, record) == reason, files
        repository.git("checkout", "-q", ".")
        repository.git("clean", "-fdq")
    (repository.root / "data.json").rename(repository.root / "moved.json")
    assert _reason(repository, record)


def _record(repository: Repository, code: str) -> RunDependencies:
    """The record of a script that ran."""
    uses, tree = repository.run(code), repository.tree()
    assert uses.unknown == ""
    table = tuple(describe_uses(uses, tree, since=inf, stdlib=STDLIB))
    script = ScriptDependencies("a.py", "launch", tuple(range(len(table))), tuple(uses.modules), uses.native)
    return RunDependencies(table, (script,), digest_shared_files(tree, ""), tree.digest_data())


@pytest.mark.parametrize("code", ["import space.inner.deep", "import space"])
def test_a_package_that_gets_code_is_found(repository: Repository, code: str) -> None:
    repository.write({"space/inner/deep.py": "", "space/notes.md": ""})
    repository.git("add", "-A")
    record = _record(repository, code)
    repository.write({"space/other.py": "", "unused/__init__.py": ""})
    assert _reason(repository, record) == ""
    repository.write({"space/__init__.py": ""})
    assert _reason(repository, record).endswith("has other modules")
    if "inner" in code:
        (repository.root / "space" / "__init__.py").unlink()
        repository.write({"space/inner/__init__.py": ""})
        assert _reason(repository, record).endswith("has other modules")


@pytest.mark.parametrize(
    "code",
    [
        "import os, shutil; assert not shutil.which('tool', path='bin')",
        "import os; assert not os.access('bin/tool', os.X_OK)",
        "import os; assert not os.stat('bin/tool').st_mode & 0o100",
        "import os; assert not [each.stat() for each in os.scandir('bin')][0].st_mode & 0o100",
    ],
)
@pytest.mark.parametrize("staged", [False, True])
def test_a_file_that_becomes_a_program_is_found(repository: Repository, code: str, staged: bool) -> None:
    repository.write({"bin/tool": "#!/bin/sh\n"})
    repository.git("add", "-A")
    record = _record(repository, code)
    assert _reason(repository, record) == ""
    (repository.root / "bin" / "tool").chmod(0o755)
    if staged:
        repository.git("add", "-A")
    assert _reason(repository, record) == "bin/tool changed"


def test_sizes_of_entries_are_found(repository: Repository) -> None:
    repository.write({"prompts/deep/b.md": "b"})
    for code, reason in {
        "import os; assert [each.stat().st_size for each in os.scandir('prompts')]": "prompts/a.md changed",
        "import glob, os; list(os.walk('prompts')), glob.glob('prompts/**', recursive=True)": "",
    }.items():
        record = _record(repository, code)
        repository.write({"prompts/deep/b.md": f"{reason} is longer"})
        assert _reason(repository, record) == ""
        repository.write({"prompts/a.md": f"{reason} is longer"})
        assert _reason(repository, record) == reason


def test_files_in_settings_count_for_all_suites(repository: Repository) -> None:
    settings = Settings(env_file="values.env", cassettes="calls", cache="on:kept", affected=True)

    def read() -> Tree:
        tree = anyio.run(read_project_tree, repository.root, settings)
        assert tree is not None
        return tree

    repository.write({"values.env": "A=1", "calls/a/b.jsonl": "{}", "kept/x": "", "scoregate-out/run/run.json": ""})
    assert digest_shared_files(read(), "") == {}  # git does not track them
    assert sorted(read().entries[""]) == ["app/", "calls/", "data.json", "prompts/", "values.env"]
    repository.git("add", "-A")
    assert sorted(digest_shared_files(read(), "")) == ["calls/a/b.jsonl", "values.env"]
    assert "kept/" in read().entries[""]  # a cache that is tracked holds answers that the change may edit


def test_links_record_their_targets(repository: Repository) -> None:
    (repository.root / "link.json").symlink_to("data.json")
    (repository.root / "outside").symlink_to("/etc/passwd")
    (repository.root / "broken").symlink_to("nowhere")
    tree = repository.tree()
    first = tree.digest_file("link.json")
    assert first.endswith(">data.json")
    assert tree.digest_file("outside") == UNKNOWN
    assert tree.digest_file("broken") == "nothing>nowhere"
    repository.write({"data.json": "[1]", "same.json": "{}"})
    assert repository.tree().digest_file("link.json") not in ("", first)
    (repository.root / "link.json").unlink()
    (repository.root / "link.json").symlink_to("same.json")
    assert repository.tree().digest_file("link.json") != first


def test_linked_folders_have_their_files(repository: Repository) -> None:
    (repository.root / "current").symlink_to("prompts")
    repository.git("add", "-A")

    def read() -> tuple[str, ...]:
        tree = repository.tree()
        imports = tree.digest_imports("current", ["helper"], STDLIB)
        stem = tree.digest_stem("current/view")
        return tree.digest_folder("current"), tree.digest_tree(["current/**"]), imports, stem

    first = read()
    for name, changed in (("b.md", (0, 1)), ("helper.py", (0, 1, 2)), ("view.ts", (0, 1, 3))):
        repository.write({f"prompts/{name}": ""})
        assert [place for place, pair in enumerate(zip(first, read(), strict=True)) if len(set(pair)) > 1] == [*changed]
        (repository.root / "prompts" / name).unlink()
    repository.write({"prompts/a.md": "other"})
    assert read() == (first[0], read()[1], *first[2:])
    assert read()[1] != first[1]
    (repository.root / "current").unlink()
    (repository.root / "current").symlink_to("app")
    assert not set(read()) & set(first)
    (repository.root / "app" / "again").symlink_to("../prompts")
    assert repository.tree().digest_tree(["current/**"]) == UNKNOWN


def test_links_before_a_path_goes_up_are_recorded(repository: Repository) -> None:
    (repository.root / "link").symlink_to("prompts")
    uses = repository.run("open('link/../data.json'); import os; os.chdir('link'); open('a.md')")
    assert {"link", "data.json", "prompts/a.md"} < uses.looked_up.keys()


def test_a_search_of_all_folders_is_recorded(repository: Repository) -> None:
    uses = repository.run("from pathlib import Path; [each.read_text() for each in Path('.').rglob('*.md')]")
    assert uses.unknown == ""
    assert {"", "app", "prompts"} <= uses.listed.keys()
    assert not any(path.startswith(".git") for path in uses.listed)


def test_files_of_an_ignored_folder_are_listed(repository: Repository) -> None:
    repository.write({".gitignore": "raw/", "raw/a.csv": ""})
    first = repository.tree().digest_folder("raw")
    repository.write({"raw/b.csv": ""})
    assert repository.tree().digest_folder("raw") != first
    assert repository.tree().digest_tree(["raw/**"]) == UNKNOWN
    assert repository.tree().digest_tree(["gone/**"]) != UNKNOWN


def test_a_linked_file_is_read(repository: Repository) -> None:
    (repository.root / "current").symlink_to("prompts")
    repository.git("add", "-A")
    read = Dependency("file", "current/a.md", repository.tree().digest_file("current/a.md"))
    assert list(find_unread(RunDependencies((read,)), ["prompts/a.md", "prompts/b.md"])) == ["prompts/b.md"]


def test_tracked_files_of_excluded_folders_are_recorded(repository: Repository) -> None:
    repository.write({"node_modules/a/data.json": "{}", "node_modules/b/data.json": "{}"})
    repository.git("add", "node_modules/a")
    uses = repository.run("open('node_modules/a/data.json'); open('node_modules/b/data.json')")
    assert [path for path in uses.looked_up if "node_modules" in path] == ["node_modules/a/data.json"]


def test_lock_files_count_for_all_suites(repository: Repository) -> None:
    repository.write(
        {
            "evals/requirements.txt": "",
            "requirements.in": "",
            "pixi.toml": "",
            ".github/workflows/evals.yml": "run: pip install -r deps/evals.txt && ci/setup.sh",
            "deps/evals.txt": "-r base.txt\n--constraint=../pins/all.txt",
            "deps/base.txt": "-r evals.txt",
            "deps/other.txt": "",
            "pins/all.txt": "",
            "ci/setup.sh": "uv pip install --requirements deps/more.txt",
            "deps/more.txt": "",
            "deps/command.txt": "",
        }
    )
    repository.git("add", "-A")
    tree = anyio.run(
        read_project_tree, repository.root, Settings(install="uv pip install -r deps/command.txt", affected=True)
    )
    assert tree is not None
    assert sorted(digest_shared_files(tree, "")) == [
        ".github/workflows/evals.yml",
        "ci/setup.sh",
        "deps/base.txt",
        "deps/command.txt",
        "deps/evals.txt",
        "deps/more.txt",
        "evals/requirements.txt",
        "pins/all.txt",
        "pixi.toml",
        "requirements.in",
    ]


def test_files_of_submodules_are_in_doubt(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Repository(tmp_path / "other")
    other.write({"x.txt": ""})
    other.git("add", "-A")
    other.git("commit", "-qm", "x")
    repository.git("submodule", "add", "-q", str(other.root), "vendor/other")
    tree = repository.tree()
    assert tree.submodules == ("vendor/other",)
    assert tree.digest_folder("vendor/other") == tree.digest_folder("vendor") == UNKNOWN
    assert tree.digest_tree(["vendor/**"]) == tree.digest_tree(["**/*.txt"]) == UNKNOWN
    assert tree.digest_folder("prompts") != UNKNOWN
    assert tree.digest_file("vendor/other/x.txt").startswith("e69de29")


def test_globs_match_inputs() -> None:
    for pattern, path, expected in (
        ("prompts/**", "prompts/a/b.md", True),
        ("prompts/*", "prompts/a/b.md", False),
        ("**/*.ts", "x.ts", True),
        ("**/*.ts", "a/b/x.ts", True),
        ("a/**/b/**/c", "a/x/b/y/z/c", True),
        ("a/**/b/**/c", "a/x/y/z/c", False),
        ("/".join(["**"] * 200) + "/x", "/".join(["a"] * 200), False),
    ):
        assert matches_path(path, pattern) is expected, (pattern, path)


def test_stored_dependencies_are_not_trusted() -> None:
    valid = {"table": [["file", "a", "b"]], "scripts": [{"script": "s", "launch": "l", "uses": [0]}]}
    assert read_dependencies(valid)[1] == ()
    assert read_dependencies(None) == (RunDependencies(), ())
    for change in (
        {"table": [["file", "../a", "b"]]},
        {"table": [["file", "/a", "b"]]},
        {"table": [["file", "a" * 2_000, "b"]]},
        {"table": [["file", "a", 3]]},
        {"table": []},
        {"table": [["file", "a", "b"]] * 100_001},
        {"scripts": [{"script": "s", "launch": "l", "uses": [-1]}]},
        {"scripts": [{"script": "s", "launch": "l", "uses": [0] * 1_000_001}]},
        {"shared": {"x" * 2_000: "a"}},
        {"scripts": "x"},
    ):
        found, notices = read_dependencies(valid | change)
        assert (found, len(notices)) == (RunDependencies(), 1), change


def test_dependencies_of_two_runs_are_merged() -> None:
    one, two, three = (Dependency("file", name, "1") for name in "abc")
    own = RunDependencies((one, two), (ScriptDependencies("z", "", (0, 1)),), {"lock": "new"})
    other = RunDependencies(
        (three, one), (ScriptDependencies("x", "", (0, 1)), ScriptDependencies("y", "", (0,))), {"lock": "old"}
    )
    merged = merge_dependencies(own, other, {"x"})
    assert [each.script for each in merged.scripts] == ["x", "z"]
    assert merged.shared == {"lock": "new"}
    assert [merged.table[use] for use in merged.scripts[0].uses] == [three, one]
