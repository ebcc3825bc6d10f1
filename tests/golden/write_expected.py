"""Write the expected outputs of all worlds again, and print which changed.

usage: python -m tests.golden.write_expected [ARCHIVE…]
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor

from tests.golden.archive import ARCHIVES, list_worlds, read_expected, read_worlds, write_expected
from tests.golden.harness import judge_world


def judge(name: str) -> dict[str, str]:
    """The outputs of a world."""
    return judge_world(read_worlds()[name])


def main() -> None:
    """Judge the worlds of the archives, by default of all."""
    with ProcessPoolExecutor(2) as pool:
        for archive in sys.argv[1:] or ARCHIVES:
            names = list_worlds(archive)
            outputs = dict(zip(names, pool.map(judge, names, chunksize=8), strict=True))
            for name, found in outputs.items():
                before = read_expected(archive, name)
                changed = sorted(each for each in {*before, *found} if before.get(each) != found.get(each))
                if changed:
                    print(f"{name}: {', '.join(changed) if before else 'new'}")
            write_expected(archive, outputs)


if __name__ == "__main__":
    main()
