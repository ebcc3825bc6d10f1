"""The result files of one launch: which are new, which events they hold, and what ends with an error."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from scoregate.errors import ImportFailed
from scoregate.features.imports import result_files
from scoregate.features.imports.deepeval_runs import ResultsFolder
from scoregate.features.imports.reader import Reader
from scoregate.features.imports.result_files import ResultFiles
from scoregate.kernel.run.launch.layer import EventsReceived, Filtered, LeftResults, Notice
from scoregate.kernel.run.plan import Launch, ResultImport, RowColumns, SourceKind, SuiteSource
from scoregate.kernel.types.events import SuiteStarted

pytestmark = pytest.mark.anyio
ROWS = RowColumns(scores=("s",), case="id")


def junit(*names: str, suite: str = "evals", bad: str = "") -> str:
    cases = "".join(f'<testcase name="{name}">{"<failure/>" if name == bad else ""}</testcase>' for name in names)
    return f'<testsuite name="{suite}">{cases}</testsuite>'


@dataclass
class Emitted:
    """What was emitted, and what it came to."""

    messages: list[Any] = field(default_factory=list)
    left: LeftResults = field(default_factory=LeftResults)

    @property
    def files(self) -> list[tuple[str, int]]:
        """The sources of events with their number."""
        counts: dict[str, int] = {}
        for each in self.messages:
            if isinstance(each, EventsReceived):
                counts[each.log] = counts.get(each.log, 0) + len(each.events)
        return list(counts.items())

    @property
    def suites(self) -> list[str]:
        events = [event for each in self.messages if isinstance(each, EventsReceived) for event in each.events]
        return [event.suite for event in events if isinstance(event, SuiteStarted)]

    @property
    def notices(self) -> list[str]:
        return [each.notice for each in self.messages if isinstance(each, Notice)]

    @property
    def failures(self) -> list[str]:
        return [failure.message for failure in self.left.failures]


class Folder:
    """A folder in which a command runs; `watch` starts it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def watch(self, *imports: ResultImport, suites: Sequence[str] = ()) -> ResultFiles:
        source = SuiteSource("evals", SourceKind.COMMAND, imports=imports)
        launch = Launch("evals", ("true",), self.path, SourceKind.COMMAND, source)
        return ResultFiles.of(launch, None, Reader(lambda line: line), suites)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


async def emit(files: ResultFiles, recorded: frozenset[str] = frozenset()) -> Emitted:
    emitted = Emitted()
    emitted.left = await files.emit(emitted.messages.append, recorded)
    return emitted


async def test_new_files_are_read_in_the_order_of_their_names(folder: Folder) -> None:
    files = folder.watch(ResultImport("junit", "out/*.xml"))
    folder.write("out/b.xml", junit("a", suite="second"))
    folder.write("out/a.xml", junit("a", "b", suite="first"))
    folder.write("out/c.txt", "no results")
    (folder.path / "out" / "d.xml").mkdir()
    emitted = await emit(files)
    assert emitted.files == [("junit:out/a.xml", 10), ("junit:out/b.xml", 6)]
    assert emitted.suites == ["out/a / first", "out/b / second"]
    assert (emitted.failures, emitted.left.failed_exits, emitted.notices) == ([], frozenset(), [])


async def test_a_name_with_characters_of_a_pattern_is_that_file(folder: Folder) -> None:
    files = folder.watch(ResultImport("junit", "out[1].xml"))
    folder.write("out1.xml", junit("a"))
    folder.write("out[1].xml", junit("b"))
    assert (await emit(files)).files == [("junit:out[1].xml", 6)]


async def test_older_files_are_ignored_with_a_notice(folder: Folder) -> None:
    for name, notice in (("b.xml", "1 older file is ignored"), ("c.xml", "2 older files are ignored")):
        folder.write(name, junit("a"))
        files = folder.watch(ResultImport("junit", "*.xml"))
        folder.write("a.xml", junit("new"))
        emitted = await emit(files)
        assert [source for source, _ in emitted.files] == ["junit:a.xml"]
        assert emitted.notices == [f"results of junit in '*.xml': {notice}"]
        (folder.path / "a.xml").unlink()


async def test_missing_and_old_files_are_failures(folder: Folder) -> None:
    folder.write("old.xml", junit("a"))
    files = folder.watch(
        ResultImport("junit", "old.xml"), ResultImport("junit", "none.xml"), ResultImport("junit", "a.xml")
    )
    folder.write("a.xml", junit("a"))
    emitted = await emit(files)
    assert emitted.failures == [
        "results of junit in 'old.xml': the command did not write the file, which is from before it ran",
        "results of junit in 'none.xml': the command wrote no such file",
    ]
    assert str(folder.path) in (emitted.left.failures[1].advice or "")
    assert emitted.files == [("junit:a.xml", 6)]


