"""A gateway: `gateway_server.py on|cache|record|replay PROVIDER FOLDER` serves until its standard input ends."""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scoregate.features.gateway.declare import GatewayMode
from scoregate.features.gateway.proxy import GatewayOptions, find_providers, open_gateway
from scoregate.kernel.host.secrets import Redactor, secret_values
from scoregate.models.settings import CacheMode

ENVIRON = {"OPENAI_API_KEY": "sk-key-of-the-provider-0123456789", "OPENAI_BASE_URL": sys.argv[2]}
FOLDER = Path(sys.argv[3])
MODES: dict[str, tuple[GatewayMode, dict[str, Any]]] = {
    "on": (GatewayMode.ON, {}),
    "cache": (GatewayMode.ON, {"cache_mode": CacheMode.ON, "cache_folder": FOLDER}),
    "record": (GatewayMode.RECORD, {"record_to": FOLDER}),
    "replay": (GatewayMode.REPLAY, {"replay_from": (FOLDER,)}),
}


def peak_mb() -> float:
    """The most memory that this process had, in megabytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6


mode, more = MODES[sys.argv[1]]
providers = find_providers(ENVIRON, {}, replays=mode is GatewayMode.REPLAY)
with TemporaryDirectory() as scratch:
    options = GatewayOptions(mode, providers, Path(scratch), Redactor(secret_values(ENVIRON)).text, **more)
    with open_gateway(options) as gateway, gateway.open_session("suite") as one, gateway.open_session("other") as two:
        url = gateway.suite_environment(one)["OPENAI_BASE_URL"]
        print(json.dumps({"url": url, "tokens": [one.token, two.token]}), flush=True)
        sys.stdin.read()
        counts = list(gateway.counts().values())
        calls, answered = sum(each.calls for each in counts), sum(each.cached + each.replayed for each in counts)
print(json.dumps({"peak_mb": peak_mb(), "calls": calls, "answered": answered}))
