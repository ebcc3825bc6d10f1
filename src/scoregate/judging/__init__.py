"""Asking a model to grade: one question with choices, or two outputs against each other."""

from scoregate.judging.battle import Battle, battle
from scoregate.judging.fence import fenced
from scoregate.judging.judge import Judgement, judge
from scoregate.judging.templates import Template, rendered

__all__ = ["Battle", "Judgement", "Template", "battle", "fenced", "judge", "rendered"]
