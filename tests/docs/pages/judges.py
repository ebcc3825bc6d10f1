"""The pictures of the page about judges."""

from __future__ import annotations

from tests.docs.project import Project
from tests.fakes.media import make_png


def prepare(project: Project) -> None:
    folder = project.folder / "evals" / "pictures"
    folder.mkdir(parents=True)
    for name, color in (("red", (255, 0, 0)), ("blue", (0, 0, 255))):
        (folder / f"{name}.png").write_bytes(make_png(color))
