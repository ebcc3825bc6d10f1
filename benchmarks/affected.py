"""Planted edits in a repository of 30 suites: does `affected` run all that an edit changes, and how many others?

    python -m benchmarks.affected [--edits 200] [--seed 1] [--cost]

The repository has modules that are imported at the top, in functions and by name, prompts, JSON, templates, data sets,
package data, links, a lock file and files that no suite reads. A suite prints a digest of everything that it computes
from them. An edit affects a suite if this output differs from the one before; that is measured by running it, without
any record. `missed` counts affected suites that would not run, `skipped` the share of the others that don't.

`--cost` measures what recording adds to an instant suite of 10,000 cases.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TypeAlias

import anyio

from scoregate.features.affected.changes import Changes
from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.dependencies.recording import UseRecorder, digest_launch
from scoregate.kernel.run.dependencies.tree import Tree, read_tree
from scoregate.kernel.run.interpreter import Interpreter
from scoregate.kernel.run.plan import DiscoveredSuites, Launch, SourceKind, SuiteSource, make_plan
from scoregate.kernel.types.runs.dependencies import RunDependencies

SUITES = 30
Edit: TypeAlias = Callable[[Path, random.Random], str]

SUITE = """
import hashlib, importlib, json, os, sys
from importlib import resources
from pathlib import Path
import lib.common
import lib.top_{number}

def late():
    from lib import late_{number}
    return late_{number}.VALUE

def optional():
    try:
        return importlib.import_module("lib.local_{number}").VALUE
    except ImportError:
        return None

values = [lib.common.VALUE, lib.top_{number}.VALUE, late(), optional()]
values.append(importlib.import_module("plugins.plugin_" + str({number})).VALUE)
values.append(Path("prompts/{number}.md").read_text())
values.append(json.load(open("config/{number}.json")))
values += [path.read_text() for path in sorted(Path("data/set_{number}").glob("*.jsonl"))]
values += [(name, open(f"templates/{number}/{{name}}").read()) for name in sorted(os.listdir("templates/{number}"))]
values.append(resources.files("lib").joinpath("package_data", "{number}.txt").read_text())
values.append(Path("links/{number}.txt").read_text() if os.path.exists("links/{number}.txt") else "no link")
values += [path.read_text() for path in sorted(Path("current/{number}").glob("*.md"))]
folder = os.open("notes", os.O_RDONLY)
values.append(os.read(os.open("{number}.txt", os.O_RDONLY, dir_fd=folder), 99))
override = Path("config/{number}.override.json")
values.append(override.read_text() if override.exists() else "no override")
if {number} % 3 == 0:
    values.append(Path("prompts/shared.md").read_text())
print(hashlib.sha256(repr(values).encode()).hexdigest())
"""


# One process forks for each suite: 6,000 starts of Python would take an hour. It imports as little as possible before.
MEASURE = """
import os, sys
outputs = {}
for name in sys.argv[1:]:
    source, target = os.pipe()
    if not os.fork():
        os.dup2(target, 1)
        os.dup2(target, 2)
        sys.path[0] = os.path.abspath("evals")
        try:
            exec(compile(open(name).read(), name, "exec"), {"__name__": "__main__", "__file__": name})
        except BaseException as error:
            print(type(error).__name__, error)
        sys.stdout.flush()
        os._exit(0)
    os.close(target)
    with os.fdopen(source) as output:
        outputs[name] = output.read()
    os.wait()
