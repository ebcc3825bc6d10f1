"""Local web pages: view runs and review evaluations, on loopback only."""

from __future__ import annotations
