"""A PostgreSQL of the tests: a cluster of their own in a temporary folder, never the system's."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from tests.free_port import find_free_port

PASSWORD = "s3/cr:et@%"
ENCODED = "s3%2Fcr%3Aet%40%25"
USER = "writer"
_FAST = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "max_wal_size=4GB")
_numbers = count()


def find_programs() -> Path | None:
    """The folder of the newest PostgreSQL's programs; None without one. Debian keeps them out of PATH."""
    paths = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    on_path = shutil.which("initdb")
    program = paths[-1] if paths else Path(on_path).resolve() if on_path else None
    return None if program is None else program.parent


class Cluster:
    """A server that listens on a free port, with a superuser that has a password."""

    def __init__(self, programs: Path, folder: Path, port: int) -> None:
        self._programs, self._folder, self.port = programs, folder, port

    def address(self, database: str, *, user: str = USER, password: str = ENCODED) -> str:
        """The address of a database, as SCOREGATE_HISTORY has it."""
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def create_database(self) -> str:
        """Create an empty database and return its address."""
        name = f"history_{next(_numbers)}"
        self.execute("postgres", f"CREATE DATABASE {name}")
        return self.address(name)

    def execute(self, database: str, *statements: str) -> list[Any]:
        """Execute statements as the superuser, and return the rows of the last one."""
        import psycopg

        with psycopg.connect(self.address(database), autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def run(self, program: str, *arguments: str) -> None:
        """Run a program of PostgreSQL as the owner of the cluster."""
        command = [str(self._programs / program), *arguments]
        # The server would keep a pipe open, so that its end never came.
        with (self._folder / "log").open("a") as log:
            subprocess.run(command, stdout=log, stderr=log, check=True, cwd=self._folder, **_owner())

    def stop(self, mode: str = "immediate") -> None:
        """Stop the server."""
        self.run("pg_ctl", "stop", "-D", str(self._folder / "data"), "-m", mode)

    def start(self) -> None:
        """Start the server and wait for it."""
        settings = (*_FAST, "listen_addresses=127.0.0.1", f"port={self.port}", "unix_socket_directories=")
        options = " ".join(f"-c {setting}" for setting in settings)
        self.run("pg_ctl", "start", "-w", "-D", str(self._folder / "data"), "-o", options)


@contextmanager
def open_cluster(programs: Path) -> Iterator[Cluster]:
    """A running cluster until the block ends."""
    folder = Path(tempfile.mkdtemp(prefix="scoregate-postgres-"))
    try:
        if owner := _owner():
            shutil.chown(folder, owner["user"], owner["group"])
        password = folder / "password"
        password.write_text(PASSWORD)
        password.chmod(0o644)
        cluster = Cluster(programs, folder, find_free_port())
        arguments = ("-U", USER, "-A", "scram-sha-256", f"--pwfile={password}", "-E", "UTF8", "--locale=C", "-N")
        cluster.run("initdb", "-D", str(folder / "data"), *arguments)
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _owner() -> dict[str, Any]:
    """PostgreSQL refuses to run as root; then it runs as its own user, or as nobody."""
    if os.getuid():
        return {}
    names = {each.pw_name: each for each in pwd.getpwall()}
    user = names.get("postgres") or names["nobody"]
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
