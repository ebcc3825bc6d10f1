"""Suites of each kind: functions, classes, pytest, programs in other languages, results of other tools, skills."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence

from tests.fakes.media import BEEP, GREEN, RED
from tests.features.arms import skills
from tests.features.imports.files import DATA, FORMATS
from tests.golden.recordings.bench import Bench, Command, judge_commands, make_events, recording
from tests.integration.host import test_pytest_plugin as plugin
from tests.integration.host.conftest import suite
from tests.integration.host.test_media import SUITE as MEDIA_SUITE

WORSE = "lambda case: case.input if '1' not in case.input else 'no'"
COLUMNS = '[commands.rows]\ninput = ["q"]\nexpected = "a"\nscores = ["exact", "close"]\n'


@recording
def functions(bench: Bench) -> None:
    """Two suites of `evaluate`; the change breaks 6 of 20 cases of one."""
    bench.settings("min_pass_rate = 0.5", "fail_on_regression = true")
    bench.suite("hours")
    bench.suite("refunds", wrong=(1, 2))
    bench.base()
    bench.prompt("hours", range(6))
    bench.change()


@recording
def functions_equal(bench: Bench) -> None:
    """A change of the notes only: nothing gets worse."""
    bench.settings("fail_on_regression = true", "max_drop = 0.1")
    bench.suite("hours")
    bench.base()
    bench.write("notes.md", "new")
    bench.change()


@recording
def first_run(bench: Bench) -> None:
    """A first run without a baseline, whose relative gate can't be applied."""
    bench.write("scoregate.toml", "max_drop = 0.1\nmin_pass_rate = 0.5\n")
    bench.suite("hours", wrong=(3,))
    bench.write(".gitignore", "scoregate-out/\n")
    bench.commit()
    bench.do("run")


@recording
def classes(bench: Bench) -> None:
    """A suite of `run_test_suite` in which 12 of 30 cases get worse, and 2 failed before."""
    bench.settings("min_pass_rate = 0", "max_drop = 0.2")
    bench.write("evals/demo.py", suite(good=30, bad=2))
    bench.base()
    bench.write("evals/demo.py", suite(good=30, bad=2, fn=WORSE))
    bench.change()


@recording
def grid(bench: Bench) -> None:
    """A grid search with two variants, of which the change breaks one."""
    body = "from scoregate.testing.run import grid_search_ctx\ndef fn(case):\n"
    good = f"{body}    return case.input\n"
    bad = f"{body}    return case.input if grid_search_ctx()['style'] == 'plain' else 'no'\n"
    options = {"fn": "fn", "grid_search_params": "{'style': ['plain', 'kind']}"}
    bench.settings("min_pass_rate = 0", "fail_on_regression = true")
    bench.write("evals/demo.py", suite(good, good=12, **options))
    bench.base()
    bench.write("evals/demo.py", suite(bad, good=12, **options))
    bench.change()


@recording
def pytest_suites(bench: Bench) -> None:
    """Tests of pytest with scores; the change breaks one of three."""
    bench.settings("min_pass_rate = 0.5")
    for answers, words in ((plugin.GOOD, ("none", "--out", "base")), (plugin.GOOD | {"Sunday?": "Closed."}, ("base",))):
        plugin.write(bench, answers)
        bench.do("exec", "--baseline", *words, "--", *plugin.PYTEST, "evals", **plugin.PLUGIN)


@recording
def shell(bench: Bench) -> None:
    """A program in another language that writes its events, with costs; 3 of 15 cases fail."""
    bench.settings("min_pass_rate = 0.5", "max_cost = 1", "max_cost_ratio = 1.5", "max_p95_ratio = 1.5")
    line = bench.log("shop", make_events(15))
    bench.write("scoregate.toml", (bench.root / "scoregate.toml").read_text() + _command("shop", line))
    bench.base()
    bench.log("shop", make_events(15, wrong=(1, 2, 3), cost=0.02))
    bench.change()


@recording
def costs_unknown(bench: Bench) -> None:
    """Costs of which a part is unknown: a limit can't be checked."""
    bench.settings("max_cost = 1", "max_cost_ratio = 1.5")
    line = bench.log("shop", make_events(12))
    bench.write("scoregate.toml", (bench.root / "scoregate.toml").read_text() + _command("shop", line))
    bench.base()
    bench.log("shop", [*make_events(12)[:-5], *make_events(12, cost=None)[-5:]])
    bench.change()


