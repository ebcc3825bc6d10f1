"""Which features a run loads: those that its settings, suites, results or job turn on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.kernel.builders import ExampleSuite, info, run_of, scored

from scoregate.features.steps import load_all_steps, load_steps
from scoregate.features.table import FEATURES
from scoregate.kernel.judge.judgement import Baseline, ComparedSides
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.plan import ResultImport, SourceKind, SuiteSource
from scoregate.kernel.types.declarations.declaration import RunFacts
from scoregate.kernel.types.exemptions import EXEMPTIONS, Exemptions
from scoregate.kernel.types.runs.arms import Arm
from scoregate.kernel.types.runs.confirmations import CONFIRMATIONS
from scoregate.kernel.types.runs.evidence import TrialRole
from scoregate.kernel.types.runs.model_calls import ModelCalls
from scoregate.kernel.types.runs.policy import Limits, Policy
from scoregate.kernel.types.runs.run import Run
from scoregate.kernel.types.slots import NO_SLOTS, Slot, Slots

ALWAYS = {"setup", "costs"}
PLAIN = RunFacts(Settings())
RUN = run_of(ExampleSuite(scored(1.0, 0.0)))
SOURCE = SuiteSource("suite.sh", SourceKind.COMMAND)
VARIANTS = run_of(*(ExampleSuite(scored(1.0), params={"task": name}) for name in "ab"))
ARM = run_of(
    ExampleSuite({"c": {"expectations": 1.0}}, evaluators=(info("expectations"),), params={"task": str(Arm.WITHOUT)})
)
CALLS = replace(RUN, model_calls=(ModelCalls("suite.sh", "", "openai", "gpt-4o"),))
# What turns each feature on, alone.
SET: tuple[tuple[str, Mapping[str, object]], ...] = (
    ("affected", {"affected": True}),
    ("affected", {"annotate_unread": ("prompts/**",)}),
    ("alert", {"alert": ("slack",)}),
    ("broken_cases", {"fail_on_broken_cases": "all"}),
    ("broken_cases", {"fail_on_regression": True, "measure_again": False}),
    ("broken_cases", {"suites": {"support-*": {"fail_on_broken_cases": "stable"}}}),
    ("check_run", {"check_run": True}),
    ("cluster", {"executor": "dask"}),
    ("cluster", {"scheduler": "tls://localhost:8786"}),
    ("confirm", {"confirm": "critical"}),
    ("confirm", {"fail_on_critical": True}),
    ("confirm", {"suites": {"support-*": {"fail_on_critical": True}}}),
    ("coverage", {"coverage_tools": ("tools.json",)}),
    ("coverage", {"coverage_prompts": ("prompts/**",)}),
    ("decline", {"max_decline": 0.05}),
    ("decline", {"suites": {"support-*": {"max_decline": {"accuracy": 0.0}}}}),
    ("drift", {"drift_control": 0.1}),
    ("extras", {"repeats": "auto"}),
    ("gateway", {"gateway": {"mode": "on"}}),
    ("history", {"baseline": "history"}),
    ("measure_again", {"max_drop": 0.05}),
    ("measure_again", {"suites": {"support-*": {"max_drop": {"accuracy": 0.0}}}}),
    ("interventions", {"explain_regressions": "auto"}),
    ("otlp", {"otlp_endpoint": "http://localhost:4318"}),
    ("slices", {"slices": ("language",)}),
    ("slices", {"max_slice_drop": {"language=fr": 0.1}}),
    ("slices", {"suites": {"support-*": {"max_slice_drop": {"language=*": 0.1}}}}),
    ("traces", {"otlp_receiver": True}),
)
KNOWN: tuple[tuple[str, RunFacts], ...] = (
    ("attempts", replace(PLAIN, runs=(RUN.add_companion(TrialRole.MAIN, RUN),))),
    ("attempts", replace(PLAIN, slots=NO_SLOTS.put(Slot[int]("attempts.pushes"), 1))),
    ("attempts", replace(PLAIN, runs=(replace(RUN, slots=NO_SLOTS.put(Slot[int]("attempts.shards"), 1)),))),
    ("arms", replace(PLAIN, sources=(SOURCE, replace(SOURCE, arm=Arm.WITH)))),
    ("confirm", replace(PLAIN, runs=(replace(RUN, slots=RUN.slots.put(CONFIRMATIONS, ())),))),
    ("decline", replace(PLAIN, policy=Policy(Limits(more={"max_decline": {"*": 0.05}})))),
    ("decline", replace(PLAIN, runs=(replace(RUN, slots=Slots({"declined_from": "damaged"})),))),
    ("decline", replace(PLAIN, slots=NO_SLOTS.put(Slot[int]("decline.earlier"), 1))),
    ("drift", replace(PLAIN, runs=(RUN.add_companion(TrialRole.CONTROL, RUN),))),
    ("exemptions", replace(PLAIN, slots=NO_SLOTS.put(EXEMPTIONS, Exemptions()))),
    ("foreign", replace(PLAIN, sources=(SOURCE, replace(SOURCE, foreign=True)))),
    ("gateway", replace(PLAIN, runs=(RUN, CALLS))),
    ("history", replace(PLAIN, environ={"SCOREGATE_HISTORY": "postgresql://localhost"})),
    ("imports", replace(PLAIN, sources=(SOURCE, replace(SOURCE, imports=(ResultImport("junit", "junit.xml"),))))),
    ("interventions", replace(PLAIN, runs=(replace(RUN, slots=Slots({"interventions.explanation": "damaged"})),))),
    ("slices", replace(PLAIN, policy=Policy(Limits(more={"max_slice_drop": {"language=fr": 0.1}})))),
    ("measure_again", replace(PLAIN, runs=(RUN.add_companion(TrialRole.AGAIN, RUN),))),
    ("variants", replace(PLAIN, runs=(VARIANTS,))),
)


def list_names(facts: RunFacts) -> list[str]:
    return [step.name for step in load_steps(facts)]


@pytest.mark.parametrize(("feature", "settings"), SET, ids=str)
def test_a_setting_turns_a_feature_on(feature: str, settings: Mapping[str, object]) -> None:
    assert set(list_names(RunFacts(Settings.model_validate(settings)))) == ALWAYS | {feature}


@pytest.mark.parametrize(("feature", "facts"), KNOWN, ids=[f"{name}{at}" for at, (name, _) in enumerate(KNOWN)])
def test_what_is_known_of_a_run_turns_a_feature_on(feature: str, facts: RunFacts) -> None:
    assert set(list_names(facts)) == ALWAYS | {feature}


def test_a_job_and_the_files_of_a_project_turn_features_on(tmp_path: Path) -> None:
    assert set(list_names(replace(PLAIN, in_job=True))) == ALWAYS | {"exemptions", "resume"}
    again = replace(PLAIN, in_job=True, environ={"GITHUB_RUN_ATTEMPT": "2"})
    assert set(list_names(again)) == ALWAYS | {"attempts", "exemptions", "resume"}
    assert set(list_names(replace(PLAIN, merges_shards=True))) == ALWAYS | {"attempts", "drift"}
    resumed = replace(PLAIN, slots=NO_SLOTS.put(Slot[int]("resume.request"), 1))
    assert set(list_names(resumed)) == ALWAYS | {"attempts", "resume"}
    project = replace(PLAIN, root=tmp_path)
    assert set(list_names(project)) == ALWAYS
    (tmp_path / ".scoregate").mkdir(mode=0o000)
    assert set(list_names(project)) == ALWAYS | {"exemptions"}


def test_each_feature_of_runs_is_turned_on_by_something() -> None:
    in_runs = {feature.name for feature in FEATURES if feature.in_runs}
    others = {"comments", "resume"}  # a command asks for its commands; `--resume` turns on two features
    assert in_runs == ALWAYS | {name for name, _ in (*SET, *KNOWN)} | others


def test_a_judgement_knows_both_runs_and_what_was_found() -> None:
    def find_on(run: Run, base: Run | None, slots: Slots = NO_SLOTS) -> set[str]:
        sides = ComparedSides(run, Baseline(base, "main"), Settings(), slots)
        return set(list_names(sides.list_facts(sides.choose_policy().policy))) - ALWAYS

    assert find_on(RUN, None) == set()
    assert find_on(ARM, None) == {"arms", "variants"}
    assert find_on(VARIANTS, CALLS, NO_SLOTS.put(EXEMPTIONS, Exemptions())) == {"exemptions", "gateway", "variants"}
    policy = {**Settings(max_decline=0.05, policy_from="base").policy().to_record()}
    assert find_on(RUN, replace(RUN, policy=policy)) == {"decline"}


def test_features_keep_the_order_of_the_table() -> None:
    settings = Settings(alert=("slack",), drift_control=0.1, max_decline=0.05, otlp_receiver=True)
    order = [step.name for step in load_all_steps()]
    assert (names := list_names(RunFacts(settings))) == sorted(names, key=order.index)


def test_a_plain_run_imports_declarations_alone_of_what_is_off(tmp_path: Path) -> None:
    suite = (
        "from scoregate import evaluate\n"
        'evaluate("demo", data=[{"input": "a"}, {"input": "b"}], task=str.upper, scorers=[str.isupper])\n'
    )
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "eval_demo.py").write_text(suite)
    script = (
        "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=open('modules', 'w')))\n"
        "sys.argv[1:] = ['run']; from scoregate.cli.entry import main; main()"
    )
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    modules = [name.split(".") for name in (tmp_path / "modules").read_text().split()]
    imported = {(parts[2], parts[3]) for parts in modules if parts[:2] == ["scoregate", "features"] and parts[3:]}
    assert ("costs", "step") in imported
    assert {each for each in imported if each[1] != "declare" and each[0] not in ALWAYS} == set()