async def test_too_many_files_are_a_failure(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_files, "_MOST_FILES", 2)
    files = folder.watch(ResultImport("junit", "*.xml"))
    for name in "ab":
        folder.write(f"{name}.xml", junit("x", suite=name))
    assert (await emit(files)).failures == []
    folder.write("c.xml", junit("x"))
    assert (await emit(files)).failures == ["results of junit in '*.xml': 3 files are more than the limit of 2"]


async def test_a_file_that_changed_in_any_way_is_new(folder: Folder) -> None:
    path = folder.write("a.xml", junit("a"))
    files = folder.watch(ResultImport("junit", "a.xml"))
    status = path.stat()
    path.unlink()
    folder.write("other", "")  # takes the inode
    folder.write("a.xml", junit("a"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (await emit(files)).failures == []


async def test_a_file_that_cannot_be_read_costs_only_itself(folder: Folder) -> None:
    files = folder.watch(ResultImport("junit", "*.xml"))
    folder.write("a.xml", "<testsuite")
    folder.write("b.xml", junit("x", suite="good"))
    emitted = await emit(files)
    assert emitted.suites == ["b / good"]
    (failure,) = emitted.failures
    assert failure.startswith("'a.xml' can't be imported as results of junit: it is not well-formed XML")


async def test_suites_of_two_files_must_differ(folder: Folder) -> None:
    files = folder.watch(ResultImport("junit", "*.xml"))
    for name in ("out-2026-01-05.xml", "out-2026-01-06.xml"):
        folder.write(name, junit("x"))
    emitted = await emit(files)
    assert emitted.failures == ["'out-2026-01-06.xml' and 'out-2026-01-05.xml' both hold a suite 'evals'"]
    assert emitted.suites == ["evals"]


async def test_files_of_two_formats_may_hold_equal_suites(folder: Folder) -> None:
    files = folder.watch(ResultImport("junit", "a.xml"), ResultImport("rows", "evals.csv", columns=ROWS))
    folder.write("a.xml", junit("x"))
    folder.write("evals.csv", "id,s\na,1\n")
    emitted = await emit(files)
    assert (emitted.failures, emitted.suites) == ([], ["evals", "evals"])


async def test_two_imports_of_one_file_have_the_scores_of_both(folder: Folder) -> None:
    imports = (ResultImport("junit", "a.xml", scores=("good",)), ResultImport("junit", "*.xml", scores=("brief",)))
    files = folder.watch(*imports)
    properties = "".join(f'<property name="{name}" value="0.5"/>' for name in ("good", "brief", "other"))
    folder.write(
        "a.xml", f'<testsuite name="s"><testcase name="x"><properties>{properties}</properties></testcase></testsuite>'
    )
    emitted = await emit(files)
    (events,) = [each.events for each in emitted.messages if isinstance(each, EventsReceived)]
    assert [event.evaluator for event in events if hasattr(event, "score")] == ["passed", "good", "brief"]


async def test_only_selected_suites_are_emitted(folder: Folder) -> None:
    files = folder.watch(ResultImport("junit", "a.xml"), suites=["ev*"])
    folder.write("a.xml", f"<testsuites>{junit('x')}{junit('y', suite='other')}</testsuites>")
    emitted = await emit(files)
    assert emitted.suites == ["evals"]
    assert [each.suite for each in emitted.messages if isinstance(each, Filtered)] == ["other"]


async def test_recorded_tests_are_not_emitted_again(folder: Folder) -> None:
    files = folder.watch(ResultImport("junit", "a.xml"))
    case = '<testcase name="x"><properties><property name="scoregate.case" value="evals::x"/></properties></testcase>'
    folder.write("a.xml", f'<testsuite name="evals">{case}<testcase name="y"/></testsuite>')
    assert (await emit(files)).files == [("junit:a.xml", 10)]
    assert (await emit(files, frozenset({"evals::x"}))).files == [("junit:a.xml", 6)]


@pytest.mark.parametrize(("bad", "exits"), [("", frozenset()), ("b", frozenset({1}))])
async def test_a_failed_test_explains_the_exit_code_of_its_runner(
    folder: Folder, bad: str, exits: frozenset[int]
) -> None:
    files = folder.watch(ResultImport("junit", "a.xml"))
    folder.write("a.xml", junit("a", "b", "c", bad=bad))
    left = (await emit(files)).left
    assert (left.failed_exits, left.note) == (exits, "")


FAILED: dict[str, Any] = {
    "ctrf": {"results": {"tool": {"name": "t"}, "tests": [{"name": "a", "status": "failed"}]}},
    "vitest": {
        "numTotalTests": 1,
        "testResults": [{"name": "a.ts", "status": "failed", "assertionResults": [{"title": "a", "status": "failed"}]}],
    },
    "evalite": {"run": {}, "evals": [{"name": "e", "status": "fail", "results": [{"status": "fail", "input": "q"}]}]},
    "promptfoo": {"config": {}, "results": {"results": [{"success": False, "gradingResult": {"pass": False}}]}},
    "deepeval": {"testCases": [{"name": "a", "input": "q", "success": False}]},
}


@pytest.mark.parametrize("form", FAILED)
async def test_each_test_runner_has_its_exit_code_for_failed_tests(folder: Folder, form: str) -> None:
    files = folder.watch(ResultImport(form, "a.json"))
    folder.write("a.json", json.dumps(FAILED[form]))
    left = (await emit(files)).left
    assert (left.failures, left.failed_exits) == ([], {100 if form == "promptfoo" else 1})
    assert bool(left.note) is (form == "deepeval")


async def test_rows_explain_no_exit_code(folder: Folder) -> None:
    files = folder.watch(ResultImport("rows", "a.jsonl", columns=ROWS))
    folder.write("a.jsonl", '{"id": "a", "s": false}\n')
    assert (await emit(files)).left.failed_exits == frozenset()


async def test_more_cases_than_one_batch_are_emitted(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_files, "_BATCH", 3)
    files = folder.watch(ResultImport("junit", "a.xml"))
    folder.write("a.xml", junit(*"abcd", bad="d") + " ")
    emitted = await emit(files)
    assert emitted.files == [("junit:a.xml", 18)]
    assert [len(each.events) for each in emitted.messages] == [3] * 6
    folder.write("a.xml", junit(*"abcd", bad="d").replace("<testsuite ", '<testsuite tests="9" '))
    lacking = await emit(files)
    assert lacking.files == [("junit:a.xml", 18)]
    assert "counts 9 tests and holds 4" in lacking.failures[0]
    assert lacking.left.failed_exits == {1}


async def test_rows_that_a_command_appended_are_a_notice(folder: Folder) -> None:
    path = folder.write("a.jsonl", '{"id": "a", "s": 1}\n')
    files = folder.watch(ResultImport("rows", "a.jsonl", columns=ROWS))
    path.write_text(path.read_text() + '{"id": "b", "s": 1}\n')
    emitted = await emit(files)
    assert [notice.partition(".")[0] for notice in emitted.notices] == ["'a"]
    assert "begins with everything that it held before" in emitted.notices[0]


async def test_what_a_reader_notes_is_a_notice_with_the_name_of_the_file(folder: Folder) -> None:
    files = folder.watch(ResultImport("junit", "a.xml"))
    folder.write("a.xml", '<testsuite name="s" tests="2" hostname="tbd"><testcase name="x"/></testsuite>')
    assert (await emit(files)).notices == ["a.xml: <testsuite> 's' counts 2 tests and holds 1: it counts assertions"]


async def test_nothing_to_read_is_a_failure_alone(folder: Folder) -> None:
    emitted = await emit(folder.watch(ResultImport("junit", "a.xml")))
    assert (emitted.messages, len(emitted.failures)) == ([], 1)


async def test_a_pipe_is_no_result_file(folder: Folder, tmp_path: Path) -> None:
    files = folder.watch(ResultImport("junit", "a.xml"))
    os.mkfifo(tmp_path / "a.xml")
    assert (await emit(files)).failures == ["results of junit in 'a.xml': the command wrote no such file"]
    with pytest.raises(ImportFailed, match="'x' was not written by the command, or is not a regular file"):
        result_files._open_result_file(tmp_path / "a.xml", "x", None)
    with pytest.raises(ImportFailed, match="'x' can't be read: No such file or directory"):
        result_files._open_result_file(tmp_path / "none", "x", None)


async def test_test_runs_of_deepeval_from_before_the_command_are_not_read(folder: Folder, tmp_path: Path) -> None:
    document = '{{"testCases": [{{"name": "a", "input": "q", "success": true}}], "identifier": "{0}"}}'
    folder.write("runs/test_run_20260105_120000.json", document.format("old"))
    source = SuiteSource("evals", SourceKind.COMMAND, imports=(ResultImport("deepeval", "none/*.json"),))
    launch = Launch("evals", ("true",), tmp_path, SourceKind.COMMAND, source)
    runs = ResultsFolder(tmp_path / "runs", {"X": "y"}, tmp_path / "runs", tmp_path / "outcomes")
    files = ResultFiles.of(launch, None, Reader(lambda line: line), (), runs)
    assert files.environment == {"X": "y"}
    assert folder.watch().environment == {}
    for second in ("2", "1"):
        folder.write(f"runs/test_run_20260105_12000{second}.json", document.format(f"run {second}"))
    emitted = await emit(files)
    assert emitted.suites == ["run 1", "run 2"]
    assert emitted.left.note == ""
