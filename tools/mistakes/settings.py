"""Mistakes in settings and on the command line."""

from __future__ import annotations

import sys

from tools.mistakes.mistake import FILE, SUITE, Mistake


def _set(text: str) -> dict[str, str]:
    return {FILE: SUITE, "scoregate.toml": text}


_SUITE = {FILE: SUITE}
_ENTRY = '[[accepted]]\nsuite = "support"\nevaluator = "tone"\nat_most = 0.1\nreason = "new prompt"\nby = "ana"\n'
_FLAKY = '[[quarantine]]\nsuite = "support"\nowner = "bo"\nreason = "the clock"\nuntil = 2099-12-31\n'

MISTAKES = (
    Mistake("A setting is misspelled.", _set("min_passrate = 0.9\n"), code=2),
    Mistake("A setting has a wrong type.", _set('min_pass_rate = "high"\n'), code=2),
    Mistake("A setting is out of range.", _set("min_pass_rate = 85\n"), code=2),
    Mistake("Settings are in a table `[gates]`.", _set("[gates]\nmin_pass_rate = 0.9\n"), code=2),
    Mistake("`scoregate.toml` isn't valid TOML.", _set("min_pass_rate = 0.9\nmax_drop = = 1\n"), code=2),
    Mistake("A rule is misspelled in `severity`.", _set('severity = { suite_remain = "warn" }\n'), code=2),
    Mistake("A limit names no suite.", _set('[suites."openning-*"]\nmin_pass_rate = 0.5\n')),
    Mistake("A limit names no scorer.", _set("min_score = { contians = 0.5 }\n")),
    Mistake("An entry of `accepted.toml` has no last day.", _SUITE | {".scoregate/accepted.toml": _ENTRY}, code=2),
    Mistake("An entry of `quarantine.toml` names no case.", _SUITE | {".scoregate/quarantine.toml": _FLAKY}, code=2),
    Mistake("`--env-file` doesn't exist.", _SUITE, ("run", "--env-file", ".env"), 2),
    Mistake("The interpreter doesn't exist.", _set('python = "python9"\n'), code=2),
    Mistake("A variable `SCOREGATE_…` is misspelled.", _SUITE, code=2, environ={"SCOREGATE_MIN_PASRATE": "0.9"}),
    Mistake("A setting in the environment has a wrong type.", _SUITE, code=2, environ={"SCOREGATE_TIMEOUT": "5 min"}),
    Mistake("`--config` names a settings file.", _SUITE, ("run", "--config", "scoregate.toml"), 2),
    Mistake("An option is misspelled.", _SUITE, ("run", "--min-passrate", "0.9"), 2),
    Mistake("A command is misspelled.", _SUITE, ("rnu",), 2),
    Mistake("An expression of `-k` isn't valid.", _SUITE, ("run", "-k", "hours and"), 2),
    Mistake("An expression of `-k` matches no case.", _SUITE, ("run", "-k", "refund")),
    Mistake("`--seed` has no sample.", _SUITE, ("run", "--seed", "3"), 2),
    Mistake("`--last-failed` has no earlier run.", _SUITE, ("run", "--last-failed"), 0),
    Mistake("The working directory doesn't exist.", _SUITE, ("run", "--working-directory", "service"), 2),
    Mistake("A program of a command doesn't exist.", _set('[[commands]]\nname = "smoke"\nrun = ["smoketest"]\n')),
    Mistake("A command writes no results.", _set('[[commands]]\nname = "smoke"\nrun = ["true"]\n')),
    Mistake(
        "A command writes an event line that isn't valid.",
        _set(
            '[[commands]]\nname = "smoke"\n'
            """run = ["sh", "-c", "echo '{suite: smoke}' > $SCOREGATE_EVENTS/smoke.jsonl"]\n"""
        ),
    ),
    Mistake(
        "The interpreter of a command lacks scoregate.",
        _set(f'[[commands]]\nname = "hours"\nrun = ["{sys.executable}", "-I", "-S", "{FILE}"]\n'),
    ),
    Mistake(
        "pytest isn't installed.",
        {},
        ("exec", "--junit", "results.xml", "--", sys.executable, "-S", "-m", "pytest", "--junitxml", "results.xml"),
    ),
    Mistake("The command of `exec` is in quotes.", {}, ("exec", "--", "pytest evals"), 2),
)
