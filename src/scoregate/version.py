"""Which version of scoregate this is."""

__version__ = "0.1.0"
