"""Jobs, and a PostgreSQL for all tests of a process; without its programs they are skipped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.fakes.fixtures import github
from tests.features.history.cluster import Cluster, find_programs, open_cluster
from tests.integration.host.conftest import project
from tests.integration.jobs.conftest import world

__all__ = ["github", "project", "world"]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A running PostgreSQL."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: the shared history is NOT tested")
    programs = find_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql): the shared history is NOT tested")
    with open_cluster(programs) as new_cluster:
        yield new_cluster


@pytest.fixture
def address(cluster: Cluster) -> str:
    """The address of an empty database."""
    return cluster.create_database()