print(repr(outputs))
"""


def measure(root: Path) -> dict[str, str]:
    """What each suite prints now, without any record."""
    names = [f"evals/eval_{number}.py" for number in range(SUITES)]
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(root)}
    command = [sys.executable, "-c", MEASURE, *names]
    done = subprocess.run(command, cwd=root, env=environ, capture_output=True, text=True, check=True)
    outputs: dict[str, str] = ast.literal_eval(done.stdout)
    return outputs


def make_repository(root: Path) -> None:
    """Write the repository and commit it."""
    files = {
        "lib/__init__.py": "",
        "lib/common.py": "VALUE = 0\n",
        "plugins/__init__.py": "",
        "prompts/shared.md": "a\n",
    }
    for number in range(SUITES):
        files |= {
            f"evals/eval_{number}.py": SUITE.format(number=number),
            f"lib/top_{number}.py": f"VALUE = {number}\n",
            f"lib/late_{number}.py": f"VALUE = {number}\n",
            f"plugins/plugin_{number}.py": f"VALUE = {number}\n",
            f"prompts/{number}.md": f"Answer question {number}.\n",
            f"config/{number}.json": f'{{"number": {number}}}\n',
            f"data/set_{number}/rows.jsonl": f'{{"id": {number}}}\n',
            f"templates/{number}/a.j2": f"template {number}\n",
            f"lib/package_data/{number}.txt": f"{number}\n",
            f"texts/{number}.txt": f"text {number}\n",
            f"versions/{number}/a.md": f"version {number}\n",
            f"notes/{number}.txt": f"note {number}\n",
            f"frontend/view_{number}.tsx": f"export const view = {number}\n",
            f"docs/page_{number}.md": f"# Page {number}\n",
            f"unused/table_{number}.csv": f"a,b\n{number},1\n",
            f"service/handler_{number}.py": f"VALUE = {number}\n",
        }
    files |= {"uv.lock": "version = 1\n", "README.md": "# Bench\n", "frontend/package.json": "{}\n"}
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name in ("links", "current"):
        (root / name).mkdir()
    for number in range(SUITES):
        (root / f"links/{number}.txt").symlink_to(f"../texts/{number}.txt")
        (root / f"current/{number}").symlink_to(f"../versions/{number}")
    run_git(root, "init", "-q")
    run_git(root, "add", "-A")
    run_git(root, "commit", "-qm", "base")


def run_git(root: Path, *words: str) -> None:
    """Run git without the configuration of this machine's user."""
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
    subprocess.run(command, cwd=root, check=True, capture_output=True)


def append(pattern: str, text: str = "\nVALUE = 'edited'\n") -> Edit:
    """Edit a file; `{}` in its name is the number of a suite."""

    def edit(root: Path, chance: random.Random) -> str:
        name = pattern.format(chance.randrange(SUITES))
        (root / name).write_text((root / name).read_text() + text)
        return f"edit {name}"

    return edit


def write(pattern: str, text: str = "VALUE = 'new'\n") -> Edit:
    """Add a file."""

    def edit(root: Path, chance: random.Random) -> str:
        name = pattern.format(chance.randrange(SUITES))
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
        return f"add {name}"

    return edit


def rename(pattern: str, target: str) -> Edit:
    """Rename a file."""

    def edit(root: Path, chance: random.Random) -> str:
        number = chance.randrange(SUITES)
        (root / pattern.format(number)).rename(root / target.format(number))
        return f"rename {pattern.format(number)}"

    return edit


def delete(pattern: str) -> Edit:
    """Delete a file."""

    def edit(root: Path, chance: random.Random) -> str:
        name = pattern.format(chance.randrange(SUITES))
        (root / name).unlink()
        return f"delete {name}"

    return edit


def relink(link: str, target: str) -> Edit:
    """Lead a link to another file or folder."""

    def edit(root: Path, chance: random.Random) -> str:
        number, other = chance.sample(range(SUITES), 2)
        (root / link.format(number)).unlink()
        (root / link.format(number)).symlink_to(target.format(other))
        return f"relink {link.format(number)}"

    return edit


def several(*edits: Edit) -> Edit:
    """Several edits at once."""
    return lambda root, chance: ", ".join(edit(root, chance) for edit in edits)


