"""Judges with versions: prompts and code that score examples, stored in the repository."""

from scoregate.judges.agent_judges import AgentJudge, AgentJudges
from scoregate.judges.client import JudgesFactory, TagMove
from scoregate.judges.code_judge import Judge
from scoregate.judges.responses import BinaryResponse, CategoricalResponse, Category, Citation, NumericResponse
from scoregate.judges.result import JudgeResult
from scoregate.judges.scorers import build_scorers, unstored_version, version_fingerprint
from scoregate.judges.test_configs import (
    ConfigJudge,
    DatasetShape,
    DatasetUsers,
    TestConfig,
    TestConfigs,
    check_compatible,
    check_version,
)
from scoregate.judges.versions import JudgeVersion, JudgeVersionPin

__all__ = [
    "AgentJudge",
    "AgentJudges",
    "BinaryResponse",
    "CategoricalResponse",
    "Category",
    "Citation",
    "ConfigJudge",
    "DatasetShape",
    "DatasetUsers",
    "Judge",
    "JudgeResult",
    "JudgeVersion",
    "JudgeVersionPin",
    "JudgesFactory",
    "NumericResponse",
    "TagMove",
    "TestConfig",
    "TestConfigs",
    "build_scorers",
    "check_compatible",
    "check_version",
    "unstored_version",
    "version_fingerprint",
]
