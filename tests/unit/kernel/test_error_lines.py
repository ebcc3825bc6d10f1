"""The lines of an output that give the reason why a command ended."""

from __future__ import annotations

import subprocess
import sys
import time

from scoregate.features.setup.javascript.installer import ErrorLines
from scoregate.kernel.host.error_lines import find_error_lines

NODE = """/app/run.js:3
throw new TypeError("no model")
^

TypeError: no model
    at Object.<anonymous> (/app/run.js:3:7)
    at node:internal/main/run_main_module:36:49

Node.js v20.20.2"""
NPM = """npm error code ENOENT
npm error path /app/package.json
npm error enoent Could not read package.json
npm error A complete log of this run can be found in: /root/.npm/_logs/x.log"""
PYTEST = """E   ModuleNotFoundError: No module named 'shop'
=========================== short test summary info ============================
ERROR evals/test_a.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
1 error in 0.05s"""
RUST = """thread 'main' panicked at src/main.rs:2:5:
no such case
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"""
JAVA = """Exception in thread "main" java.lang.IllegalStateException: no model
\tat Main.main(Main.java:3)
Caused by: java.io.IOException: refused
\t... 1 more"""
GO = """panic: no cases

goroutine 1 [running]:
main.main()
\t/app/main.go:4 +0x25
exit status 2"""
TSC = """src/run.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.
Found 1 error."""
NPM_USAGE = """npm error code EUSAGE
npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync.
npm error
npm error Usage:
npm error npm ci
npm error Options:
npm error [-E|--save-exact]
npm error Run "npm help ci" for more info
npm error A complete log of this run can be found in: /root/.npm/_logs/x.log"""
OLD_NPM = NPM_USAGE.replace("npm error", "npm ERR!")
YARN = """➤ YN0000: · Yarn 4.13.0
➤ YN0000: ┌ Resolution step
➤ YN0085: │ + is-odd@npm:3.0.1
➤ YN0002: │ shop doesn't provide react (p1), requested by x.
➤ YN0000: └ Completed
➤ YN0028: │ The lockfile would have been modified by this install, which is explicitly forbidden.
➤ YN0000: · Failed with errors in 0s 85ms"""
OLD_YARN = """yarn install v1.22.22
[1/4] Resolving packages...
error Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`.
info Visit https://yarnpkg.com/en/docs/cli/install for documentation about this command."""
YARN_USAGE = """Usage Error: The nearest package directory (/app) doesn't seem to be part of the project.

$ yarn install [--json]"""
PNPM = """Scope: all 2 workspace projects
 ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date

Note that in CI environments this setting is true by default."""
STORE = """Traceback (most recent call last):
  File "/app/evals/eval_agent.py", line 12, in <module>
scoregate.errors.StoreError: TOML cannot be written: the package tomlkit is not installed
Run: pip install 'scoregate[judges]'"""
INSTALLATIONS = {
    NPM_USAGE: NPM_USAGE.splitlines()[:2],
    OLD_NPM: OLD_NPM.splitlines()[:2],
    YARN: YARN.splitlines()[5:6],
    OLD_YARN: OLD_YARN.splitlines()[2:3],
    YARN_USAGE: YARN_USAGE.splitlines()[:1],
    PNPM: PNPM.splitlines()[1:2],
}
EXPECTED = {
    NODE: "TypeError: no model",
    NPM: "npm error code ENOENT; npm error path /app/package.json; npm error enoent Could not read package.json",
    PYTEST: "ModuleNotFoundError: No module named 'shop'; ERROR evals/test_a.py",
    RUST: "thread 'main' panicked at src/main.rs:2:5: no such case",
    JAVA: 'Exception in thread "main" java.lang.IllegalStateException: no model; '
    "Caused by: java.io.IOException: refused",
    GO: "panic: no cases",
    STORE: "scoregate.errors.StoreError: TOML cannot be written: the package tomlkit is not installed. "
    "Run: pip install 'scoregate[judges]'",
    TSC: "src/run.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.",
    "E   UsageError: a.py::test_b: takes no x\nERROR a.py - UsageError: a.py::test_b: ta...": (
        "UsageError: a.py::test_b: takes no x"
    ),
    "E   ValueError: one\nERROR a.py - ValueError: two": "ValueError: one; ERROR a.py - ValueError: two",
    "sh: 1: promptfoo: not found": "sh: 1: promptfoo: not found",
    "Error: 401 from the API\ncleaning up\ndone\n\n": "Error: 401 from the API",
    "checked 3 cases\nnothing to do\n": "nothing to do",
    "x.py:3: UserWarning: old\nstopping": "stopping",
    "": "",
}


def test_errors_before_later_lines_are_found() -> None:
    for output, expected in EXPECTED.items():
        assert find_error_lines(output.split("\n")) == expected


def test_errors_of_package_managers_are_the_same_in_suites_and_installations() -> None:
    for output, expected in INSTALLATIONS.items():
        errors = ErrorLines()
        for line in output.splitlines():
            errors.add(line)
        assert str(errors).splitlines() == [f"  | {line}" for line in expected]
        assert find_error_lines(output.splitlines()) == "; ".join(line.strip() for line in expected)


def test_a_traceback_lists_causes_in_order() -> None:
    code = "import atexit\natexit.register(print, 'bye')\ntry:\n    {}['a']\nexcept KeyError:\n    open('/no/file')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    lines = (done.stderr + done.stdout).splitlines()
    assert lines[-1] == "bye"
    assert find_error_lines(lines) == (
        "KeyError: 'a'; FileNotFoundError: [Errno 2] No such file or directory: '/no/file'"
    )


def test_the_text_is_bounded_and_hostile_lines_are_fast() -> None:
    many = [f"Error: {number} {'x' * 500}" for number in range(40)]
    assert len(find_error_lines(many)) < 700
    assert find_error_lines(many).endswith("…")
    started = time.process_time()
    for text in ("A.", "a$", "Error", "E  ", ": not found ", "x(1,1)", "A" * 7):
        find_error_lines([(text * 8000)[:8000]] * 40)
    assert time.process_time() - started < 1