EDITS: tuple[Edit, ...] = (
    append("lib/common.py"),
    append("lib/top_{}.py"),
    append("lib/late_{}.py"),
    append("plugins/plugin_{}.py"),
    append("evals/eval_{}.py", "\nprint('edited')\n"),
    append("prompts/{}.md", "Be brief.\n"),
    append("prompts/shared.md", "Be brief.\n"),
    append("config/{}.json", " "),
    write("config/{}.json", '{"edited": 1}'),
    append("data/set_{}/rows.jsonl", '{"id": 1}\n'),
    write("data/set_{}/more.jsonl", '{"id": 2}\n'),
    append("templates/{}/a.j2", "more\n"),
    write("templates/{}/b.j2", "another\n"),
    append("lib/package_data/{}.txt", "more\n"),
    append("texts/{}.txt", "more\n"),
    write("config/{}.override.json", "{}"),
    write("lib/local_{}.py"),
    write("evals/json.py", "VALUE = 1\nload = loads = dumps = None\n"),
    write("lib/late_{}/__init__.py", "VALUE = 'package'\n"),
    write("sitecustomize.py", "import builtins\n"),
    append("uv.lock", "x = 1\n"),
    rename("prompts/{}.md", "prompts/old_{}.md"),
    rename("data/set_{}/rows.jsonl", "data/set_{}/renamed.jsonl"),
    rename("lib/top_{}.py", "lib/renamed_{}.py"),
    delete("links/{}.txt"),
    delete("templates/{}/a.j2"),
    delete("lib/late_{}.py"),
    relink("links/{}.txt", "../texts/{}.txt"),
    relink("current/{}", "../versions/{}"),
    append("versions/{}/a.md", "more\n"),
    write("versions/{}/b.md", "more\n"),
    append("notes/{}.txt", "more\n"),
    append("frontend/view_{}.tsx", "// more\n"),
    append("docs/page_{}.md", "More.\n"),
    append("README.md", "More.\n"),
    append("unused/table_{}.csv", "1,2\n"),
    append("service/handler_{}.py"),
    write("service/new_{}.py"),
    write("docs/new_{}.md", "# New\n"),
    write("lib/unrelated_{}_new.py"),
    write("frontend/view_{}_new.tsx", ""),
    delete("service/handler_{}.py"),
    rename("docs/page_{}.md", "docs/renamed_{}.md"),
    several(append("docs/page_{}.md", "x\n"), append("prompts/{}.md", "x\n")),
    several(append("service/handler_{}.py"), append("lib/top_{}.py"), append("config/{}.json", "\n")),
)


def launches_of(root: Path) -> tuple[Launch, ...]:
    """How the suites of the repository are started."""
    sources = tuple(SuiteSource(f"evals/eval_{number}.py", SourceKind.PYTHON) for number in range(SUITES))
    interpreter = Interpreter((sys.executable,), "")
    return make_plan(DiscoveredSuites(sources), Settings(), interpreter=interpreter, root=root).launches


def start(root: Path, launch: Launch, environ: Mapping[str, str]) -> None:
    """Run a suite in a process of its own."""
    paths = filter(None, (environ.get("PYTHONPATH"), str(root)))
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environ, "PYTHONPATH": os.pathsep.join(paths)}
    subprocess.run(launch.argv, cwd=root, env=environ, capture_output=True, check=True)


def record(root: Path, launches: tuple[Launch, ...]) -> RunDependencies:
    """Run all suites while they are recorded."""
    recorder = UseRecorder(read(root))
    for launch in launches:
        with tempfile.TemporaryDirectory() as folder:
            start(root, launch, recorder.open_log(launch, {"PYTHONPATH": ""}, Path(folder), None))
            recorder.close_log(launch, Path(folder))
    return recorder.collect()


def read(root: Path) -> Tree:
    """The files of the repository."""
    tree = anyio.run(read_tree, root)
    assert tree is not None
    return tree


