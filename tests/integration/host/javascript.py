"""A project with a suite in JavaScript that imports a package, which a tarball in the repository brings."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import shutil
import tarfile
from pathlib import Path

from tests.integration.host.conftest import Project

TARBALL = "wheels/demo-dep-1.0.0.tgz"
COMMAND = '[[commands]]\nname = "titles"\nrun = ["node", "evals/titles.mjs"]\n'
GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "other_languages.md"


def tarball() -> bytes:
    """The package, as `npm pack` makes it, with a program `demo-dep`."""
    manifest = {"name": "demo-dep", "version": "1.0.0", "main": "index.js", "bin": "bin.js"}
    files = {
        "package.json": json.dumps(manifest),
        "index.js": "module.exports = (text) => text.trim().replace(/^./, (letter) => letter.toUpperCase());\n",
        "bin.js": "#!/usr/bin/env node\nconsole.log('demo-dep runs');\n",
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode = len(text), 0o755 if name == "bin.js" else 0o644
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


def write_suite(project: Project, *, command: str = COMMAND) -> None:
    """The guide's own suite, whose function comes from the package, as it prints the version of Node.js."""
    content, *_ = re.findall(r"^```js\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    imported = re.sub(r"^const title = .*$", 'import title from "demo-dep";', content, flags=re.MULTILINE)
    assert imported != content
    project.write("evals/titles.mjs", imported + 'console.log("runs on", process.version);\n')
    project.write("scoregate.toml", command)


def write_package(project: Project, folder: str = ".", **fields: object) -> None:
    """package.json with the tarball, and the lock file that npm makes for it."""
    content = tarball()
    path = project.root / folder / TARBALL
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    package = {"name": "app", "dependencies": {"demo-dep": f"file:{TARBALL}"}, **fields}
    integrity = f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"
    locked = {"version": "1.0.0", "resolved": f"file:{TARBALL}", "integrity": integrity, "bin": {"demo-dep": "bin.js"}}
    lock = {
        "name": "app", "lockfileVersion": 3, "requires": True,
        "packages": {"": package, "node_modules/demo-dep": locked},
    }  # fmt: skip
    project.write(f"{folder}/package.json", json.dumps(package))
    project.write(f"{folder}/package-lock.json", json.dumps(lock))


def path_without_node(folder: Path) -> str:
    """A PATH on which Node.js is missing, and what it and we start is not."""
    folder.mkdir(exist_ok=True)
    for name in ("env", "git", "sh"):
        if not (folder / name).exists():
            (folder / name).symlink_to(str(shutil.which(name)))
    return str(folder)
