"""Whether a source file has suites, and how it is run: parsed, never imported."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate.kernel.run.discover.scripts import ScriptInfo, read_script
from scoregate.kernel.run.plan import SourceKind

IMPORTS = "from scoregate.testing.run import run_test_suite\n"


def read(source: str, *, imports: str = IMPORTS) -> ScriptInfo:
    return read_script((imports + dedent(source)).encode())


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("from scoregate.testing.run import run_test_suite", "run_test_suite(id='x')"),
        ("from scoregate.testing import run_test_suite as go", "go(id='x')"),
        ("from scoregate.testing.run import *", "run_test_suite(id='x')"),
        ("from scoregate.testing import run", "run.run_test_suite(id='x')"),
        ("from scoregate import testing", "testing.run.run_test_suite(id='x')"),
        ("import scoregate.testing.run as r", "r.run_test_suite(id='x')"),
        ("import scoregate.testing.run", "scoregate.testing.run.run_test_suite(id='x')"),
        ("import scoregate as s", "s.testing.run_test_suite(id='x')"),
        ("from scoregate import evaluate", "evaluate('x', data=[], task=print)"),
        ("from scoregate import evaluate as e", "e(name='x', data=[], task=print)"),
        ("import scoregate as s", "s.evaluate('x', data=[], task=print)"),
        ("from scoregate.evals import evaluate", "evaluate('x', data=[], task=print)"),
        ("from scoregate import *", "evaluate('x', data=[], task=print)"),
        ("from scoregate import evaluate\nfrom os.path import *", "evaluate('x', data=[], task=print)"),
        ("from scoregate import evaluate\nfrom scoregate.scorers import *", "evaluate('x', data=[], task=print)"),
        ("from scoregate import evaluate\nfrom app import *", "evaluate('x', data=[], task=print)"),
        ("from scoregate.testing.run import run_test_suite\nfrom .app import *", "run_test_suite('x')"),
        ("from deepeval import evaluate\nfrom scoregate import *", "evaluate('x', data=[], task=print)"),
        ("import importlib", "importlib.import_module('scoregate').evaluate('x', data=[], task=print)"),
        ("from importlib import import_module as load", "sg = load('scoregate.evals')\nsg.evaluate('x', task=print)"),
        ("", "__import__('scoregate').evaluate('x', data=[], task=print)"),
        ("import scoregate", "getattr(scoregate, 'evaluate')('x', data=[], task=print)"),
        ("import scoregate", "sdk = scoregate\nsdk.evaluate('x', data=[], task=print)"),
        ("from scoregate.testing.run import RunManager", "RunManager('x', message='m')"),
        ("from scoregate.testing.run import RunManager", "RunManager(test_id='x').start()"),
        ("from scoregate.testing.run import run_test_suite", "go = run_test_suite\ngo('x')"),
        ("from scoregate.testing.run import run_test_suite", "with open('f') as f:\n    run_test_suite('x')"),
        (
            "from functools import partial\nfrom scoregate.testing.run import run_test_suite",
            "go = partial(run_test_suite, fn=print)\ngo(id='x')",
        ),
        (
            "try:\n    from scoregate.testing.run import run_test_suite\nexcept ImportError:\n    raise",
            "if __name__ == '__main__':\n    run_test_suite(id='x')",
        ),
    ],
)
def test_a_call_is_found_with_any_import(imports: str, call: str) -> None:
    reading = read(call, imports=f"{imports}\n")
    assert (reading.kind, reading.suite_ids, reading.foreign) == (SourceKind.PYTHON, ("x",), False)


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("from autoblocks.testing.run import run_test_suite", "run_test_suite(id='x')"),
        ("from autoblocks.testing.run import *", "run_test_suite('x')"),
        ("import autoblocks.testing.run as r", "r.run_test_suite(id='x')"),
        ("from autoblocks.testing.run import RunManager", "RunManager(test_id='x').start()"),
    ],
)
def test_a_suite_of_the_autoblocks_sdk_is_recognized(imports: str, call: str) -> None:
    reading = read(call, imports=f"{imports}\n")
    assert (reading.kind, reading.suite_ids, reading.foreign) == (SourceKind.PYTHON, ("x",), True)
    assert "Autoblocks" in reading.why


def test_a_file_with_suites_of_both_is_foreign() -> None:
    both = "from autoblocks.testing.run import run_test_suite as theirs\ntheirs(id='b')\nrun_test_suite(id='a')\n"
    reading = read(both)
    assert (reading.kind, reading.suite_ids, reading.foreign) == (SourceKind.PYTHON, ("b", "a"), True)


def test_version_2_of_that_sdk_is_skipped_and_named() -> None:
    reading = read("run_test_suite(id='x')", imports="from autoblocks.testing.v2.run import run_test_suite\n")
    assert (reading.kind, reading.notable) == (None, True)
    assert "version 2" in reading.why


@pytest.mark.parametrize(
    "source",
    [
        "from autoblocks.tracer import AutoblocksTracer\nAutoblocksTracer()",
        "def run_test_suite(id): ...\nrun_test_suite(id='x')",
        "from scoregate.testing.models import BaseTestCase\nBaseTestCase()",
        "from scoregate.testing.run import run_test_suite\n__all__ = ['run_test_suite']",
        "from scoregate.testing.run import RunManager\ndef f(run: RunManager) -> RunManager: ...\nx: RunManager = f(1)",
        "from functools import partial\nfrom scoregate.testing.run import run_test_suite\ngo = partial(run_test_suite)",
        "'run_test_suite(id=1)'  # from scoregate.testing.run import run_test_suite",
        "",
    ],
)
def test_other_code_is_no_suite(source: str) -> None:
    reading = read(source, imports="")
    assert (reading.kind, reading.error) == (None, False)
    assert reading.why == "starts no suite of scoregate"


def test_a_call_of_an_unknown_function_is_in_doubt() -> None:
    unknown = (
        "from .scoregate.testing.run import run_test_suite\nrun_test_suite(id='x')",
        "from . import run_test_suite\nrun_test_suite(id='x')",
        "import scoregate\nfrom company import evals\nevals.run('x')",
        "import scoregate\nimport importlib\nimportlib.import_module(scoregate.NAME)",
        "import scoregate\nexec(open('x').read())",
        "import scoregate\ndef main(jobs):\n    for job in jobs:\n        job()\nmain(scoregate.JOBS)",
        "import scoregate\nJOBS = [print]\nif __name__ == '__main__':\n    JOBS[0](scoregate)",
    )
    for source in unknown:
        reading = read(source, imports="")
        assert (reading.kind, reading.in_doubt) == (None, True), source
        assert reading.why.startswith("no suite is found in it, but line "), source
    known = (
        "import scoregate\nimport os, sys\nsys.path.insert(0, os.getcwd())\nCASES = []\nCASES.append(1)\nprint(CASES)",
        "from openai import OpenAI\nfrom scoregate.scorers import contains\nclient = OpenAI()\nSCORER = contains()",
        "import pytest\nimport scoregate\nfrom company import case\n@case(1)\ndef answer(): return 1",
        "from company import run\nimport scoregate\ndef go(): run()",
    )
    for source in known:
        assert not read(source, imports="").in_doubt, source


@pytest.mark.parametrize(
    "source",
    [
        "def main():\n    run_test_suite(id='x')\nmain()",
        "async def main():\n    run_test_suite(id='x')\nimport asyncio\nasyncio.run(main())",
        "def inner():\n    run_test_suite(id='x')\ndef main():\n    inner()\nif __name__ == '__main__':\n    main()",
        "def outer():\n    def inner():\n        run_test_suite(id='x')\n    return inner\nouter()()",
        "class Evals:\n    def go(self):\n        run_test_suite(id='x')\nEvals().go()",
        "class Evals:\n    def __init__(self):\n        run_test_suite(id='x')\nEvals()",
        "class Evals:\n    run_test_suite(id='x')",
        "import click\n@click.command()\ndef main():\n    run_test_suite(id='x')",
        "import fire\ndef main():\n    run_test_suite(id='x')\nfire.Fire(main)",
        "(lambda: run_test_suite(id='x'))()",
        "def main(): go()\ndef go(): main(); run_test_suite(id='x')\nmain()",
    ],
)
def test_functions_called_at_module_level_count(source: str) -> None:
    reading = read(source)
    assert (reading.kind, reading.suite_ids) == (SourceKind.PYTHON, ("x",))


@pytest.mark.parametrize(
    "source",
    [
        "def test_it():\n    run_test_suite(id='x')",
        "async def test_it():\n    run_test_suite(id='x')",
        "class TestIt:\n    def test_it(self):\n        run_test_suite(id='x')",
        "import unittest\nclass Evals(unittest.TestCase):\n    def test_it(self):\n        run_test_suite(id='x')",
        "import pytest\n@pytest.mark.slow\ndef test_it():\n    run_test_suite(id='x')",
        "import pytest\n@pytest.fixture\ndef ran():\n    return run_test_suite(id='x')\ndef test_it(ran): ...",
        "def go():\n    run_test_suite(id='x')\ndef test_it():\n    go()",
    ],
)
def test_calls_inside_tests_are_run_by_pytest(source: str) -> None:
    reading = read(source)
    assert (reading.kind, reading.suite_ids) == (SourceKind.PYTEST, ("x",))


def test_a_file_with_both_is_a_script() -> None:
    assert read("def test_it():\n    run_test_suite(id='x')\nrun_test_suite(id='y')").kind is SourceKind.PYTHON


def test_an_unreachable_call_is_reported() -> None:
    reading = read("def main():\n    run_test_suite(id='x')")
    assert reading.kind is None
    assert reading.why == "starts a suite at line 3, but in a function that the file never calls"


def test_the_first_call_has_the_line_and_ids_keep_their_order() -> None:
    reading = read("\nfor _ in range(2):\n    run_test_suite(id='b')\nrun_test_suite('a')\nrun_test_suite('b')")
    assert (reading.line, reading.suite_ids) == (4, ("b", "a"))


@pytest.mark.parametrize(
    "call", ["run_test_suite(id=name)", "run_test_suite(**options)", "run_test_suite(id=f'{x}')", "run_test_suite(7)"]
)
def test_an_unknown_id_makes_all_unknown(call: str) -> None:
    assert read(f"run_test_suite(id='x')\n{call}").suite_ids is None


def test_a_call_by_another_function_has_no_known_id() -> None:
    reading = read("import threading\nthreading.Thread(target=print)\nmap(run_test_suite, ['a', 'b'])")
    assert (reading.kind, reading.suite_ids) == (SourceKind.PYTHON, None)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (b"x = 1\ndef f(:\n", 2),
        (b"# -*- coding: no-such-codec -*-\n", 1),
        (b"x = '\xff'\n", 1),
        (b"x = 1\0", 1),
        (b"(" * 10_000 + b")" * 10_000, 1),
        (b"x = " + b"+".join([b"1"] * 20_000), 1),
    ],
)
def test_an_unreadable_file_is_an_error_with_a_line(source: bytes, line: int) -> None:
    reading = read_script(source)
    assert (reading.kind, reading.error) == (None, True)
    assert reading.why.startswith("Python 3.")
    assert reading.line == line


@pytest.mark.parametrize(
    "source",
    [
        ("\ufeff" + IMPORTS + "run_test_suite(id='x')").encode(),
        ("# coding: latin-1\n" + IMPORTS + "run_test_suite(id='x')  # é").encode("latin-1"),
        (IMPORTS + "run_test_suite(id='x', y='\\d')").encode(),
        (IMPORTS + "run_test_suite(id='x')").replace("\n", "\r\n").encode(),
    ],
)
def test_encodings_and_bad_escapes_are_read(source: bytes) -> None:
    assert read_script(source).suite_ids == ("x",)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_an_error(source: bytes) -> None:
    reading = read_script(source)
    assert reading.error or reading.kind is None or b"scoregate" in source


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True))
def test_a_long_chain_of_calls_is_followed(chain: list[str]) -> None:
    names = [f"step_{name}" for name in chain]
    bodies = [f"{after}()" for after in names[1:]] + ["run_test_suite(id='x')"]
    source = "".join(f"def {name}():\n    {body}\n" for name, body in zip(names, bodies, strict=True))
    assert read(source).kind is None
    assert read(f"{source}{names[0]}()").kind is SourceKind.PYTHON


@pytest.mark.parametrize(
    ("source", "suites"),
    [
        ("from scoregate import Client\nclient = Client()\nclient.offline_tests.run('nightly')", ("nightly",)),
        ("from scoregate import Judgeval\nJudgeval('p').offline_tests.run(test_config='nightly')", ("nightly",)),
        ("from scoregate import Client\nclient = Client()\nclient.offline_tests.run(config)", None),
        ("from project import client\nclient.offline_tests.run('nightly')", ("nightly",)),
        ("from scoregate import Client\nClient().evaluation.run([], [], eval_run_name='now')", ("now",)),
        ("from scoregate import Client\nClient().evaluation.create().run([], [])", None),
        ("from scoregate import Client\nrun = Client().test_runs.start('support')", None),
    ],
)
def test_runs_of_a_client_are_found(source: str, suites: tuple[str, ...] | None) -> None:
    reading = read(source, imports="")
    assert (reading.kind, reading.suite_ids) == (SourceKind.PYTHON, suites)


def test_a_run_with_a_client_from_a_fixture_is_run_by_pytest() -> None:
    reading = read("def test_it(client):\n    client.offline_tests.run('nightly', assert_test=True)", imports="")
    assert (reading.kind, reading.suite_ids) == (SourceKind.PYTEST, ("nightly",))


@pytest.mark.parametrize(
    "source",
    [
        "from judgeval import Judgeval\nJudgeval('p').offline_tests.run('nightly')",
        "from judgeval import Judgeval\nJudgeval('p').test_runs.start('support')",
        "from elsewhere import client\nclient.test_runs.start('support')",
        "from elsewhere import client\nclient.evaluation.run([], [])",
        "from scoregate import Client\nClient().offline_tests.get_config('nightly')",
        "from scoregate import Client\nClient().datasets.run('nightly')",
        "from scoregate import Client\nrun('nightly')",
    ],
)
def test_similar_calls_are_no_runs_of_a_client(source: str) -> None:
    assert read(source, imports="").kind is None


@pytest.mark.parametrize(
    "source",
    [
        "from scoregate.entities import Endpoints, TestSets\nTestSets.pull(name='a').execute(Endpoints.pull(name='b'))",
        "from scoregate.entities import TestSet\nfor test in made.tests:\n    test.execute(endpoint=endpoint)",
        "import scoregate.entities as e\ntest_set = e.TestSet.from_csv('a.csv')\ntest_set.rescore(endpoint, 'nightly')",
    ],
)
def test_runs_of_tests_and_test_sets_are_found(source: str) -> None:
    reading = read(source, imports="")
    assert (reading.kind, reading.suite_ids) == (SourceKind.PYTHON, None)


@pytest.mark.parametrize(
    "source",
    [
        "from scoregate.entities import TestSet\ntest_set.push()",
        "from scoregate.entities import TestSet\ncursor.execute('SELECT 1')\ncursor.execute(f'DROP {table}')",
        "from scoregate.entities import TestSet\npool.execute()",
        "import sqlalchemy\nsession.execute(statement)",
        "from scoregate.entities_of_ours import TestSet\ntest_set.execute(endpoint)",
    ],
)
def test_similar_calls_are_no_runs_of_tests(source: str) -> None:
    assert read(source, imports="").kind is None


def test_a_suite_without_a_name_has_the_name_of_its_task() -> None:
    reading = read("evaluate(data=[], task=answer)", imports="from scoregate import evaluate\n")
    assert (reading.kind, reading.suite_ids) == (SourceKind.PYTHON, None)


def test_another_function_called_evaluate_is_no_suite() -> None:
    for imports in ("import evaluate", "from other import evaluate", "from scoregate.testing.run import *"):
        call = "evaluate.load('x')" if imports == "import evaluate" else "evaluate('x', data=[], task=print)"
        assert read(call, imports=f"# scoregate\n{imports}\n").kind is None
