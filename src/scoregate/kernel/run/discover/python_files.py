"""Python files that start suites."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType

import anyio.to_thread

from scoregate.errors import UsageError
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.discover.files import (
    DEFAULT_FOLDER,
    PATTERNS,
    Candidate,
    ProjectFiles,
    find_candidates,
    open_nonblocking,
)
from scoregate.kernel.run.discover.packages import (
    InstalledPackages,
    find_site_packages,
    locate_import_folders,
    locate_module,
)
from scoregate.kernel.run.discover.project_calls import ProjectCalls
from scoregate.kernel.run.discover.project_modules import ModuleText, ProjectModules, read_text
from scoregate.kernel.run.discover.scripts import NO_SUITE, read_script
from scoregate.kernel.run.plan import DiscoveredSuites, SkippedSource, SourceKind, SuiteSource

MAX_BYTES = 5 * 1024 * 1024
_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t][^\n]*\b(?:scoregate|autoblocks)", re.MULTILINE)
# As Jinja and Cookiecutter mark statements, and names in code.
_TEMPLATE = re.compile(
    rb"\{%-?[ \t]*\w[^\n]*%\}|\{\{-?[ \t]*cookiecutter\b|^[ \t]*(?:from|import|class|def)[ \t]+\S*\{\{", re.MULTILINE
)
_NOT_REGULAR = "not a regular file"
# A file that doesn't exist, a link to nothing or to itself, a folder, a socket.
_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EISDIR, errno.ENXIO)


async def find_scripts(files: ProjectFiles, settings: Settings) -> DiscoveredSuites:
    """The files that start suites, under the paths of the settings or in the default places.

    Nothing is found if commands or test configs were named to be run.

    Raises:
        UsageError: a path does not exist, or a file that was named holds no suite.
    """
    if settings.skip_reason("paths"):
        return DiscoveredSuites()
    candidates = await find_candidates(files, settings.paths, origin=settings.origin("paths"))
    packages = (await files.list_all()).find_packages() if candidates else {}
    sources, skipped, links = await anyio.to_thread.run_sync(_inspect_files, files.root, candidates, packages)
    # A user who names a file means it, so that it is an error.
    _check_named_files(skipped, {file.path for file in candidates if file.named})
    notices = (f"{each.path} was skipped: {each.why}" for each in skipped if each.notable)
    skipped = sorted((*skipped, *links), key=lambda each: each.path)
    return DiscoveredSuites(tuple(sources), tuple(skipped), tuple(notices))


def _inspect_files(
    root: Path, files: Iterable[Candidate], packages: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> tuple[list[SuiteSource], list[SkippedSource], list[SkippedSource]]:
    """The files that start suites, the skipped ones, and the links to others."""
    results = list[SkippedSource | SuiteSource]()
    likely = list[Candidate]()
    files = tuple(files)
    installed = InstalledPackages(find_site_packages(root, os.environ))
    project = ProjectCalls(ProjectModules(root, packages, installed), frozenset(file.path for file in files))
    texts: dict[Candidate, ModuleText] = {}
    for file in files:
        content = _read_content(root, file)
        if isinstance(content, bytes):
            texts[file] = read_text(content, file.path)
            project.modules.add(file.path, texts[file])
        else:
            results.append(content)
    for file in texts:
        # Most files of a large project start no suite. They are not parsed, which takes a hundred times as long.
        if file.named or project.modules.mentions_sdk(file.path):
            likely.append(file)
        else:
            results.append(SkippedSource(file.path, NO_SUITE))
    originals, links = _separate_links(root, likely)  # after the filter, as a link to a file costs a look at the disk
    inspected = [_inspect_file(root, file, project) for file in originals]
    results += _with_notable_doubts(inspected, texts, project)
    results.sort(key=lambda each: each.path)
    sources = [each for each in results if isinstance(each, SuiteSource)]
    return sources, [each for each in results if isinstance(each, SkippedSource)], links


def _with_notable_doubts(
    inspected: Iterable[SuiteSource | SkippedSource], texts: Mapping[Candidate, ModuleText], project: ProjectCalls
) -> Iterator[SuiteSource | SkippedSource]:
    """The same, where files that are named like suites and may have some are notable. Modules of other files aren't."""
    imported: set[str] | None = None
    for each in inspected:
        if isinstance(each, SkippedSource) and each.in_doubt and _is_named_as_suite(each.path):
            if imported is None:
                imports_by_path = (
                    (file.path, project.modules.imported_files(file.path, texts[file].imports)) for file in texts
                )
                imported = {module for path, modules in imports_by_path for module in modules if module != path}
            # A module that another candidate imports is a helper, and no suite that was left out.
            yield replace(each, notable=each.path not in imported)
        else:
            yield each


