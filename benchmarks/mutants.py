"""Whether the tests notice small changes of the code: each changed module is a mutant, which a test should kill.

`python benchmarks/mutants.py src/scoregate/kernel/types [--sample N] [--seed S] [--check .92] [--minutes 20]`

The tests run once with coverage. Then each mutant runs the tests that execute the changed line until one fails, in a
process that is forked for it. Files are not changed: the process imports the changed syntax tree instead of the module.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.abc
import importlib.util
import io
import json
import os
import random
import resource
import shutil
import signal
import sys
import time
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, ModuleType

import coverage
import pytest
from mutations import Mutation, find_mutations, mutate

ROOT = Path(__file__).parents[1]
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")
# Tests of a line that thousands of tests execute: the fastest ones.
_MOST_TESTS, _MOST_SECONDS = 400, 15.0
_SECONDS_PER_FILE = 0.1
_MOST_MEMORY = 6 << 30
_CONTROLS = 6
_OPTIONS = ("-x", "-q", "--assert=plain", "--numprocesses=0", "--hypothesis-profile=fast", "-p", "no:cacheprovider")


class Fate(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    TIMED_OUT = "timed out"
    SURVIVED = "survived"
    NOT_EXECUTED = "survived, no test executes it"


@dataclass(frozen=True)
class Mutant:
    """A module with one change: the path of its file, and the code of the changed line."""

    path: str
    code: str
    mutation: Mutation

    def __str__(self) -> str:
        """File, line and change."""
        function = self.mutation.function or "(module)"
        return f"{self.path}:{self.mutation.line} {function}: {self.mutation.change}"


@dataclass(frozen=True)
class Coverage:
    """Which tests execute a line.

    Attributes:
        tests: the ids of the tests.
        seconds: how long each takes.
        lines: the indices of the tests by file and line, for lines of functions.
        failed: the ids of tests that fail without a change, which can't kill a mutant.
        modules: the names of the modules of packages that the tests import.
    """

    tests: list[str]
    seconds: list[float]
    lines: dict[str, dict[int, list[int]]]
    failed: list[str]
    modules: list[str]

    def choose_tests(self, mutant: Mutant, importers: Iterable[str]) -> list[str]:
        """The tests that execute the changed line, those that execute few other lines and the fastest in turn.

        Of a parametrized test, one of the fastest comes before the others.
        What is executed on import has the tests of its module, then those of the modules that import it.
        """
        own, mutation = self.lines.get(mutant.path, {}), mutant.mutation
        if not mutation.on_import:
            first, last = mutation.lines
            groups = [{test for line in range(first, last + 1) for test in own.get(line, ())}]
        else:
            tables = (own, *(self.lines.get(path, {}) for path in importers))
            groups = [{test for tests in table.values() for test in tests} for table in tables]
        return list(self._limit(dict.fromkeys(test for group in groups for test in self._sort(group))))

    @cached_property
    def _executed(self) -> Counter[int]:
        """How many lines each test executes: one that executes few is about these."""
        return Counter(test for lines in self.lines.values() for tests in lines.values() for test in tests)

    def _sort(self, tests: Iterable[int]) -> list[int]:
        tests = list(tests)
        by_lines = sorted(tests, key=lambda each: (self._executed[each], self.seconds[each]))
        in_turn = (test for pair in zip(by_lines, self._sort_by_time(tests), strict=True) for test in pair)
        return list(dict.fromkeys(in_turn))

    def _sort_by_time(self, tests: Iterable[int]) -> list[int]:
        counts, order = Counter[str](), dict[int, tuple[int, float]]()
        for test in sorted(tests, key=lambda each: self.seconds[each]):
            function = self.tests[test].partition("[")[0]
            order[test] = counts[function], self.seconds[test]
            counts[function] += 1
        return sorted(order, key=order.__getitem__)

    def _limit(self, tests: Iterable[int]) -> Iterator[str]:
        seconds, files = 0.0, set[str]()
        for index in list(tests)[:_MOST_TESTS]:
            files.add(self.tests[index].partition("::")[0])
            seconds += self.seconds[index]
            if seconds + len(files) * _SECONDS_PER_FILE > _MOST_SECONDS and len(files) > 1:
                return
            yield self.tests[index]

    def sum_seconds(self, tests: Iterable[str]) -> float:
        """The time that tests take without a change."""
        known = dict(zip(self.tests, self.seconds, strict=True))
        return sum(known[test] for test in tests)


class _Recorder:
    """Plugin of pytest: gives coverage the test that runs, and records how long each takes."""

    def __init__(self, cover: coverage.Coverage) -> None:
        self._cover = cover
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Switch to the context of a test."""
        self._cover.switch_context(item.nodeid)
        started = time.process_time()
        result = yield
        self.seconds[item.nodeid] = time.process_time() - started
        self._cover.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failed test."""
        if report.failed:
            self.failed.append(report.nodeid)


class _ChangedLoader(SourceFileLoader):
    """Loads a syntax tree instead of the module's source, and keeps no bytecode of it."""

    def __init__(self, name: str, file: Path, tree: ast.Module) -> None:
        super().__init__(name, str(file))
        self._tree = tree

    def get_code(self, *_: object) -> CodeType:
        """The code of the tree."""
        return compile(self._tree, self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds one module, with this loader."""

    def __init__(self, name: str, loader: SourceFileLoader, file: Path) -> None:
        self._name, self._loader, self._file = name, loader, file

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """The module's specification; None for other modules."""
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(fullname, self._file, loader=self._loader)


def measure_coverage(paths: Sequence[Path], tests: Sequence[str], file: Path) -> None:
    """Run all tests with coverage, and write which of them execute a line of these files."""
    include = [str(each if each.is_file() else each / "*") for each in paths]
    cover = coverage.Coverage(data_file=None, config_file=False, include=include)
    recorder = _Recorder(cover)
    cover.start()
    options = [each for each in _OPTIONS if each != "-x"]
    pytest.main([*options, f"--basetemp={file}.tests", *tests], plugins=[recorder])
    cover.stop()
    names = list(recorder.seconds)
    numbers = {name: index for index, name in enumerate(names)}
    for name in recorder.failed:
        numbers.pop(name, None)
    data, lines = cover.get_data(), {}
    for path in data.measured_files():
        executed = data.contexts_by_lineno(path).items()
        lines[_relative(Path(path))] = {
            line: [numbers[name] for name in contexts if name in numbers] for line, contexts in executed
        }
    packages = [name for name, module in sys.modules.items() if name != "__main__" and _is_of_a_package(module)]
    file.write_text(json.dumps([names, list(recorder.seconds.values()), lines, recorder.failed, packages]))


def load_coverage(files: Iterable[Path]) -> Coverage:
    """What `measure_coverage` wrote into these files."""
    covered = Coverage([], [], {}, [], [])
    for file in files:
        names, seconds, lines, failed, modules = json.loads(file.read_text())
        first = len(covered.tests)
        for path, table in lines.items():
            known = covered.lines.setdefault(path, {})
            for line, tests in table.items():
                known.setdefault(int(line), []).extend(first + test for test in tests)
        covered.tests.extend(names)
        covered.seconds.extend(seconds)
        covered.failed.extend(failed)
        covered.modules.extend(modules)
    return covered


def split_tests(paths: Iterable[str], count: int) -> list[list[str]]:
    """The files with tests, in as many parts of about the same size."""
    files = [file for path in map(Path, paths) for file in (path.rglob("test_*.py") if path.is_dir() else [path])]
    files.sort(key=lambda file: file.stat().st_size)
    return [part for index in range(count) if (part := [str(file) for file in files[index::count]])]


def _is_of_a_package(module: ModuleType) -> bool:
    """Whether a module is neither of the package under test nor of its tests, so that it can be imported ahead."""
    file = getattr(module, "__file__", None)
    return file is not None and ("site-packages" in file or not Path(file).is_relative_to(ROOT))


def _relative(path: Path) -> str:
    return path.resolve().relative_to(ROOT).as_posix()


def list_mutants(paths: Sequence[Path]) -> list[Mutant]:
    """All mutants of these files and folders."""
    found = []
    for file in sorted({file for path in paths for file in (path.rglob("*.py") if path.is_dir() else [path])}):
        lines = file.read_text().splitlines()
        mutations = find_mutations("\n".join(lines))
        found += [Mutant(_relative(file), lines[each.line - 1].strip(), each) for each in mutations]
    return found


def find_importers(paths: Iterable[str]) -> dict[str, list[str]]:
    """The files that import each of these modules."""
    names = {module_name(path): path for path in paths}
    importers: dict[str, list[str]] = {path: [] for path in paths}
    words = {name.rpartition(".")[2] for name in names}
    for file in sorted((ROOT / "src").rglob("*.py")):
        text = file.read_text()
        if not any(word in text for word in words):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                imported = {node.module or "", *(f"{node.module}.{each.name}" for each in node.names)}
                for name in imported & names.keys():
                    importers[names[name]].append(_relative(file))
    return importers


def module_name(path: str) -> str:
    """The name of the module in a file below `src`."""
    return ".".join(Path(path).relative_to("src").with_suffix("").parts).removesuffix(".__init__")


def run_tests_of(mutant: Mutant | None, tests: Sequence[str], folder: Path) -> int:
    """The exit code of pytest for these tests, with the mutant in place of its module."""
    if mutant is not None:
        file, name = ROOT / mutant.path, module_name(mutant.path)
        loader = _ChangedLoader(name, file, mutate(file.read_text(), mutant.mutation.number))
        sys.meta_path.insert(0, _Finder(name, loader, file))
    return pytest.main([*_OPTIONS, f"--basetemp={folder}", *tests])


def fork(work: Callable[[], int | None], seconds: float | None = None) -> int:
    """Start a process that does some work without output, and return its id.

    Args:
        work: returns the exit code.
        seconds: the most processor time that it may take.
    """
    if process := os.fork():
        return process
    code = 70
    try:
        os.setsid()
        if seconds is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
            resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            code = work() or 0
    finally:
        os._exit(code)


class Pool:
    """Runs mutants in several processes at once."""

    def __init__(self, workers: int, folder: Path) -> None:
        self._workers, self._folder = workers, folder
        self._running: dict[int, tuple[Mutant, float, Path]] = {}

    def run(self, jobs: Iterable[tuple[Mutant, list[str], float]], *, changed: bool) -> Iterator[tuple[Mutant, Fate]]:
        """Yield the fate of each mutant, as they end.

        Args:
            jobs: mutants, their tests, and the seconds that these take.
            changed: whether the change is made; without it all tests should pass.
        """
        for number, (mutant, tests, seconds) in enumerate(jobs):
            if not tests:
                yield mutant, Fate.NOT_EXECUTED
                continue
            while len(self._running) >= self._workers:
                yield from self._wait()
            limit = 15 + 3 * seconds
            folder = self._folder / f"{'changed' if changed else 'control'}-{number}"
            process = fork(partial(run_tests_of, mutant if changed else None, tests, folder), limit)
            self._running[process] = mutant, time.monotonic() + 6 * limit, folder
        while self._running:
            yield from self._wait()

    def _wait(self) -> Iterator[tuple[Mutant, Fate]]:
        """The mutants whose processes ended, after a while."""
        time.sleep(0.02)
        for process, (mutant, deadline, folder) in list(self._running.items()):
            ended, status = os.waitpid(process, os.WNOHANG)
            if not ended and time.monotonic() < deadline:
                continue
            with suppress(ProcessLookupError):  # with what the tests started
                os.killpg(process, signal.SIGKILL)
            if not ended:
                os.waitpid(process, 0)
            del self._running[process]
            shutil.rmtree(folder, ignore_errors=True)
            is_late = not ended or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL))
            yield mutant, Fate.TIMED_OUT if is_late else Fate.KILLED if status else Fate.SURVIVED


