"""Find secrets in the environment, and remove them from everything that scoregate writes and prints."""

from scoregate.ci.secrets.redactor import LONGEST, MASK, Redactor
from scoregate.ci.secrets.values import secret_values, short_secrets

__all__ = ["LONGEST", "MASK", "Redactor", "secret_values", "short_secrets"]
