"""Find secrets in the environment, and remove them from everything that scoregate writes and prints."""

from scoregate.kernel.host.secrets.redactor import LONGEST, MASK, Redactor
from scoregate.kernel.host.secrets.values import secret_values, short_secrets

__all__ = ["LONGEST", "MASK", "Redactor", "secret_values", "short_secrets"]
