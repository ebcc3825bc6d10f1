"""From where in the project Python imports: what an editable install or PYTHONPATH points to."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import anyio

from scoregate.ci.identity import Identity, rights
from scoregate.ci.interpreter import Interpreter

_TIMEOUT_S = 60.0
_ASK = """
import json, os, sys
maps = [vars(module).get("MAPPING", {}) for name, module in sys.modules.items() if name.startswith("__editable__")]
packages = [os.path.dirname(path) for each in maps for path in each.values()]
print(json.dumps({"prefix": sys.prefix, "path": [os.path.abspath(each) for each in sys.path[1:] + packages]}))
"""


async def import_folders(
    interpreter: Interpreter, root: Path, *, environ: Mapping[str, str], identity: Identity | None = None
) -> tuple[Path, ...]:
    """The folders that Python imports from beside its environment: all of PYTHONPATH, and those in the project.

    Without them the base's suites would import the project's own packages from the user's tree.

    Args:
        root: absolute, without links.
        environ: the whole environment of the process that is asked; the user's code may run in it.
        identity: who that process runs as; None for ourselves.

    Returns:
        Absolute folders, in the order in which they are searched; none where Python gives no answer.
    """
    command = [*interpreter.argv, "-c", _ASK]
    try:
        with anyio.fail_after(_TIMEOUT_S):
            done = await anyio.run_process(
                command, cwd=root, env=environ, input=b"", stderr=subprocess.DEVNULL, **rights(identity)
            )
        answer = json.loads(done.stdout.splitlines()[-1])
        folders, prefix = map(Path, answer["path"]), Path(answer["prefix"])
    except (OSError, subprocess.CalledProcessError, TimeoutError, ValueError, LookupError, TypeError):
        return ()
    named = {root / each for each in environ.get("PYTHONPATH", "").split(":") if each}
    return tuple(_wanted(folders, root, prefix=prefix, named=named))


def _wanted(folders: Iterable[Path], root: Path, *, prefix: Path, named: set[Path]) -> Iterable[Path]:
    for folder in dict.fromkeys(folders):
        if folder in named or (folder.is_relative_to(root) and not folder.is_relative_to(prefix)):
            yield folder