@recording
def exec_junit(bench: Bench) -> Sequence[Command]:
    """`exec` of a test runner that writes a JUnit file; a test fails."""
    xml = '<testsuite name="runner" tests="12">{}</testsuite>'
    bench.settings("min_pass_rate = 0.5")
    for wrong, run in ((-1, "base"), (4, "scoregate-out")):
        tests = "".join(
            f'<testcase classname="t" name="case {at}" time="0.{at + 1}">'
            f"{'<failure message=&quot;no&quot;/>'.replace('&quot;', chr(34)) * (at == wrong)}</testcase>"
            for at in range(12)
        )
        bench.write("made.xml", xml.format(tests))
        words = ("--baseline", "none" if run == "base" else "base", "--out", run, "--junit", "junit.xml")
        bench.do("exec", *words, "--", "sh", "-c", "cp made.xml junit.xml")
    return judge_commands()


def _record_import(bench: Bench, name: str, setting: str) -> None:
    """A command that leaves the result file of another tool; the base and the change leave the same."""
    shutil.copy(DATA / name, bench.root / name)
    bench.settings("min_pass_rate = 0")
    settings = (bench.root / "scoregate.toml").read_text()
    bench.write("scoregate.toml", f"{settings}{_command('others', f'cp {name} out')}{setting}\n")
    bench.base()
    bench.change()


@recording
def import_promptfoo(bench: Bench) -> None:
    """The result file of promptfoo."""
    _record_import(bench, "promptfoo.json", f'imports = ["{FORMATS["promptfoo.json"]}:out"]')


@recording
def import_inspect(bench: Bench) -> None:
    """The log of Inspect."""
    _record_import(bench, "inspect.json", f'imports = ["{FORMATS["inspect.json"]}:out"]')


@recording
def import_pydantic_evals(bench: Bench) -> None:
    """The report of Pydantic Evals."""
    _record_import(bench, "pydantic-evals.json", f'imports = ["{FORMATS["pydantic-evals.json"]}:out"]')


@recording
def import_deepeval(bench: Bench) -> None:
    """The result file of DeepEval, with repeats."""
    _record_import(bench, "deepeval-repeat.json", f'imports = ["{FORMATS["deepeval-repeat.json"]}:out"]')


@recording
def import_rows(bench: Bench) -> None:
    """Rows of another tool, whose columns are inputs and scores; the change lowers some."""

    def write(low: int) -> None:
        rows = ({"q": f"q{at}", "a": f"a{at}", "exact": int(at >= low), "close": 0.9} for at in range(14))
        bench.write("made.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))

    bench.settings("max_drop = 0.1")
    settings = (bench.root / "scoregate.toml").read_text()
    line = f"{_command('table', 'cp made.jsonl out.jsonl')}imports = ['rows:out.jsonl']\n{COLUMNS}"
    bench.write("scoregate.toml", settings + line)
    write(0)
    bench.base()
    write(5)
    bench.change()


@recording
def skill(bench: Bench) -> None:
    """A skill, whose cases run with it and without it; the change makes it know half as much."""
    prepare_skill(bench, 'baseline = "base"')
    bench.base()
    bench.write("skills/paint/SKILL.md", skills.skill(facts=10))
    bench.change()


@recording
def skill_triggers(bench: Bench) -> None:
    """A skill that is no longer used for what it should be used for."""
    prepare_skill(bench, 'baseline = "base"')
    bench.base()
    bench.write("skills/paint/SKILL.md", skills.skill(keyword="draw"))
    bench.change()


def prepare_skill(bench: Bench, *lines: str, number: int = 20) -> None:
    shutil.copy(skills.AGENT, bench.root / "agent.py")
    bench.write(
        "scoregate.toml", skills.settings(*lines, python="python", words=("-I", "-S", str(bench.root / "agent.py")))
    )
    bench.write("skills/paint/SKILL.md", skills.skill())
    bench.write("skills/paint/evals/evals.json", skills.cases(number))


@recording
def media(bench: Bench) -> None:
    """Images and audio in inputs and outputs."""
    bench.settings("min_pass_rate = 0")
    bench.write("evals/eval_pictures.py", MEDIA_SUITE)
    for name, data in {"red.png": RED, "green.png": GREEN, "beep.wav": BEEP}.items():
        (bench.root / "evals" / name).write_bytes(data)
    bench.base()
    bench.change()


def _command(name: str, line: str) -> str:
    return f'[[commands]]\nname = "{name}"\nrun = ["sh", "-c", {json.dumps(line)}]\n'
