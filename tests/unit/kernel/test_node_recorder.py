"""Dependencies of Node.js commands: the log of their processes and threads."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

import scoregate.kernel.run.dependencies
from scoregate.kernel.run.dependencies.file_uses import FileUses, read_uses
from scoregate.kernel.run.dependencies.recording import add_node_option, runs_node
from scoregate.kernel.run.dependencies.tree import read_tree
from scoregate.kernel.run.plan import Launch, SourceKind, SuiteSource

NODE = shutil.which("node") or ""
RECORDER = Path(scoregate.kernel.run.dependencies.__file__).with_name("node_recorder.cjs")
pytestmark = pytest.mark.skipif(not NODE, reason="needs Node.js")


class Repository:
    """A git repository in which Node.js programs run with recording."""

    def __init__(self, root: Path) -> None:
        self.root = root / "re pository"
        self.root.mkdir()
        self.log = root / "log"
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)
        self.write({".gitignore": "node_modules\n", "package-lock.json": "{}", "package.json": "{}"})

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def run(self, code: str, *arguments: str, name: str = "main.mjs", output: str = "", **variables: str) -> FileUses:
        """Run a program, and return the files that it used."""
        self.write({name: code})
        self.log.write_bytes(b"")
        environ = {key: value for key, value in os.environ.items() if not key.startswith("NODE")}
        options = add_node_option(RECORDER, variables.pop("NODE_OPTIONS", ""))
        environ |= {"NODE_OPTIONS": options, "SCOREGATE_DEPENDENCIES": f"{self.root}\n{self.log}", **variables}
        tree = anyio.run(read_tree, self.root)
        assert tree is not None
        done = subprocess.run(
            [NODE, *arguments, name], cwd=self.root, env=environ, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout.strip()) == (0, output), done.stderr
        return read_uses(self.log, tree)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path.resolve())


def test_modules_and_files_are_recorded(repository: Repository) -> None:
    files = ["lib/b.mjs", "lib/c.cjs", "lib/d.json", "lib/e.js", "lib/f/index.js"]
    read = ["sync.md", "promise.md", "callback.md", "stream.md", "handle.md", "url.md", "buffer.md"]
    repository.write(dict.fromkeys(read, "x") | {"lib/b.mjs": "export default 1", "lib/d.json": "{}"})
    repository.write({"lib/c.cjs": "require('./e'); require('./f'); try { require('./gone') } catch {}"})
    repository.write({"lib/e.js": "", "lib/f/index.js": "", "real.md": "x", "data/one.csv": ""})
    (repository.root / "link.md").symlink_to("real.md")
    uses = repository.run(
        "import fs, { readFileSync } from 'node:fs'; import { readFile, open } from 'fs/promises';\n"
        "import './lib/b.mjs'; import './lib/c.cjs'; import { createRequire } from 'module';\n"
        "createRequire(import.meta.url)('./lib/d.json');\n"
        "await import('./lib/missing.mjs').catch(() => {});\n"
        "readFileSync('sync.md'); await readFile('promise.md'); readFileSync('link.md');\n"
        "await new Promise((done) => fs.readFile('callback.md', done));\n"
        "for await (const _ of fs.createReadStream('stream.md'));\n"
        "await (await open('handle.md')).close(); readFileSync(new URL('url.md', import.meta.url));\n"
        "readFileSync(Buffer.from('buffer.md')); fs.existsSync('override.json'); fs.readdirSync('data');\n"
        "fs.writeFileSync('out.txt', ''); readFileSync('out.txt');"
    )
    assert uses.unknown == uses.native == ""
    assert {"main.mjs", "link.md", "override.json", *files, *read} <= uses.looked_up.keys()
    # A file that hides one that was found, or that an import missed, would change the result.
    assert {"main", "lib/b", "lib/c", "lib/e", "lib/f/index", "lib/f"} <= uses.stems.keys()
    assert {"lib/gone.js", "lib/missing.mjs", "lib/missing.ts"} <= uses.looked_up.keys()
    assert {"package.json", "lib/package.json"} <= uses.looked_up.keys()
    assert list(uses.listed) == ["data"]
    assert uses.written == {"out.txt": False}


def test_links_before_a_path_goes_up_are_recorded(repository: Repository) -> None:
    repository.write({"deep/inner/a.md": "", "deep/b.md": "", "b.md": ""})
    (repository.root / "link").symlink_to("deep/inner")
    uses = repository.run(
        "import fs from 'node:fs'; fs.readFileSync('link/../b.md'); process.chdir('link'); fs.readFileSync('a.md');"
    )
    assert {"link", "deep/b.md", "deep/inner/a.md"} <= uses.looked_up.keys()
    assert "b.md" not in uses.looked_up


def test_recursive_reads_depend_on_all_folders(repository: Repository) -> None:
    repository.write({"copied/a/b.md": "", "listed/a/b.md": "", "opened/a/b.md": "", "one.md": "", "plain/a.md": ""})
    uses = repository.run(
        "import fs from 'node:fs'; fs.cpSync('copied', 'out', { recursive: true }); fs.cpSync('one.md', 'two.md');"
        "fs.readdirSync('listed', { recursive: true }); await fs.promises.opendir('opened', { recursive: true });"
        "fs.readdirSync('plain', { withFileTypes: true }); fs.readdirSync('plain', 'utf8');"
    )
    assert list(uses.trees) == ["copied", "listed", "opened"]
    assert "plain" in uses.listed
    assert not {"listed", "opened"} & uses.listed.keys()
    assert "one.md" in uses.looked_up


def test_packages_depend_on_lock_files(repository: Repository) -> None:
    package = {"js/node_modules/dep/package.json": '{"main": "x.js"}', "js/node_modules/dep/x.js": ""}
    repository.write({**package, "js/package.json": "{}", "js/main.cjs": ""})
    uses = repository.run("require('dep')", name="js/main.cjs")
    assert uses.unknown == ""
    assert {"js/package.json", "js/package-lock.json", "js/pnpm-lock.yaml", "yarn.lock"} <= uses.looked_up.keys()
    assert not any("node_modules" in path for path in uses.looked_up)
    # A package that is missing may be installed later.
    uses = repository.run("try { require('other') } catch {}", name="js/main.cjs")
    assert "js/package-lock.json" in uses.looked_up


def test_threads_and_children_are_recorded(repository: Repository) -> None:
    repository.write({"thread.mjs": "import 'fs'; import './in_thread.mjs'", "in_thread.mjs": ""})
    repository.write({"child.mjs": "import './in_child.mjs'", "in_child.mjs": "", "in_shell.cjs": ""})
    uses = repository.run(
        "import { Worker } from 'worker_threads'; import { fork, execSync, spawnSync } from 'child_process';\n"
        "new Worker(new URL('thread.mjs', import.meta.url)); fork('child.mjs');\n"
        "execSync('node in_shell.cjs'); spawnSync('uname');\n"
        # What vite 7 and vitest 3 do.
        "execSync('cat /proc/cpuinfo | grep \"physical id\" | sort |uniq | wc -l'); process.binding('util');"
    )
    assert uses.unknown == ""
    assert {"thread.mjs", "in_thread.mjs", "child.mjs", "in_child.mjs", "in_shell.cjs"} <= uses.looked_up.keys()


def test_unobservable_access_is_in_doubt(repository: Repository) -> None:
    repository.write({"x.cjs": "", "tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["./a/*", "./b/*"]}}}'})
    spawn, run = "import { spawnSync, execSync } from 'child_process';", "import { Worker } from 'worker_threads';"
    for code, reason in {
        f"{spawn} spawnSync('cat', ['x.cjs'])": "other processes (cat x.cjs",
        f"{spawn} execSync('node x.cjs; cat x.cjs')": "other processes (sh -c node x.cjs; cat",
        f"{spawn} execSync('echo $(cat x.cjs)')": "other processes",
        f"{spawn} execSync('cat /proc/cpuinfo | grep \"core id\" | sort | uniq | wc -l; cat x.cjs')": "other processes",
        "process.binding('fs')": "process.binding(fs)",
        f"{spawn} spawnSync('node', ['x.cjs'], {{ env: {{ PATH: process.env.PATH }} }})": "wasn't recorded",
        f"{run} new Worker('./x.cjs', {{ env: {{}} }})": "wasn't recorded",
        "import net from 'net'; net.connect(9, '127.0.0.1').on('error', () => {})": "127.0.0.1",
        "import http from 'http'; http.get('http://service.invalid/').on('error', () => {})": "service.invalid",
        "await fetch('http://localhost:59999').catch(() => {})": "localhost",
        "import net from 'net'; net.connect('/tmp/missing.sock').on('error', () => {})": "local socket",
        "const name = './x.cjs'; await import(name)": "imports modules by name",
        "import fs from 'fs'; fs.readFileSync('tsconfig.json')": "`paths` in tsconfig.json",
        "import fs from 'fs'; try { fs.readFileSync('.git/HEAD') } catch {}": "history",
        "import 'node:wasi'": "WASI",
        "import { createRequire } from 'module'; createRequire(import.meta.url)('node:' + 'wasi')": "WASI",
    }.items():
        assert reason in repository.run(code).unknown, code


def test_model_servers_cause_no_doubt(repository: Repository) -> None:
    code = (
        "import net from 'net';\n"
        "for (const host of ['api.openai.com', '127.0.0.1']) net.connect(9, host).on('error', () => {}).destroy();"
    )
    assert repository.run(code, SCOREGATE_GATEWAY_URL="http://127.0.0.1:9").unknown == ""
    # A proxy on this machine may be configured by a file of the repository.
    assert "127.0.0.1" in repository.run(code, OPENAI_BASE_URL="http://127.0.0.1:9/v1").unknown


def test_template_imports_list_their_folder(repository: Repository) -> None:
    repository.write({"cases/a.mjs": "", "a.mjs": ""})
    uses = repository.run("for (const name of ['a']) await import(`./cases/${name}.mjs`);")
    assert (uses.unknown, list(uses.listed)) == ("", ["cases"])
    assert "cases/a.mjs" in uses.looked_up


def test_native_code_can_read_data(repository: Repository) -> None:
    uses = repository.run("try { process.dlopen({ exports: {} }, '/usr/lib/addon.node') } catch {}")
    assert (uses.native, uses.unknown) == ("addon.node", "")


def test_the_program_is_unaffected(repository: Repository) -> None:
    repository.write({"first.cjs": "globalThis.first = 1"})
    uses = repository.run(
        "import fs from 'fs'; import { promisify } from 'util'; import { Worker } from 'worker_threads';\n"
        "let code; try { fs.readFileSync('missing') } catch (error) { code = error.code }\n"
        "const found = await promisify(fs.exists)('first.cjs');\n"
        "const worker = new Worker('', { eval: true });\n"
        "console.log(code, found, first, fs.readFileSync.name, fs.realpathSync.native('.') === process.cwd(),\n"
        "  worker instanceof Worker, fs.readFileSync.length);",
        output="ENOENT true 1 readFileSync true true 2",
        NODE_OPTIONS="--require ./first.cjs",
    )
    assert uses.unknown == ""
    assert {"first.cjs", "missing"} <= uses.looked_up.keys()


def test_a_closed_log_is_reopened(repository: Repository) -> None:
    uses = repository.run(
        "import fs from 'fs'; for (let n = 3; n < 60; n++) { try { if (fs.readlinkSync(`/proc/self/fd/${n}`)"
        ".endsWith('/log')) { fs.closeSync(n); fs.openSync('/dev/null') } } catch {} } fs.existsSync('later.md')"
    )
    assert "later.md" in uses.looked_up


def test_a_log_with_many_entries_ends(repository: Repository) -> None:
    uses = repository.run("import fs from 'fs'; for (let n = 0; n < 30000; n++) fs.existsSync(`${n}.md`)")
    assert uses.unknown == "it uses too many files"


def test_node_commands_are_known(repository: Repository) -> None:
    repository.write(
        {"bin/tool": "#!/usr/bin/env node\n", "bin/script": "#!/bin/sh\nnode x.js\n", "bin/node": "#!/bin/sh"}
    )
    shim = '#!/bin/sh\nbasedir=$(dirname "$0")\nexec node  "$basedir/x.js" "$@"\n'
    repository.write({"node_modules/.bin/pnpm-made": shim, "bin/pnpm-made": shim})
    for argv, expected in {
        (NODE, "x.mjs"): True,
        ("node", "x.mjs"): True,
        ("node", "--run", "eval"): False,
        ("node", "--permission", "x.mjs"): False,
        ("bin/tool",): True,
        ("bin/script",): False,
        ("bin/node", "x.mjs"): False,
        ("node_modules/.bin/pnpm-made",): True,
        ("bin/pnpm-made",): False,
        ("sh", "-c", "node x.mjs"): False,
        ("missing-program",): False,
    }.items():
        for name in ("bin/tool", "bin/script", "bin/node", "bin/pnpm-made", "node_modules/.bin/pnpm-made"):
            (repository.root / name).chmod(0o755)
        launch = Launch("x", argv, repository.root, SourceKind.COMMAND, SuiteSource("x", SourceKind.COMMAND))
        assert runs_node(launch, os.environ) is expected, argv
