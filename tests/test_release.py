"""What the release workflow runs: the check of the tag, the notes, and the tags whose action.yml names the image."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
JOBS = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))["jobs"]
CHANGELOG = "# Changelog\n\n## 1.2.3, 2026-11-22\n\n- New.\n- Fixed.\n\n## 1.2.2, 2026-10-01\n\n- Old.\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src/scoregate").mkdir(parents=True)
    (root / "src/scoregate/version.py").write_text('"""The version."""\n\n__version__ = "1.2.3"\n', encoding="utf-8")
    (root / "CHANGELOG.md").write_text(CHANGELOG, encoding="utf-8")
    (root / ".ci").mkdir()
    (root / ".ci/release_notes").write_bytes((ROOT / ".ci/release_notes").read_bytes())
    return root


def notes(root: Path, tag: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / ".ci/release_notes"), tag]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_notes_are_the_section_of_the_release(repository: Path) -> None:
    outcome = notes(repository, "1.2.3")
    assert (outcome.returncode, outcome.stdout) == (0, "- New.\n- Fixed.\n"), outcome.stderr


def test_a_tag_that_is_not_the_version_is_refused(repository: Path) -> None:
    outcome = notes(repository, "1.2.2")
    assert (outcome.returncode, outcome.stdout) == (1, "")
    assert "the tag is 1.2.2, but src/scoregate/version.py has 1.2.3" in outcome.stderr


@pytest.mark.parametrize(
    ("changelog", "message"),
    [
        ("# Changelog\n\n## 1.2.30\n\n- New.\n", "has no text under «## 1.2.3»"),
        ("# Changelog\n\n## 1.2.3\n\n## 1.2.2\n\n- Old.\n", "has no text under «## 1.2.3»"),
        ("# Changelog\n\n## 1.2.3, unreleased\n\n- New.\n", "write the date instead"),
    ],
)
def test_a_changelog_without_notes_is_refused(repository: Path, changelog: str, message: str) -> None:
    (repository / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    outcome = notes(repository, "1.2.3")
    assert outcome.returncode == 1
    assert message in outcome.stderr


def test_the_changelog_has_a_section_of_this_version() -> None:
    outcome = notes(ROOT, subprocess.check_output([sys.executable, "-c", VERSION], text=True).strip())
    assert outcome.returncode == 0 or "write the date instead" in outcome.stderr, outcome.stderr


VERSION = "import scoregate; print(scoregate.__version__)"


def test_the_tags_of_a_release_name_the_image_by_digest(tmp_path: Path) -> None:
    """The step as it is in the workflow, in a clone whose origin is a folder."""
    (step,) = [step for step in JOBS["publish"]["steps"] if step.get("name", "").startswith("The tags")]
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=clone, env=environ, check=True, capture_output=True, text=True
        ).stdout

    origin, clone = tmp_path / "origin", tmp_path / "clone"
    clone.mkdir()
    git("init", "--quiet", "--bare", str(origin))
    git("clone", "--quiet", str(origin), ".")
    (clone / "action.yml").write_bytes((ROOT / "action.yml").read_bytes())
    git("add", ".")
    git("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "--quiet", "--message", "start")
    pinned = f"ghcr.io/acme/scoregate@sha256:{'a' * 64}"
    environment = {
        "PINNED": pinned,
        "TOKEN": "secret",
        "GITHUB_REF_NAME": "1.2.3",
        "GITHUB_SERVER_URL": "https://github.com",
    }
    assert step["env"].keys() == {"PINNED", "TOKEN"}
    process = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]], cwd=clone, env={**environ, **environment}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    for tag in ("v1.2.3", "v1"):
        content = git("--git-dir", str(origin), "show", f"{tag}:action.yml")
        assert f"\n  image: docker://{pinned}\n" in content
        assert "Dockerfile" not in [line.strip().removeprefix("image: ") for line in content.splitlines()]


def test_irreversible_steps_come_last() -> None:
    """PyPI and the release wait for the packages and for the image of both architectures."""
    assert JOBS["image"]["needs"] == "packages"
    assert JOBS["index"]["needs"] == "image"
    assert JOBS["pypi"]["needs"] == "index"
    assert JOBS["publish"]["needs"] == ["index", "pypi"]


def test_only_the_jobs_that_sign_get_an_identity() -> None:
    with_identity = {name for name, job in JOBS.items() if job["permissions"].get("id-token") == "write"}
    assert with_identity == {"index", "pypi"}
    assert JOBS["pypi"]["permissions"] == {"id-token": "write"}
    (build,) = [step["run"] for step in JOBS["image"]["steps"] if "buildx build" in step.get("run", "")]
    assert "--sbom=true --provenance=mode=max" in build
