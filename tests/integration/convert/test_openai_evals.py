"""`scoregate convert openai-evals`: evals of the open-source registry."""

from __future__ import annotations

import json
import runpy
from typing import Any

from tests.integration.host.conftest import Project, project

from scoregate.scorers import assertion

__all__ = ["project"]
FILE = "registry/evals/capitals.yaml"
SAMPLES = "registry/data/capitals/samples.jsonl"
MESSAGES = [{"role": "system", "content": "One word."}, {"role": "user", "content": "Capital of France?"}]


def write_eval(project: Project, kind: str, *samples: dict[str, Any], **arguments: Any) -> None:
    arguments = {"samples_jsonl": "capitals/samples.jsonl", **arguments}
    project.write(
        FILE,
        f"capitals:\n  id: capitals.v0\n  metrics: [accuracy]\n"
        f"capitals.v0:\n  class: evals.elsuite.basic.x:{kind}\n  args: {json.dumps(arguments)}\n",
    )
    project.write(SAMPLES, "\n".join(json.dumps(each) for each in samples))


def convert(project: Project, *options: str) -> Any:
    return project.scoregate("convert", "openai-evals", FILE, "--out", "evals/made", *options)


def read_cases(project: Project) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project.root / "evals/made/cases.jsonl").read_text("utf-8").splitlines()]


def test_classes_score_as_in_the_registry(project: Project) -> None:
    # The class, ideals, outputs that pass, outputs that fail.
    table = [
        ("Match", ["Paris", "Lutetia"], ["Paris.", "Lutetia"], ["It is Paris", "paris"]),
        ("Includes", "Paris", ["It is Paris."], ["It is paris."]),
        ("FuzzyMatch", ["the capital, Paris"], ["Paris", "It's the Capital Paris!"], ["", "Lyon"]),
        ("JsonMatch", ['{"a": [1, null]}', "2"], ['{"a": [1.0, null]}', "2"], ['{"a": [true, null]}', "nothing"]),
    ]
    for kind, ideal, passing, failing in table:
        write_eval(project, kind, {"input": MESSAGES, "ideal": ideal})
        assert convert(project).exit_code == 0
        [case] = read_cases(project)
        assert case["input"] == MESSAGES
        scores = [assertion("accuracy")(output, case["expected"]).score for output in (*passing, *failing)]
        assert scores == [1.0] * len(passing) + [0.0] * len(failing), kind
        for name in ("cases.jsonl", "eval_capitals.py"):
            (project.root / "evals/made" / name).unlink()


def test_the_suite_asks_the_model_with_the_messages(project: Project, monkeypatch: Any) -> None:
    write_eval(project, "Includes", {"input": MESSAGES, "ideal": "Paris"}, max_tokens=9, ignore_case=True)
    assert convert(project, "--model", "ollama/llama").exit_code == 0
    questions = []

    class Model:
        async def a_generate(self, prompt: Any, **parameters: Any) -> Any:
            questions.append((prompt, parameters))
            return type("Generation", (), {"text": "PARIS"})()

    monkeypatch.setattr("scoregate.models.get_model", lambda name: Model() if name == "ollama/llama" else None)
    result = runpy.run_path(str(project.root / "evals/made/eval_capitals.py"))["result"]
    assert result.scores == {"accuracy": 1.0}
    assert questions == [(MESSAGES, {"temperature": 0, "max_tokens": 9})]


def test_unsupported_options_are_listed(project: Project) -> None:
    write_eval(project, "Translate", {"input": "a", "ideal": "b"}, modelgraded_spec="fact")
    outcome = convert(project)
    assert outcome.exit_code == 1
    assert "Translate has no counterpart" in outcome.output
    assert "capitals.v0.args.modelgraded_spec" in outcome.output
    write_eval(project, "Match", {"input": "a"}, {"input": 3, "ideal": "b"}, {"input": "a", "ideal": []})
    outcome = convert(project, "--partial")
    assert (outcome.exit_code, "no case can be converted" in outcome.output) == (1, True)
    assert all(f"samples.jsonl:{line}" in outcome.output for line in (1, 2, 3))
    project.write(SAMPLES, "version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    assert "git lfs pull" in convert(project).output
    assert not (project.root / "evals").exists()
    write_eval(project, "Match", samples_jsonl="/etc/passwd")
    assert "outside of the project" in convert(project).output
    assert convert(project, "--eval", "other").exit_code == 2


SPEC = """
closed:
  prompt: |-
    Question: {input}
    Expert: {ideal}
    Submission: {completion}
    Does the submission say the same? {criteria}
  choice_strings: [Y, N, Unsure]
  choice_scores: {Y: 1.0, N: 0.0, Unsure: 0.5}
  input_outputs: {input: completion}
  eval_type: cot_classify
scored:
  prompt: How good is {completion} for {input}?
  choice_strings: "01"
  choice_scores: from_strings
"""
GRADED = {"modelgraded_spec": "closed", "modelgraded_spec_args": {"criteria": "Be strict."}, "eval_type": "classify"}


def test_a_model_graded_eval_becomes_a_judge(project: Project) -> None:
    project.write("registry/modelgraded/other.yaml", SPEC)
    write_eval(project, "ModelBasedClassify", {"input": MESSAGES, "ideal": ["Paris"]}, **GRADED)
    process = convert(project, "--model", "ollama/llama")
    assert process.exit_code == 0, process.output
    assert read_cases(project) == [{"input": MESSAGES, "expected": "Paris"}]
    text = (project.root / "evals/made/eval_capitals.py").read_text("utf-8")
    assert 'choices={"Y": 1.0, "N": 0.0, "Unsure": 0.5}, model="ollama/llama", name="score")' in text
    inputs = ("Question: (the input)", "Expert: (the expected output)", "Submission: (the output)", "same? Be strict.")
    assert all(each in text for each in inputs)
    outcome = project.scoregate("list", "evals")
    assert "capitals" in outcome.output
    for name in ("cases.jsonl", "eval_capitals.py"):
        (project.root / "evals/made" / name).unlink()
    write_eval(project, "ModelBasedClassify", {"input": "2 + 2?"}, modelgraded_spec="scored")
    assert convert(project).exit_code == 0
    assert read_cases(project) == [{"input": "2 + 2?"}]
    assert 'choices={"0": 0.0, "1": 1.0}' in (project.root / "evals/made/eval_capitals.py").read_text("utf-8")


def test_model_graded_evals_without_a_counterpart_are_listed(project: Project) -> None:
    project.write("registry/modelgraded/closed.yaml", SPEC)
    project.write("registry/modelgraded/labels.yaml", "labels: {prompt: 'A or B?', choice_strings: AB}\n")
    project.write("registry/modelgraded/two.yaml", "two: {prompt: x, input_outputs: {a: b, c: d}}\n")
    cases = {
        "closed": "has the fields criteria of samples",
        "labels": "have no scores",
        "two": "asks for other outputs",
        "missing": "there is no specification missing",
        "../closed": "it names no modelgraded_spec",
    }
    for name, reason in cases.items():
        write_eval(project, "ModelBasedClassify", {"input": "a"}, modelgraded_spec=name)
        outcome = convert(project)
        assert outcome.exit_code == 1, name
        assert reason in " ".join(outcome.output.split()), outcome.output
