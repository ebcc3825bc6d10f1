"""The hook in the user's own Python: it acts where the SDK is and changes nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import pytest
from tests.integration.foreign.conftest import Place, outer_environment

HOOK = Path(__file__).parents[3] / "src/scoregate/features/foreign/redirect/python"
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
ADDRESSES = (
    "import autoblocks._impl.config.constants as c; print(c.API_ENDPOINT, c.API_ENDPOINT_V2, c.INGESTION_ENDPOINT)"
)


LIGHT = {
    "sitecustomize", "__future__", "importlib", "importlib.machinery", "importlib._bootstrap",
    "importlib._bootstrap_external", "warnings", "_warnings",
    "os", "os.path", "posixpath", "genericpath", "stat", "_stat", "_collections_abc", "abc", "_abc",
}  # fmt: skip


def run(python: str | Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    environment = {**outer_environment(), "PYTHONPATH": str(HOOK), "SCOREGATE_CLOUD": "http://127.0.0.1:1", **environ}
    return subprocess.run([python, *arguments], env=environment, capture_output=True, text=True, check=False)


def pretend_sdk(folder: Path) -> None:
    """A package with the module that the hook looks for."""
    package = folder / "autoblocks/_impl/config"
    package.mkdir(parents=True)
    (package / "constants.py").write_text(
        'API_ENDPOINT = "https://api.autoblocks.ai"\n'
        'API_ENDPOINT_V2 = "https://api-v2.autoblocks.ai/"\n'
        'INGESTION_ENDPOINT = "https://ingest-event.autoblocks.ai"\n'
        'APP = "https://app.autoblocks.ai"\n'
    )


def find_pythons(name: str) -> list[str]:
    """Those of one version; what pyenv puts on PATH may not start, where it keeps them they do."""
    on_path = shutil.which(name)
    return [*map(str, PYENV.glob(f"{name.removeprefix('python')}.*/bin/{name}")), *([on_path] if on_path else [])]


@pytest.mark.parametrize("name", [f"python3.{version}" for version in range(8, 15)])
def test_any_python_is_redirected(name: str, tmp_path: Path) -> None:
    python = next(
        (interpreter for interpreter in find_pythons(name) if run(interpreter, "-c", "").returncode == 0), None
    )
    if python is None:
        pytest.skip(f"{name} is not installed")
    pretend_sdk(tmp_path)
    outcome = run(python, "-W", "error", "-c", f"{ADDRESSES}; print(c.APP)", PYTHONPATH=f"{HOOK}{os.pathsep}{tmp_path}")
    assert outcome.stderr == ""
    assert outcome.stdout.split() == [
        "http://127.0.0.1:1",
        "http://127.0.0.1:1/v2",
        "http://127.0.0.1:1/ingest",
        "https://app.autoblocks.ai",
    ]


def test_finders_of_an_old_kind_are_skipped(tmp_path: Path) -> None:
    pretend_sdk(tmp_path)
    source = f"import sys; sys.meta_path.insert(0, type('Old', (), {{'find_module': lambda *_: None}})()); {ADDRESSES}"
    outcome = run(sys.executable, "-c", source, PYTHONPATH=f"{HOOK}{os.pathsep}{tmp_path}")
    assert (outcome.stdout.split()[:1], outcome.stderr) == (["http://127.0.0.1:1"], "")


def test_children_are_redirected_too(python: Path) -> None:
    source = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {ADDRESSES!r}])"
    assert run(python, "-c", source).stdout.split()[0] == "http://127.0.0.1:1"


def test_outside_runs_nothing_changes(python: Path) -> None:
    outcome = run(python, "-c", f"import sys; {ADDRESSES}; print(len(sys.meta_path))", SCOREGATE_CLOUD="")
    plain = run(python, "-c", "import sys; print(len(sys.meta_path))", PYTHONPATH="")
    assert outcome.stdout.split() == [
        "https://api.autoblocks.ai",
        "https://api-v2.autoblocks.ai",
        "https://ingest-event.autoblocks.ai",
        *plain.stdout.split(),
    ]


def test_the_sitecustomize_of_users_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.path.append('/mine'); MINE = __file__")
    source = "import sitecustomize, sys; print(sitecustomize.MINE, sys.path[-1])"
    outcome = run(sys.executable, "-c", source, PYTHONPATH=f"{HOOK}{os.pathsep}{tmp_path}")
    assert outcome.stdout.split() == [str(tmp_path / "sitecustomize.py"), "/mine"], outcome.stderr


@pytest.mark.parametrize("error", ["1 / 0", "import no_such_module", "raise SystemExit(7)"])
def test_an_error_in_it_is_shown(tmp_path: Path, error: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(error)
    alone = run(sys.executable, "-c", "print('still runs')", PYTHONPATH=str(tmp_path))
    behind = run(sys.executable, "-c", "print('still runs')", PYTHONPATH=f"{HOOK}{os.pathsep}{tmp_path}")
    assert (behind.returncode, behind.stdout) == (alone.returncode, alone.stdout)
    assert behind.stderr.splitlines()[-1:] == alone.stderr.splitlines()[-1:]


def test_a_python_without_the_sdk_stays_light() -> None:
    show = "import sys; print(*sys.modules)"
    # -S leaves site-packages out, so the hook is imported by hand. It runs the system's own, too, if there is one.
    own = f"try:\n    import sitecustomize, importlib.util\nexcept ImportError:\n    pass\n{show}"
    plain = set(run(sys.executable, "-S", "-c", own, PYTHONPATH="").stdout.split())
    hooked = set(run(sys.executable, "-S", "-c", f"import sitecustomize; {show}").stdout.split())
    assert hooked - plain <= LIGHT


def test_an_import_takes_no_longer() -> None:
    source = "import sys\nfor n in range(20000):\n try: __import__('none%d' % n)\n except ImportError: pass"
    times = []
    for cloud in ("", "http://127.0.0.1:1"):
        started = getrusage(RUSAGE_CHILDREN)
        run(sys.executable, "-c", source, SCOREGATE_CLOUD=cloud)
        ended = getrusage(RUSAGE_CHILDREN)
        times.append(ended.ru_utime + ended.ru_stime - started.ru_utime - started.ru_stime)
    assert times[1] < 2 * times[0] + 0.5


def test_without_the_hook_the_spy_sees_it(place: Place, python: Path) -> None:
    source = f"{ADDRESSES}\nimport httpx\ntry: httpx.get(c.API_ENDPOINT)\nexcept httpx.HTTPError: pass"
    assert place.run(python, "-c", source, redirected=False).stderr == ""
    assert place.hosts >= {"api.autoblocks.ai"}
