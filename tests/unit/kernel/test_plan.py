"""How each source is launched."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.interpreter import Interpreter
from scoregate.kernel.run.plan import (
    DiscoveredSuites,
    Plan,
    SkippedSource,
    SourceKind,
    SuiteSource,
    make_plan,
    restrict_plan,
)
from scoregate.kernel.types.selection import CaseSelection

ROOT = Path("/project")
PYTHON = Interpreter(("/venv/bin/python",), "test")


def plan(*sources: SuiteSource, settings: Settings | None = None) -> Plan:
    return make_plan(DiscoveredSuites(tuple(sources)), settings or Settings(), interpreter=PYTHON, root=ROOT)


def test_each_kind_has_a_command() -> None:
    script, test, command = plan(
        SuiteSource("evals/a.py", SourceKind.PYTHON),
        SuiteSource("tests/test_a.py", SourceKind.PYTEST),
        SuiteSource("js", SourceKind.COMMAND, argv=("npx", "tsx", "e.ts"), cwd="web"),
    ).launches
    assert script.argv == ("/venv/bin/python", "evals/a.py")
    assert test.argv == ("/venv/bin/python", "-m", "pytest", "-q", "tests/test_a.py")
    assert command.argv == ("npx", "tsx", "e.ts")
    assert (script.cwd, command.cwd) == (ROOT, ROOT / "web")


def test_uv_starts_commands_by_name() -> None:
    uv = Interpreter(("/bin/uv", "run", "--quiet", "python"), "", launcher=("/bin/uv", "run", "--quiet"))
    commands = [("pytest", "-q"), ("./run.sh",), ("uv", "run", "pytest")]
    sources = [SuiteSource(f"c{n}", SourceKind.COMMAND, argv=argv) for n, argv in enumerate(commands)]
    launches = make_plan(DiscoveredSuites(tuple(sources)), Settings(), interpreter=uv, root=ROOT).launches
    assert [launch.argv for launch in launches] == [("/bin/uv", "run", "--quiet", "pytest", "-q"), *commands[1:]]


def test_a_file_like_an_option_is_a_file() -> None:
    assert plan(SuiteSource("-c_eval.py", SourceKind.PYTHON)).launches[0].argv[-1] == "./-c_eval.py"


def test_the_settings_reach_the_process() -> None:
    settings = Settings(repeats=2, suites={"slow-*": {"repeats": 1}})
    fast, slow = plan(
        SuiteSource("a.py", SourceKind.PYTHON, suite_ids=("fast",)),
        SuiteSource("b.py", SourceKind.PYTHON, suite_ids=("slow-x",)),
        settings=settings,
    ).launches
    cache = "on:/project/.scoregate-cache"
    assert fast.environment == {
        "SCOREGATE_ROOT": "/project",
        "SCOREGATE_REPORT": "/project/scoregate-out/comment.md",
        "SCOREGATE_REPEATS": "2",
        "SCOREGATE_CACHE": cache,
    }
    assert slow.environment["SCOREGATE_REPEATS"] == "1"


def test_unrunnable_sources_are_separate() -> None:
    broken = SuiteSource("b.py", SourceKind.PYTHON, error="b.py:1: bad")
    result = plan(SuiteSource("a.py", SourceKind.PYTHON), broken)
    assert [launch.name for launch in result.launches] == ["a.py"]
    assert result.broken == (broken,)


def test_results_of_two_sources_are_added() -> None:
    one = DiscoveredSuites((SuiteSource("a.py", SourceKind.PYTHON),), (SkippedSource("b.py", "no"),), ("x",))
    both = one + DiscoveredSuites(notices=("y",))
    assert (len(both.sources), len(both.skipped), both.notices) == (1, 1, ("x", "y"))


@given(st.lists(st.sampled_from(["a", "a #2", "a #2 #2", "b"]), max_size=12))
def test_launches_have_unique_names(paths: list[str]) -> None:
    names = [
        launch.name for launch in plan(*(SuiteSource(path, SourceKind.COMMAND, argv=("x",)) for path in paths)).launches
    ]
    assert len(set(names)) == len(paths)
    assert all(name.startswith(path) for name, path in zip(names, paths, strict=True))


def test_repeats_turn_the_cache_off() -> None:
    part = restrict_plan(
        plan(SuiteSource("a.py", SourceKind.PYTHON, suite_ids=("s",))), {"a.py": {"s": ["x"]}}, repeats=2
    )
    assert part.launches[0].environment["SCOREGATE_CACHE"] == "off"


def test_chosen_cases_are_not_sampled_again() -> None:
    selection = CaseSelection(keyword="task=a", sample=5)
    settings = Settings().model_copy(update={"selection": selection})
    whole = plan(SuiteSource("a.py", SourceKind.PYTHON, suite_ids=("x",)), settings=settings)
    part = restrict_plan(whole, {"a.py": {"x": ["h"]}}, repeats=1)
    assert "sample" in whole.launches[0].environment["SCOREGATE_SELECTION"]
    assert part.launches[0].environment["SCOREGATE_SELECTION"] == '{"keyword": "task=a"}'


def test_a_launch_runs_if_its_source_is_chosen_and_it_failed_before() -> None:
    assert CaseSelection().takes_launch("a.py", "a")
    chosen = CaseSelection(sources=("a.py",))
    assert [chosen.takes_launch(path, "x") for path in ("a.py", "b.py")] == [True, False]