def _read_content(root: Path, file: Candidate) -> bytes | SkippedSource | SuiteSource:
    # It could be printed and stored nowhere.
    if (name := os.fsencode(file.path).decode("utf-8", "replace")) != file.path:
        return SkippedSource(name, "its name is not UTF-8", notable=True)
    try:
        # O_NONBLOCK: a pipe must not block discovery.
        with open(root / file.path, "rb", opener=open_nonblocking) as opened:
            status = os.fstat(opened.fileno())
            if not stat.S_ISREG(status.st_mode):
                return SkippedSource(file.path, _NOT_REGULAR)
            if (size := status.st_size) > MAX_BYTES:
                return SkippedSource(file.path, f"too large to be a suite ({size / 1e6:.1f} MB)", notable=True)
            return opened.read(MAX_BYTES)
    except OSError as error:
        if error.errno in _NO_FILE:
            return SkippedSource(file.path, _NOT_REGULAR)
        problem = f"{file.path} can't be read: {error.strerror}"
        # An error and not skipped: a suite that can't be read must not turn green.
        return SuiteSource(file.path, SourceKind.PYTHON, why=file.why, error=problem)


def _separate_links(root: Path, files: Iterable[Candidate]) -> tuple[list[Candidate], list[SkippedSource]]:
    """The files, each once, and the links to them."""
    originals: dict[str, Candidate] = {}
    links = []
    # The file itself before links to it.
    for file in sorted(files, key=lambda file: ((root / file.path).is_symlink(), file.path)):
        first = originals.setdefault(os.path.realpath(root / file.path), file)
        if first is not file:
            links.append(SkippedSource(file.path, f"the same file as {first.path}"))
    return list(originals.values()), links


def _inspect_file(root: Path, file: Candidate, project: ProjectCalls) -> SuiteSource | SkippedSource:
    content = _read_content(root, file)
    if not isinstance(content, bytes):
        return content
    script = read_script(content, file.path, project)
    if script.error:
        # Outside of `evals/`, a template or another language's file may have a suite's name.
        if not file.named and _is_no_script(file.path, content):
            why = f"{script.why} (line {script.line})"
            return SkippedSource(file.path, why, notable=True)
        problem = f"{file.path}:{script.line}: {script.why}"
        return SuiteSource(file.path, SourceKind.PYTHON, script.line, why=file.why, error=problem)
    if script.kind is None:
        return SkippedSource(file.path, script.why, notable=script.notable, in_doubt=script.in_doubt)
    return SuiteSource(
        file.path,
        script.kind,
        script.line,
        script.suite_ids,
        expected=script.expected,
        why=f"{file.why}, {script.why}",
        foreign=script.foreign,
        module=locate_module(root, file.path, script.relative_level),
        import_folders=locate_import_folders(root, file.path),
    )


def _is_named_as_suite(path: str) -> bool:
    name = path.rpartition("/")[2]
    return any(fnmatchcase(name, pattern) for pattern in PATTERNS)


def _is_no_script(path: str, content: bytes) -> bool:
    """Whether a file that can't be parsed is a template, or text that only mentions scoregate.

    Files in the folder `evals/` of the root always count as scripts.
    """
    if path.startswith(f"{DEFAULT_FOLDER}/"):
        return False
    return _TEMPLATE.search(content) is not None or _IMPORT.search(content) is None


def _check_named_files(skipped: Iterable[SkippedSource], named: set[str]) -> None:
    if bad := [f"{each.path}: {each.why}" for each in skipped if each.path in named]:
        raise UsageError(
            "\n".join(["these files hold no suite:", *(f"  {line}" for line in bad)]),
            advice="A suite is a call of evaluate or run_test_suite, or a test with the mark or fixture scoregate. "
            "For other ways, add [[commands]] to the settings.",
        )
