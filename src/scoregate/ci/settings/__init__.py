"""The settings: defaults < the project's file < the environment < the command line."""

from scoregate.ci.settings.command_fields import Command
from scoregate.ci.settings.config_fields import OfflineConfig
from scoregate.ci.settings.fields import (
    BaselineKind,
    CommentMode,
    Origins,
    PolicySource,
    ShowOutputs,
)
from scoregate.ci.settings.gateway_fields import GatewayMode, GatewayProviderSettings
from scoregate.ci.settings.limit_fields import SuiteSettings
from scoregate.ci.settings.load import environment_value, load_settings, parse_table
from scoregate.ci.settings.model import Settings

__all__ = [
    "BaselineKind",
    "Command",
    "CommentMode",
    "GatewayMode",
    "GatewayProviderSettings",
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
