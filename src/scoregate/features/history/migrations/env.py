"""Run by Alembic: applies the migrations to the connection that it gets, one process at a time."""

from __future__ import annotations

from alembic import context
from sqlalchemy import text

_LOCK = 5_062_618_204

connection = context.config.attributes["connection"]
with connection.begin():
    connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    context.configure(connection=connection)
    with context.begin_transaction():
        context.run_migrations()
