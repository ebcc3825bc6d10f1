"""Asking a model to grade: one question with choices or a scale, or two outputs against each other."""

from scoregate.judging.battle import Battle, battle
from scoregate.judging.fence import fenced, text_of
from scoregate.judging.filling import filled, placeholders
from scoregate.judging.judge import Judgement, Rating, judge, rate
from scoregate.judging.templates import Template, rendered

__all__ = [
    "Battle",
    "Judgement",
    "Rating",
    "Template",
    "battle",
    "fenced",
    "filled",
    "judge",
    "placeholders",
    "rate",
    "rendered",
    "text_of",
]
