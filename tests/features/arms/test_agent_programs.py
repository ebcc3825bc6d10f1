"""The digest of an agent's program: it changes with the program, its package and the files of its command."""

from __future__ import annotations

from pathlib import Path

from scoregate.features.arms.agent_programs import digest_program


def test_the_digest_changes_with_the_program_its_package_and_its_files(tmp_path: Path) -> None:
    package = tmp_path / "node_modules" / "agent"
    bin_folder, script = tmp_path / "bin", tmp_path / "script.py"
    for folder in (package, bin_folder):
        folder.mkdir(parents=True)
    for path in (package / "cli.js", package / "package.json", script):
        path.write_text("1")
    (package / "cli.js").chmod(0o755)
    (bin_folder / "agent").symlink_to(package / "cli.js")
    command = ("agent", str(script), "{prompt}", "/none", "/" + "x" * 5_000, "/a\0b")

    def digest() -> str:
        return digest_program(command, {"PATH": str(bin_folder)}, tmp_path)

    known = {digest()}
    assert digest() in known
    for path in (package / "cli.js", package / "package.json", script):
        path.write_text("2")
        assert digest() not in known
        known.add(digest())
    (bin_folder / "agent").unlink()
    assert digest() not in known
    assert digest_program(("bin/none",), {}, tmp_path)
