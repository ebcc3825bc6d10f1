"""Paths of the change's checkout in variables of its base."""

from __future__ import annotations

import subprocess
from pathlib import Path

import anyio
import pytest

from scoregate.kernel.judge.settings import Settings
from scoregate.kernel.run.dependencies.head_checkout import open_head_checkout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    top = tmp_path.resolve() / "my app"
    for name in ("app/prompt.txt", "app/new/tool.sh", "data/big.bin", "notes.txt"):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).touch()
    (top / ".gitignore").write_text("data/\n", encoding="utf-8")
    for words in (("init", "-q"), ("add", "app", ".gitignore")):
        subprocess.run(["git", *words], cwd=top, check=True)
    base = top.parent / "base" / "app"
    base.mkdir(parents=True)
    (base / "prompt.txt").touch()
    return top


def test_paths_lead_to_the_base(root: Path) -> None:
    link, base = root.parent / "link", root.parent / "base"
    link.symlink_to(root)
    head = anyio.run(open_head_checkout, root / "app", Settings())
    move = head.make_mover(base / "app", {"LINKED": f"/usr/bin:{link}/app"})
    for text, moved in {
        f"{root}": f"{base}",
        f"{root}/": f"{base}/",
        f"{root}/app/prompt.txt": f"{base}/app/prompt.txt",
        f"{root}/app/new/tool.sh": f"{base}/app/new/tool.sh",  # only the change has it
        f"{root}/made/later.txt": f"{base}/made/later.txt",
        f"{root}/data/../app": f"{base}/data/../app",
        f"{link}/app": f"{base}/app",
        f"/usr/bin:{root}/app:{root}/data:/bin": f"/usr/bin:{base}/app:{root}/data:/bin",
        f"file://{root}/app/prompt.txt": f"file://{base}/app/prompt.txt",
        f'{{"path": "{root}/app"}}': f'{{"path": "{base}/app"}}',
        f"--config={root}/app": f"--config={base}/app",
    }.items():
        assert move(text) == moved
    for text in (
        f"{root}/data/big.bin",  # git ignores it, so both sides share it
        f"{root}/data/later/new.bin",
        f"{root}/notes.txt",  # git doesn't know it: only the refusal tells what to do
        f"{root}/node_modules/.bin",
        f"{root}/scoregate-out/comment.md".replace(str(root), f"{root}/app"),
        f"{root}-old/app",
        f"{root}.bak",
        f"/mnt{root}/app",
        f"{root}/../other",
        "prompt.txt",
    ):
        assert move(text) == text
