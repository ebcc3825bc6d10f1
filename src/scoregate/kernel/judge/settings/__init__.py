"""The settings: defaults < the project's file < the environment < the command line."""

from scoregate.kernel.judge.settings.limit_fields import SuiteSettings
from scoregate.kernel.judge.settings.load import environment_value, load_settings, parse_table
from scoregate.kernel.judge.settings.model import Settings
from scoregate.kernel.judge.settings.tables import Command, OfflineConfig
from scoregate.kernel.types.declarations.fields import (
    BaselineKind,
    CommentMode,
    Origins,
    PolicySource,
    ShowOutputs,
)

__all__ = [
    "BaselineKind",
    "Command",
    "CommentMode",
    "OfflineConfig",
    "Origins",
    "PolicySource",
    "Settings",
    "ShowOutputs",
    "SuiteSettings",
    "environment_value",
    "load_settings",
    "parse_table",
]
