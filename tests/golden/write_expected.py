"""Write the expected outputs of all worlds again, and print which changed.

usage: python -m tests.golden.write_expected [ARCHIVE…]
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor

from tests.golden.archive import ARCHIVES, list_worlds, read_expected, read_worlds, write_expected
from tests.golden.harness import judge_world


def judge(name: str) -> dict[str, str]:
    """The outputs of a world."""
    return judge_world(read_worlds()[name])


def print_changes(world: str, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Print the names of the outputs of a world that changed."""
    changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    if changed:
        print(f"{world}: {', '.join(changed) if before else 'new'}")


def main() -> None:
    """Judge the worlds of the archives, by default of all."""
    with ProcessPoolExecutor(2) as pool:
        for archive in sys.argv[1:] or ARCHIVES:
            names = list_worlds(archive)
            outputs = dict(zip(names, pool.map(judge, names, chunksize=8), strict=True))
            for name, found in outputs.items():
                print_changes(name, read_expected(archive, name), found)
            write_expected(archive, outputs)


if __name__ == "__main__":
    main()
