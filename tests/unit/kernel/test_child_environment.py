"""Variables of the host that the user's code can see."""

from __future__ import annotations

import pytest

from scoregate.kernel.host.process import visible_environment

TOKEN = "ghs_0123456789abcdef"


@pytest.mark.parametrize(
    "name",
    ["INPUT_PATHS", "INPUT_GITHUB-TOKEN", "ACTIONS_RUNTIME_URL", "GITHUB_TOKEN", "GITHUB_OUTPUT", "GITHUB_ENV",
     "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"],
)  # fmt: skip
def test_variables_of_ci_are_removed(name: str) -> None:
    assert visible_environment({name: "anything", "KEPT": "yes"}) == {"KEPT": "yes"}


@pytest.mark.parametrize("name", ["GITHUB_TOKEN", "INPUT_GITHUB-TOKEN", "INPUT_GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN"])
def test_variables_with_our_tokens_are_removed(name: str) -> None:
    copies = {"GH_TOKEN": TOKEN, "GIT_CONFIG_VALUE_0": f"AUTHORIZATION: bearer {TOKEN}"}
    assert visible_environment({name: TOKEN, **copies, "OPENAI_API_KEY": "sk-theirs"}) == {
        "OPENAI_API_KEY": "sk-theirs"
    }


def test_a_very_short_token_hides_nothing() -> None:
    assert visible_environment({"GITHUB_TOKEN": "x", "INPUT_GITHUB-TOKEN": "", "NAME": "xyz"}) == {"NAME": "xyz"}


@pytest.mark.parametrize(
    "name",
    ["LD_LIBRARY_PATH", "pythonLocation", "VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT", "UV_PYTHON", "UV_PYTHON_DOWNLOADS"],
)
def test_variables_of_the_runner_are_removed_only_there(name: str) -> None:
    assert name in visible_environment({name: "/somewhere"})
    assert visible_environment({name: "/somewhere", "GITHUB_ACTIONS": "true"}) == {"GITHUB_ACTIONS": "true"}


@pytest.mark.parametrize(
    "name",
    [
        "UV_INDEX",
        "UV_INDEX_PRIVATE_PASSWORD",
        "UV_DEFAULT_INDEX",
        "PIP_INDEX_URL",
        "NETRC",
        "SSL_CERT_FILE",
        "UV_CACHE_DIR",
    ],
)
def test_private_indexes_stay_reachable(name: str) -> None:
    assert name in visible_environment({name: "theirs", "GITHUB_ACTIONS": "true"})
