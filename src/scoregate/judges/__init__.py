"""Judges with versions: prompts and code that score examples, kept in the repository."""

from scoregate.judges.asking import Subject
from scoregate.judges.code import Judge
from scoregate.judges.configs import ConfigJudge, DatasetShape, TestConfig, TestConfigs, check_compatible, check_version
from scoregate.judges.dependents import DatasetUsers
from scoregate.judges.factory import JudgesFactory, TagMove
from scoregate.judges.pins import JudgeVersionPin
from scoregate.judges.responses import BinaryResponse, CategoricalResponse, Category, Citation, NumericResponse
from scoregate.judges.result import JudgeResult
from scoregate.judges.scorers import fingerprint_of, scorers_of, unstored
from scoregate.judges.scoring import scored
from scoregate.judges.version import JudgeVersion

__all__ = [
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
    "Subject",
    "TagMove",
    "TestConfig",
    "TestConfigs",
    "check_compatible",
    "check_version",
    "fingerprint_of",
    "scored",
    "scorers_of",
    "unstored",
]
