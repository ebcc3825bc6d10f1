"""What the user wants: defaults < the project's file < the environment < the command line."""

from scoregate.ci.settings.environment import environment_value, read_table
from scoregate.ci.settings.fields import BaselineKind, Command, Confirm, PolicySource, SuiteSettings
from scoregate.ci.settings.load import load_settings
from scoregate.ci.settings.model import Settings

__all__ = [
    "BaselineKind",
    "Command",
    "Confirm",
    "PolicySource",
    "Settings",
    "SuiteSettings",
    "environment_value",
    "load_settings",
    "read_table",
]