def load_equivalent(mutants: Iterable[Mutant]) -> set[Mutant]:
    """The mutants that no test can kill, by `equivalent_mutants.toml`.

    Raises:
        SystemExit: an entry has no reason, or matches no mutant of its file.
    """
    found: dict[tuple[str, str, str], list[Mutant]] = {}
    for each in mutants:
        found.setdefault((each.path, each.code, each.mutation.change), []).append(each)
    files, matched = {path for path, _, _ in found}, set[Mutant]()
    for entry in tomllib.loads(EQUIVALENT.read_text())["mutant"]:
        key = entry["file"], entry["code"], entry["change"]
        if not entry["reason"] or (entry["file"] in files and key not in found):
            raise SystemExit(f"{EQUIVALENT.name}: no mutant, or no reason: {' '.join(key)}")
        matched.update(found.get(key, ()))
    return matched


def main() -> int:
    """Run mutants and return the exit code: 1 if fewer are killed than `--check` demands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, help="files and folders below src")
    parser.add_argument("--tests", nargs="+", default=["tests/unit"], help="tests in this process (default tests/unit)")
    parser.add_argument("--sample", type=int, help="how many mutants, chosen at random (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the choice and the order (default 1)")
    parser.add_argument("--check", type=float, metavar="SHARE", help="exit 1 if a smaller share is killed")
    parser.add_argument("--minutes", type=float, default=20, help="start no mutant after this time (default 20)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes at once (default: cores)")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    with TemporaryDirectory(prefix="mutants-") as folder:
        return Benchmark(arguments, Path(folder)).run()


class Benchmark:
    """One run of this benchmark."""

    def __init__(self, arguments: argparse.Namespace, folder: Path) -> None:
        self._arguments, self._folder = arguments, folder
        self._end = time.monotonic() + 60 * arguments.minutes
        self._paths = [each.resolve() for each in arguments.paths]

    def run(self) -> int:
        """Print the survivors and the share that was killed, and return the exit code."""
        arguments, started = self._arguments, time.monotonic()
        every = list_mutants(self._paths)
        equivalent = load_equivalent(every)
        mutants = [each for each in every if each not in equivalent]
        random.Random(arguments.seed).shuffle(mutants)
        covered = self._cover()
        seconds = time.monotonic() - started
        print(f"{len(covered.tests):,} tests with coverage in {seconds:.0f} s; {len(covered.failed)} fail", flush=True)
        importers = find_importers({each.path for each in every})
        jobs = self._choose_jobs(mutants[: arguments.sample], covered, importers)
        pool = Pool(arguments.workers, self._folder)
        self._check_unchanged(pool, mutants[:_CONTROLS], covered, importers)
        counts = Counter[Fate]()
        for mutant, fate in pool.run(jobs, changed=True):
            counts[fate] += 1
            if fate not in (Fate.KILLED, Fate.TIMED_OUT):
                print(f"{fate}: {mutant}", flush=True)
        print(f"{counts.total():,} of {len(every):,} mutants in {time.monotonic() - started:.0f} s", flush=True)
        return self._report(counts, len(equivalent))

    def _cover(self) -> Coverage:
        """The coverage of the tests. Then everything that they import from packages is imported in this process."""
        parts = split_tests(self._arguments.tests, self._arguments.workers)
        files = [self._folder / f"coverage-{index}.json" for index in range(len(parts))]
        jobs = [partial(measure_coverage, self._paths, part, file) for part, file in zip(parts, files, strict=True)]
        for process in [fork(job) for job in jobs]:
            os.waitpid(process, 0)
        covered = load_coverage(files)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in covered.modules:
                with suppress(Exception):
                    importlib.import_module(name)
        if changed := [name for name in sys.modules if name.partition(".")[0] in ("scoregate", "tests")]:
            raise SystemExit(f"imported before a change could be made: {', '.join(changed)}")
        return covered

    def _choose_jobs(
        self, mutants: Sequence[Mutant], covered: Coverage, importers: dict[str, list[str]]
    ) -> Iterator[tuple[Mutant, list[str], float]]:
        for mutant in mutants:
            if time.monotonic() > self._end:
                return
            tests = covered.choose_tests(mutant, importers[mutant.path])
            yield mutant, tests, covered.sum_seconds(tests)

    def _check_unchanged(
        self, pool: Pool, mutants: Sequence[Mutant], covered: Coverage, importers: dict[str, list[str]]
    ) -> None:
        """Run the tests of some mutants without the change: alone and in this order they must pass, too."""
        jobs = self._choose_jobs(mutants, covered, importers)
        for mutant, fate in pool.run(jobs, changed=False):
            if fate in (Fate.KILLED, Fate.TIMED_OUT):
                raise SystemExit(f"its tests fail without the change: {mutant}")

    def _report(self, counts: Counter[Fate], equivalent: int) -> int:
        killed, done = counts[Fate.KILLED] + counts[Fate.TIMED_OUT], counts.total()
        score = killed / done if done else 0.0
        print(
            "; ".join(f"{fate}: {counts[fate]:,}" for fate in Fate), f"; {equivalent} are listed as equivalent", sep=""
        )
        print(f"score: {score:.3f}")
        least = self._arguments.check
        return int(least is not None and score < least)


if __name__ == "__main__":
    sys.exit(main())
