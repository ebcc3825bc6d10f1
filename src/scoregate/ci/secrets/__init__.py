"""Known secrets: which values they are, how they are written, and taking them out of what we write and print."""

from scoregate.ci.secrets.redactor import LONGEST, MASK, Redactor
from scoregate.ci.secrets.values import secret_values, short_secrets

__all__ = ["LONGEST", "MASK", "Redactor", "secret_values", "short_secrets"]
