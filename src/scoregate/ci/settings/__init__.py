"""What the user wants: defaults < the project's file < the environment < the command line."""

from scoregate.ci.settings.commands import Command
from scoregate.ci.settings.configs import OfflineConfig
from scoregate.ci.settings.environment import environment_value, read_table
from scoregate.ci.settings.fields import (
    BaselineKind,
    CommentMode,
    Confirm,
    Origins,
    PolicySource,
    ShowOutputs,
    SuiteSettings,
)
from scoregate.ci.settings.load import load_settings
from scoregate.ci.settings.model import Settings

__all__ = [
    "BaselineKind",
    "Command",
    "CommentMode",
    "Confirm",
    "OfflineConfig",
    "Origins",
    "PolicySource",
    "Settings",
    "ShowOutputs",
    "SuiteSettings",
    "environment_value",
    "load_settings",
    "read_table",
]
