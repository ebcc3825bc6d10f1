"""Golden runs: stored runs of an earlier version are judged again, and everything that is printed or written compared.

A **world** is a project with finished runs. `NAME.tar.xz` holds a folder for each of its worlds, and `NAME.txt` lists
them with their settings:

    WORLD/world.json      {"about": "one line", "commands": [["gate", "--json"], …]}
                          also "environ": {"NAME": "value"}; "now": seconds since 1970; and for a job on a push to main
                          "github": {"commits": [those on main, the oldest first]}
    WORLD/project/…       the project as a version of scoregate left it: settings, runs, bases, exemptions
    WORLD/github/KEY/TIME-COMMIT/…
                          the runs on the data branch of such a job, with the commits above

The commands run in `project/`, one after the other (see `harness.py`). The **outputs** are texts with names:

    1 gate --json: exit   also `: stdout` and `: stderr`, of each command by its number
    merged/comment.md     of each file that a command wrote or changed, also `job/output` and `job/summary.md`

Compressed files are compared as their text, databases as their rows. `NAME.expected.xz` holds the outputs that are
expected. To add worlds, make their folders, call `archive.pack_worlds`, and add the archive's name to `ARCHIVES`.
`python -m tests.golden.write_expected` writes what is expected again, and prints which outputs changed. To judge a few
worlds only: `pytest tests/golden -k "kept and slices"`.

`worlds` has generated runs of all pairs of features, written once; `recorded` has the runs of real commands
(`record_runs.py`), at the time in `"now"`.

Only the command line is called here, so that modules can move.
"""
