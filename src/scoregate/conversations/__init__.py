"""Conversations with what is under test: a simulated user has them, and rules say when they are over."""

from scoregate.conversations.converse import GoalJudge, converse
from scoregate.conversations.plan import Limits, Plan

__all__ = ["GoalJudge", "Limits", "Plan", "converse"]
