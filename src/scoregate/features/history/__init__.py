"""The history of runs in a database: SQLite in the project's cache, or a PostgreSQL that several repositories share.

Run folders and artifacts are the source of truth: a lost database can be filled again from them.
"""
