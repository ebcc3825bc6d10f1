"""The recipes in examples/cookbook pass without a key, and notice faults of their applications."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.openai import OpenAIServer
from tests.fakes.openai.question import Question
from tests.integration.cookbook.faults import FAULTS, MODEL_FAULTS, Fault
from tests.integration.host.conftest import Project, Ran

ROOT = Path(__file__).parents[3]
COOKBOOK = "examples/cookbook"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A repository with the cookbook, without settings."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    shutil.copytree(ROOT / COOKBOOK, tmp_path / COOKBOOK, ignore=shutil.ignore_patterns("__pycache__"))
    return Project(tmp_path)


def plant(project: Project, recipe: str, fault: Fault) -> None:
    """Put a fault into the application, and no other one."""
    source = (ROOT / COOKBOOK / recipe / fault.file).read_text(encoding="utf-8")
    assert source.count(fault.text) == 1, fault
    project.write(f"{COOKBOOK}/{recipe}/{fault.file}", source.replace(fault.text, fault.replacement))
    # Bytecode of another fault of the same size in the same second would be taken for that of this one.
    for folder in (project.root / COOKBOOK / recipe).rglob("__pycache__"):
        shutil.rmtree(folder)


def list_worse(ran: Ran) -> list[str]:
    """The evaluators with a worse mean than in the baseline."""
    rows = [row for row in ran.result["rows"] if row["delta"] is not None]
    return sorted(row["evaluator"] for row in rows if row["delta"] * (1 if row["higher_is_better"] else -1) < 0)


@pytest.mark.parametrize("recipe", FAULTS)
def test_a_recipe_passes_without_a_key_and_notices_faults(project: Project, recipe: str) -> None:
    good = project.scoregate("run", f"{COOKBOOK}/{recipe}", "--baseline", "none", "--out", "good")
    assert good.exit_code == 0, good.output
    for fault in FAULTS[recipe]:
        plant(project, recipe, fault)
        ran = project.scoregate("run", f"{COOKBOOK}/{recipe}", "--baseline", "good")
        assert (list_worse(ran), ran.result["errors"]) == (sorted(fault.worse), []), (fault, ran.output)
        assert ran.exit_code == fault.exit_code, (fault, ran.output)


def test_each_scorer_without_a_model_notices_a_fault(project: Project) -> None:
    good = project.scoregate("run", COOKBOOK, "--baseline", "none")
    scorers = {row["evaluator"] for row in good.result["rows"]}
    assert scorers - {name for faults in FAULTS.values() for fault in faults for name in fault.worse} == set()


def test_the_repository_runs_the_cookbook_only_if_asked(project: Project) -> None:
    """The README's first command shows the three examples that have a stored baseline."""
    shutil.copytree(ROOT / "examples", project.root / "examples", dirs_exist_ok=True)
    shutil.copy(ROOT / "pyproject.toml", project.root)
    listed = project.scoregate("list").output
    assert ("eval_support_bot.py" in listed, COOKBOOK in listed) == (True, False)
    ran = project.scoregate("run", COOKBOOK)
    assert ran.exit_code == 0, ran.output
    assert len(ran.result["suites"]) == len(FAULTS) + 1  # the bot has two


def test_slices_show_where_urgent_requests_are_missed(project: Project) -> None:
    run = ("run", f"{COOKBOOK}/classification", "--baseline")
    project.scoregate(*run, "none", "--out", "good")
    plant(project, "classification", Fault("triage.py", r"|stuck in the (lift|elevator)", "", ()))
    ran = project.scoregate(*run, "good", SCOREGATE_SLICES="channel")
    slices = {each["value"]: each["delta"] for each in ran.result["slices"] if each["evaluator"] == "urgent_recall"}
    assert slices == {"phone": pytest.approx(-1 / 7), "email": 0, "portal": 0}


@pytest.mark.parametrize("recipe", MODEL_FAULTS)
def test_with_a_key_a_model_notices_faults_too(project: Project, openai_server: OpenAIServer, recipe: str) -> None:
    openai_server.answer_with(judge)
    run = ("run", f"{COOKBOOK}/{recipe}", "--baseline")
    good = project.scoregate(*run, "none", "--out", "good", **openai_server.environment)
    assert good.exit_code == 0, good.output
    judges = {name for fault in MODEL_FAULTS[recipe] for name in fault.worse}
    for fault in MODEL_FAULTS[recipe]:
        plant(project, recipe, fault)
        ran = project.scoregate(*run, "good", **openai_server.environment)
        worse = [name for name in list_worse(ran) if name in judges]
        assert (worse, ran.result["errors"]) == (sorted(fault.worse), []), (fault, ran.output)


def judge(question: Question) -> dict[str, Any]:
    """What a model would answer, by the words that a claim or an item shares with the text that it needs."""
    blocks = dict(re.findall(r"=+ \w+ BEGIN ([^\n]+)\n(.*?)\n=+ \w+ END", question.last, re.DOTALL))
    if "which claims" in question.last:
        source = blocks.get("context", blocks.get("input", ""))
        claims = re.split(r"(?<=[.!?]) ", blocks.get("expected output", blocks.get("output", "")))
        least = 0.6 if "context" in blocks else 0.01
        return {
            "claims": [{"claim": each, "reason": "words", "answer": compare(each, source, least)} for each in claims]
        }
    cited = re.findall(r"(citation \d+) names (passage \d+)", question.last)
    pairs = [(blocks[sentence], blocks[passage]) for sentence, passage in cited]
    passages = [text for name, text in blocks.items() if re.fullmatch(r"passage \d+", name)]
    pairs = pairs or [(blocks["expected output"], passage) for passage in passages]
    verdicts = [compare(text, passage, 0.5) for text, passage in pairs]
    return {"answers": [{"number": at, "reason": "words", "answer": each} for at, each in enumerate(verdicts, 1)]}


def compare(text: str, source: str, least: float) -> str:
    """Yes if the source has at least this share of the words of a text."""
    words, known = (set(re.findall(r"\w{4,}|\d+", each.lower())) for each in (text, source))
    return "Yes" if len(words & known) >= least * len(words) else "No"
