"""Suites that are in the base and not in the change: with a rerun as with a stored baseline."""

from __future__ import annotations

import sys

from tests.integration.host.conftest import Project, Ran

GATES = "fail_on_regression = true\nrequire_baseline = true\n"


def suite(name: str, answer: str = "q") -> str:
    return (
        "from scoregate import evaluate\nfrom scoregate.scorers import contains\n"
        f"evaluate({name!r}, data=[{{'id': i, 'input': f'q{{i}}', 'expected': 'q'}} for i in range(20)],\n"
        f"         task=lambda text: {answer!r}, scorers=[contains()])\n"
    )


def prepare(project: Project, settings: str = GATES) -> None:
    project.write(".gitignore", "__pycache__/\nscoregate-out/\n")
    project.write("scoregate.toml", settings)
    project.write("evals/eval_a.py", suite("a"))
    project.write("evals/eval_b.py", suite("b"))
    project.commit("main")
    project.git("checkout", "-qb", "change")


def rerun(project: Project, *arguments: str, **environment: str) -> Ran:
    return project.scoregate("run", *arguments, "--baseline", "rerun", **environment)


def labels(ran: Ran) -> dict[str, str]:
    return {row["suite"]: row["label"] for row in ran.result["rows"]}


def test_a_suite_without_its_file_is_gone(project: Project) -> None:
    prepare(project)
    project.git("rm", "-q", "evals/eval_b.py")
    outcome = rerun(project)
    assert outcome.exit_code == 3, outcome.output
    assert "b is gone" in outcome.output
    assert labels(outcome) == {"a": "unchanged", "b": "removed"}
    filtered = rerun(project, "--suite", "a")
    assert (filtered.exit_code, labels(filtered)) == (0, {"a": "unchanged"}), filtered.output
    assert rerun(project, "evals/eval_a.py").exit_code == 0
    project.write("evals/eval_b.py", "from scoregate import evaluate\nCASES = []\n")
    assert "b is gone" in rerun(project).output


def test_a_renamed_file_is_paired_by_the_id_of_its_suite(project: Project) -> None:
    prepare(project)
    project.git("rm", "-q", "evals/eval_a.py")
    project.git("mv", "evals/eval_b.py", "evals/eval_new.py")
    project.write("evals/eval_new.py", suite("b", "wrong"))
    for arguments in (["--suite", "b"], ["evals"], ["evals/eval_new.py"]):
        outcome = rerun(project, *arguments)
        assert (outcome.exit_code, labels(outcome)["b"]) == (1, "worse"), (arguments, outcome.output)


def test_a_single_suite_with_a_new_id_is_compared(project: Project) -> None:
    prepare(project)
    project.git("rm", "-q", "evals/eval_a.py", "evals/eval_b.py")
    project.write("evals/eval_c.py", suite("c"))
    outcome = rerun(project)
    assert outcome.exit_code == 3
    assert "a is gone" in outcome.output
    assert "b is gone" in outcome.output


def test_the_baseline_has_the_suites_of_its_own_settings(project: Project) -> None:
    prepare(project, f'paths = ["evals"]\ncommands = [{{ name = "js", run = ["{sys.executable}", "js.py"] }}]\n{GATES}')
    project.git("checkout", "-q", "main")
    project.write("js.py", suite("js"))
    project.commit("command")
    project.git("checkout", "-qB", "change")
    project.write("scoregate.toml", f'paths = ["evals/eval_a.py"]\n{GATES}')
    outcome = rerun(project)
    assert outcome.exit_code == 3, outcome.output
    assert labels(outcome) == {"a": "unchanged", "b": "removed", "js": "removed"}


def test_a_script_that_became_a_test_runs_as_script(project: Project) -> None:
    prepare(project)
    body = "".join(f"    {line}\n" for line in suite("b", "wrong").splitlines())
    project.write("evals/eval_b.py", f"def test_it():\n{body}")
    outcome = rerun(project)
    assert labels(outcome) == {"a": "unchanged", "b": "worse"}, outcome.output
    assert outcome.exit_code == 1


def test_a_suite_without_its_variable_is_not_gone(project: Project) -> None:
    prepare(project, f'{GATES}[suites.b]\nneeds = ["MODEL_KEY"]\n')
    outcome = rerun(project, MODEL_KEY="key")
    assert (outcome.exit_code, labels(outcome)) == (0, {"a": "unchanged", "b": "unchanged"}), outcome.output
    project.git("rm", "-q", "evals/eval_b.py")
    gone = rerun(project)
    assert gone.exit_code == 3, gone.output
    assert "MODEL_KEY is not set" in gone.output
