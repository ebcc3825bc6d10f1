"""Agents as tasks: run the command line of an agent in a fresh workspace and record what it does."""

from scoregate.agents.command import CommandAgent, command_agent
from scoregate.agents.presets import PRESETS, Preset

__all__ = ["PRESETS", "CommandAgent", "Preset", "command_agent"]
