"""The peers' environments: made once under a cache folder, by package name, and used again."""

import json
import os
import subprocess
import sys
import venv
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
SUITES = Path(__file__).resolve().parent / "suites"

REQUIREMENTS = {
    "autoblocksai": ("autoblocksai==0.0.137",),
    "braintrust": ("braintrust",),
    "braintrust-autoevals": ("braintrust", "autoevals", "openai"),
    "click": ("click",),
    "deepeval": ("deepeval",),
    "litellm": ("litellm[proxy]",),
    "inspect-ai": ("inspect-ai", "openai"),
    "playwright": ("playwright",),
    "pydantic": ("pydantic",),
    "pydantic-evals": ("pydantic-evals",),
    "pydantic-evals-models": ("pydantic-evals", "pydantic-ai-slim[openai]"),
    "pytest": ("pytest",),
    # ragas names no bound, and imports what langchain-community 0.4.2 no longer has.
    "ragas": ("ragas", "langchain-community<0.4.2"),
    "scoregate": ("-e", f"{REPOSITORY}[cli,server]"),
    "scoregate-endpoints": ("-e", f"{REPOSITORY}[endpoints]"),
    "scoregate-gateway": ("-e", f"{REPOSITORY}[cli,gateway]"),
    "scoregate-watch": ("-e", f"{REPOSITORY}[cli,watch]"),
    "scoregate-models": ("-e", f"{REPOSITORY}[judges,traces]"),
}
NODE_REQUIREMENTS = {"promptfoo": "promptfoo"}


def home() -> Path:
    """Return the folder that keeps environments and stored runs: $SCOREGATE_BENCH_DIR or one in the user's cache."""
    return Path(os.environ.get("SCOREGATE_BENCH_DIR", Path.home() / ".cache" / "scoregate-benchmarks"))


def _make(name: str, folder: Path) -> None:
    print(f"making the environment of {name} in {folder}", file=sys.stderr)
    venv.create(folder, with_pip=True, clear=True)
    install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, *REQUIREMENTS[name]], check=True)
    (folder / "complete").touch()


_used: set[str] = set()


def list_used_peers() -> list[str]:
    """Return the peers that this process ran, in the order of their names."""
    return sorted(_used)


@cache
def tool(peer: str, program: str = "python") -> str:
    """Return the path of a program in a peer's environment, which is made where it does not exist."""
    folder = home() / peer
    if not (folder / "complete").exists():
        _make(peer, folder)
    _used.add(peer)
    return str(folder / "bin" / program)


@cache
def node_tool(peer: str) -> str:
    """Return the path of a peer's program that npm installs, once, into a folder of its own."""
    folder = home() / peer
    if not (folder / "complete").exists():
        print(f"making the environment of {peer} in {folder}", file=sys.stderr)
        install = ["npm", "install", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix", str(folder)]
        subprocess.run([*install, NODE_REQUIREMENTS[peer]], check=True, stdout=sys.stderr)
        (folder / "complete").touch()
    _used.add(peer)
    return str(folder / "node_modules" / ".bin" / peer)


def version(peer: str) -> str:
    """Return the version of the peer that is installed in its environment; some have several environments."""
    if peer in NODE_REQUIREMENTS:
        manifest = Path(node_tool(peer)).parents[1] / peer / "package.json"
        return str(json.loads(manifest.read_text())["version"])
    package = next(
        (name for name in ("scoregate", "pydantic-evals", "braintrust") if peer.startswith(f"{name}-")), peer
    )
    ask = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([tool(peer), "-c", ask], check=True, capture_output=True, text=True).stdout.strip()