def choose_runs(root: Path, dependencies: RunDependencies, launches: tuple[Launch, ...]) -> dict[str, str]:
    """Why each suite would run; empty for one that would not."""
    changes, reasons = Changes(dependencies, read(root), ""), {}
    for launch in launches:
        (script,) = dependencies.find_scripts(launch.name)
        reasons[launch.name] = changes.find_reason(script, digest_launch(launch))
    return reasons


def judge_edits(number: int, seed: int) -> Iterator[dict[str, object]]:
    """Make edits one by one; which suites each affects, and which would run."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="scoregate-affected-") as folder:
        root = Path(folder).resolve() / "repository"
        root.mkdir()
        make_repository(root)
        launches = launches_of(root)
        dependencies, before = record(root, launches), measure(root)
        assert len(set(before.values())) == SUITES, before
        assert not any(script.unknown for script in dependencies.scripts), dependencies.scripts
        for at in range(number):
            what = EDITS[at % len(EDITS)](root, chance)
            reasons = choose_runs(root, dependencies, launches)
            affected = {name for name, output in measure(root).items() if output != before[name]}
            yield {
                "edit": what,
                "affected": sorted(affected),
                "runs": sorted(name for name, why in reasons.items() if why),
                "why": next(filter(None, reasons.values()), ""),
            }
            run_git(root, "checkout", "-q", ".")
            run_git(root, "clean", "-fdqx")


def measure_cost(rounds: int) -> dict[str, float]:
    """The median seconds of an instant suite of 10,000 cases, without and with recording."""
    text = (
        "from scoregate.evals import evaluate\nfrom scoregate.scorers import equals\n"
        "data = [{'input': str(n), 'expected': str(n)} for n in range(10_000)]\n"
        "evaluate('instant', data=data, task=lambda input: input, scorers=[equals()])\n"
    )
    times: dict[str, list[float]] = {"plain": [], "recorded": []}
    with tempfile.TemporaryDirectory(prefix="scoregate-affected-") as folder:
        root = Path(folder).resolve()
        run_git(root, "init", "-q")
        (root / "eval_instant.py").write_text(text)
        source = SuiteSource("eval_instant.py", SourceKind.PYTHON)
        interpreter = Interpreter((sys.executable,), "")
        (launch,) = make_plan(DiscoveredSuites((source,)), Settings(), interpreter=interpreter, root=root).launches
        for _ in range(rounds):
            for name, seconds in times.items():
                with tempfile.TemporaryDirectory() as place:
                    events = Path(place, "events")
                    events.mkdir()
                    environ = {"SCOREGATE_EVENTS": str(events), "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
                    if name == "recorded":
                        environ = UseRecorder(read(root)).open_log(launch, environ, Path(place), None)
                    before = os.times()
                    start(root, launch, environ)
                    after = os.times()
                    seconds.append(sum(after[2:4]) - sum(before[2:4]))
                    shutil.rmtree(events)
    return {name: median(seconds) for name, seconds in times.items()}


def main() -> None:
    """Make the edits, and print what was missed and skipped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    if options.cost:
        cost = measure_cost(options.rounds)
        print(json.dumps(cost | {"share": cost["recorded"] / cost["plain"] - 1}))
        return
    counts, started = Counter[str](), perf_counter()
    for each in judge_edits(options.edits, options.seed):
        affected, runs = set(each["affected"]), set(each["runs"])  # type: ignore[call-overload]
        counts += Counter(affected=len(affected), missed=len(affected - runs), others=SUITES - len(affected))
        counts["skipped"] += SUITES - len(affected | runs)
        if affected - runs or len(runs - affected) > 1:
            print(json.dumps(each | {"missed": sorted(affected - runs)}))
    share = counts["skipped"] / max(1, counts["others"])
    print(f"{options.edits} edits, {counts['affected']} affected suites, {counts['missed']} of them missed; "
          f"{share:.1%} of {counts['others']:,} others skipped ({perf_counter() - started:.0f} s)")  # fmt: skip


if __name__ == "__main__":
    main()
