"""A forked script behaves as one that a new Python runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from anyio.abc import Process
from tests.warm_scripts import run_script, warm_scripts

from scoregate.kernel.run.dependencies.recording import read_python_recorder

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux forks scripts; elsewhere a new Python starts"),
]
SHOW = """
import atexit, inspect, os, signal, sys, threading
import scoregate.testing.run, helper
main = sys.modules["__main__"]
print(__name__, __file__, __package__, __spec__, __doc__, __builtins__, type(__loader__).__name__, main.SHOWN)
print(sys.argv, sys.orig_argv, sys.path, sys.flags, sys.executable, os.getcwd(), sorted(globals()), sep="\\n")
print(dict(sorted(os.environ.items())))
print(os.getsid(0) == os.getpid() == os.getpgid(0), sys.stdin.read() == "", os.listdir("/proc/self/fd"), sep="\\n")
print([signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD)])
streams = sys.stdin, sys.stdout, sys.stderr
print([(each.isatty(), each.encoding, each.errors, each.line_buffering) for each in streams])
print([each.name for each in threading.enumerate()], threading.main_thread() is threading.current_thread())
print(helper.__file__, inspect.stack()[0], sep="\\n")
print(len({os.urandom(4)}), "pytest" in sys.modules, "openai" in sys.modules, "httpx" in sys.modules)
atexit.register(print, "the end")
threading.Timer(0.3, print, ["a thread"]).start()
"""
ENDS = {
    "end": "",
    "code": "sys.exit(3)",
    "large code": "sys.exit(259)",
    "text": "sys.exit('no')",
    "unmeasurable": "from scoregate.engine.exit_status import fail_at_exit\nfail_at_exit()",
    "error": "def fail():\n    raise ValueError('x') from KeyError('y')\nfail()",
    "interrupt": "os.kill(os.getpid(), signal.SIGINT)",
    "kill": "os.kill(os.getpid(), signal.SIGKILL)",
    "abort": "os.abort()",
    "_exit": "os._exit(7)",
    "syntax": "def",
}


async def open_script(folder: Path, environ: dict[str, str], *words: str) -> Process:
    """As `scoregate.kernel.host.process` does it."""
    return await anyio.open_process(
        (sys.executable, *(words or ("evals/a.py",))), cwd=folder, env=environ,
        stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip


async def run(folder: Path, environ: dict[str, str], *words: str) -> tuple[str, str, int]:
    process = await open_script(folder, environ, *words)
    async with process:
        assert process.stdout is not None
        output = b"".join([part async for part in process.stdout]).decode()
        return type(process).__name__, re.sub(r"0x[0-9a-f]+", "0x…", output), await process.wait()


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "evals").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "evals" / "helper.py").touch()
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(tmp_path / "lib"), str(tmp_path)]))
    return {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", "SCOREGATE_MARK": "ä\n'"}


@pytest.mark.parametrize("end", ENDS)
async def test_it_has_the_same_effects(tmp_path: Path, environ: dict[str, str], end: str) -> None:
    script = tmp_path / "evals" / "a.py"
    script.write_text(f"SHOWN = 1\n{SHOW}\nsys.stdout.flush()\n{ENDS[end]}\n")
    new = await run(tmp_path, environ)
    with warm_scripts():
        warm = await run(tmp_path, environ)
    assert new[0] != warm[0]
    assert new[1].splitlines() == warm[1].splitlines()
    assert new[2] == warm[2]
    assert ("helper.py" in new[1]) == (end != "syntax")


@pytest.mark.parametrize(
    "path", ["evals/json.py", "evals/anyio/__init__.py", "lib/sitecustomize.py", "lib/click.py", "lib/openai.py"]
)
async def test_a_module_of_the_project_hides_the_imported_one(
    tmp_path: Path, environ: dict[str, str], path: str
) -> None:
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text("print(__file__)")
    name = Path(path).parent.name if path.endswith("__init__.py") else Path(path).stem
    (tmp_path / "evals" / "a.py").write_text(f"import {name}\n")
    with warm_scripts():
        assert await run(tmp_path, environ) == ("_Forked", f"{tmp_path / path}\n", 0)


async def test_pytest_runs_as_in_a_new_python(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "lib" / "plugin.py").write_text("def check(word): assert word == 'plug-in', 'more'\n")
    test = "import os, sys, plugin\ndef test_it(): print(sys.argv, sys.path, os.getcwd(), plugin.check('x'))\n"
    (tmp_path / "evals" / "test_a.py").write_text(test)
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "plugin"}
    environ = {name: value for name, value in environ.items() if not name.startswith("PYTEST_")} | alone
    words = ("-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "--durations-min", "99", "evals")
    new = await run(tmp_path, environ, *words)
    with warm_scripts():
        warm = await run(tmp_path, environ, *words)
    assert (new[0], warm[0], new[2]) == ("Process", "_Forked", 1)
    assert "assert 'x' == 'plug-in'" in new[1], "the assertions of plug-ins are changed"
    outputs = [re.sub(r" in [\d.]+s", "", output) for _, output, _ in (new, warm)]
    assert outputs[0] == outputs[1]


async def test_the_same_files_are_recorded(tmp_path: Path, environ: dict[str, str]) -> None:
    recorder, log = tmp_path / "outside" / "recorder", tmp_path / "outside" / "log"
    recorder.mkdir(parents=True)
    (recorder / "sitecustomize.py").write_text(read_python_recorder(), encoding="utf-8")
    project = tmp_path / "project"
    (project / "evals").mkdir(parents=True)
    (project / "evals" / "helper.py").write_text("import json")
    (project / "evals" / "rows.csv").touch()
    (project / "evals" / "a.py").write_text(
        "import os, sys, scoregate.testing.run, helper\n"
        "open('evals/rows.csv').read(), os.path.exists('evals/other.csv'), os.listdir('evals')\n"
        "print(sys.path, os.environ.get('PYTHONPATH'), 'sitecustomize' in sys.modules)\n"
    )
    path = os.pathsep.join([str(recorder), *filter(None, [os.environ.get("PYTHONPATH")])])
    environ |= {"PYTHONPATH": path, "SCOREGATE_DEPENDENCIES": f"{project}\n{log}"}
    outputs, entries = [], []
    for start in (anyio.CancelScope, warm_scripts):
        log.write_bytes(b"")
        with start():
            outputs.append(await run(project, environ))
        entries.append(set(log.read_bytes().decode().split("\0")))
    new, warm = entries
    assert outputs[0][0] != outputs[1][0]
    assert outputs[0][1:] == outputs[1][1:]
    assert {"P", "E", f"r{project}/evals/rows.csv", f"i{project}/evals", "mhelper", "manyio"} <= new & warm
    # The forked process has other packages, and reads what the first one compiled.
    assert not {each for each in new ^ warm if not each.startswith("m") and "__pycache__" not in each}


async def test_the_model_client_is_imported_normally(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "evals" / "a.py").write_text(
        "import sys\nfrom openai.types.chat import ChatCompletion\nimport openai, openai.types as types\n"
        "http = sys.modules[type(openai.DEFAULT_CONNECTION_LIMITS).__module__.partition('.')[0]]\n"
        "for each in (openai, types, http):\n"
        "    print(each.__name__, each.__file__, each.__path__, each.__spec__.name)\n"
        "    assert each is sys.modules[each.__name__]\n"
        "print(types.chat.ChatCompletion is ChatCompletion, openai.OpenAI(api_key='k').chat.completions)\n"
    )
    new = await run(tmp_path, environ)
    with warm_scripts():
        warm = await run(tmp_path, environ)
    assert new[0] != warm[0]
    assert new[1:] == warm[1:]
    assert new[2] == 0, new[1]


async def test_the_test_set_runner_has_the_same_effects(tmp_path: Path, environ: dict[str, str]) -> None:
    show = (
        f"{SHOW.replace('helper', 'bot').replace(', main.SHOWN', '')}\nprint(main.__spec__.name, sorted(vars(main)))\n"
    )
    (tmp_path / "bot.py").write_text(f"{show}\ndef answer(input): return input\n")
    for options in ('{"name": "a", "origin": "b", "file": "c", "agent": "bot:answer"}', '{"file": "x"}', "{"):
        arguments = ("-m", "scoregate.worker", "config", options)
        new = await run(tmp_path, environ, *arguments)
        with warm_scripts():
            warm = await run(tmp_path, environ, *arguments)
        assert new[0] != warm[0]
        assert new[1].splitlines() == warm[1].splitlines()
        assert (new[2], "bot.py" in new[1]) == (warm[2], "agent" in options)


async def test_the_data_suite_runner_has_the_same_effects(tmp_path: Path, environ: dict[str, str]) -> None:
    """It finds no modules in PYTHONPATH. Its output is only sooner than that of `python -I`, which buffers it."""
    (tmp_path / "lib" / "bot.py").write_text(f"{SHOW.replace('helper', 'os').replace(', main.SHOWN', '')}\n")
    for module in ("bot", "this"):
        options = json.dumps({"name": "a", "origin": "b", "file": "c", "agent": f"{module}:answer"})
        arguments = ("-I", "-m", "scoregate.worker", "config", options)
        new = await run(tmp_path, environ, *arguments)
        with warm_scripts():
            warm = await run(tmp_path, environ, *arguments)
        assert new[0] != warm[0]
        assert sorted(new[1].splitlines()) == sorted(warm[1].splitlines())
        assert (new[2], "Zen of Python" in new[1]) == (warm[2], module == "this")
        assert "lib" not in new[1], new[1]


async def test_changed_startup_files_start_python(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "evals" / "a.py").write_text("import sys; print(sys.flags.optimize)")
    with warm_scripts():
        assert (await run(tmp_path, environ | {"PYTHONOPTIMIZE": "2"}))[1:] == ("2\n", 0)


async def test_closed_output_does_not_end_it(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "evals" / "a.py").write_text(
        "import os, time\nprint(1, flush=True)\nos.close(1)\nos.close(2)\ntime.sleep(60)\n"
    )
    for start in (anyio.CancelScope, warm_scripts):
        with start():
            process = await open_script(tmp_path, environ)
        async with process:
            assert process.stdout is not None
            assert b"".join([part async for part in process.stdout]) == b"1\n"
            assert process.returncode is None
            process.terminate()
            assert (await process.wait(), process.returncode) == (-15, -15)


def test_a_script_is_run_to_its_end_with_more_modules_and_its_errors_apart(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    script = tmp_path / "a.py"
    script.write_text("import os, sys\nprint('tomlkit' in sys.modules, os.getcwd())\nsys.exit('no')\n")
    for modules in ([], ["tomlkit"]):
        outcome = run_script(script, environ, modules, tmp_path / "lib")
        assert (outcome.returncode, outcome.stderr) == (1, "no\n")
        assert outcome.stdout == f"{bool(modules)} {tmp_path / 'lib'}\n"
