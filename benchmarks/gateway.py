"""What the model gateway adds to a call, and how fast it answers from the cache and from cassettes."""

import json
import socket
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import Failed, environment, interleaved
from peers import SUITES, tool
from rows import Row

DELAY_S = "0.02"
SMALL, LARGE = 10_000, 100_000
FROM_CACHE = 5_000
START_S = 90
MASTER_KEY = "sk-" + "0123456789abcdef" * 4
LITELLM = """
model_list:
  - model_name: gpt-4o
    litellm_params: {model: openai/gpt-4o, api_base: "%s", api_key: sk-key}
litellm_settings: {cache: true, cache_params: {type: local}}
"""


@contextmanager
def serve(name: str, *arguments: str) -> Iterator[tuple[dict[str, Any], subprocess.Popen[str]]]:
    """Run a server of `suites/`, and yield what it printed when it was ready."""
    command = [tool("scoregate-gateway"), str(SUITES / f"gateway_{name}.py"), *arguments]
    env = environment({})
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise Failed(f"{name} did not start")
            yield json.loads(line), process
        finally:
            process.terminate()


def load(url: str, token: str, calls: int, concurrency: int, *options: str) -> dict[str, float]:
    """Ask a server many times."""
    command = [tool("scoregate-gateway"), str(SUITES / "gateway_load.py"), url, token, str(calls), str(concurrency)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False, env=environment({}))
    if done.returncode:
        raise Failed(done.stderr[-2000:])
    result: dict[str, float] = json.loads(done.stdout)
    return result


def _forward(way: str, calls: int, concurrency: int, *options: str) -> dict[str, float]:
    with ExitStack() as stack:
        provider, _ = stack.enter_context(serve("provider", DELAY_S))
        url, token = provider["url"], "none"
        if way == "gateway":
            folder = stack.enter_context(TemporaryDirectory())
            gateway, _ = stack.enter_context(serve("server", "on", provider["url"], folder))
            url, token = gateway["url"], gateway["tokens"][0]
        return load(url, token, calls, concurrency, *options)


def _measure_forwarding(runs: int) -> Iterator[Row]:
    ways = ("direct", "gateway")
    steady = interleaved({way: partial(_forward, way, 500, 20, "--rate", "100") for way in ways}, runs)
    for name, limit in (("p50", 3), ("p95", 10)):
        direct, ours = (statistics.median(sample[name] for sample in steady[way]) for way in ways)
        note = f"gateway {ours:.1f} ms, direct {direct:.1f} ms"
        yield Row(f"gateway, 100 calls a second, added, {name}", ours - direct, "ms", limit, note)
    streams = interleaved({way: partial(_forward, way, 500, 20, "--rate", "100", "--stream") for way in ways}, runs)
    direct, ours = (statistics.median(sample["p50"] for sample in streams[way]) for way in ways)
    note = f"gateway {ours:.1f} ms, direct {direct:.1f} ms"
    yield Row("gateway, first byte of a stream, added, p50", ours - direct, "ms", 3, note)
    busy = interleaved({way: partial(_forward, way, 3_000, 50) for way in ways}, runs)
    direct, ours = (statistics.median(sample["p50"] for sample in busy[way]) for way in ways)
    note = f"p50: gateway {ours:.1f} ms, direct {direct:.1f} ms"
    yield Row("gateway, 50 calls at once, of direct, p50", ours / direct, "x", 1.5, note)


def _answer_from_cache() -> float:
    with ExitStack() as stack:
        provider, _ = stack.enter_context(serve("provider", "0"))
        folder = stack.enter_context(TemporaryDirectory())
        gateway, process = stack.enter_context(serve("server", "cache", provider["url"], folder))
        load(gateway["url"], gateway["tokens"][0], FROM_CACHE, 50)
        rate = load(gateway["url"], gateway["tokens"][1], FROM_CACHE, 50)["rate"]
        answered = json.loads(process.communicate("")[0])["answered"]
        if answered < FROM_CACHE:
            raise Failed(f"the cache answered {answered:,} calls, not {FROM_CACHE:,}")
    return rate


def _answer_bare() -> float:
    with serve("bare") as (bare, _):
        return load(bare["url"], "none", FROM_CACHE, 50)["rate"]


def _answer_with_litellm() -> float:
    with ExitStack() as stack:
        provider, _ = stack.enter_context(serve("provider", "0"))
        folder = Path(stack.enter_context(TemporaryDirectory()))
        (folder / "config.yaml").write_text(LITELLM % provider["url"])
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        command = [tool("litellm", "litellm"), "--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port)]
        env = environment(
            {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR", "LITELLM_MASTER_KEY": MASTER_KEY}
        )
        log = stack.enter_context((folder / "log").open("w"))
        process = stack.enter_context(subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log))
        stack.callback(process.terminate)
        _wait_for_port(port, process, folder / "log")
        url = f"http://127.0.0.1:{port}/v1"
        load(url, MASTER_KEY, 500, 50, "--questions", "100")
        return load(url, MASTER_KEY, 1_000, 50, "--questions", "100")["rate"]


def _wait_for_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(START_S * 10):
        if process.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise Failed(f"litellm's proxy did not start: {' '.join(log.read_text().split())[-500:]}")


def _measure_cache(runs: int) -> Iterator[Row]:
    rates = interleaved({"gateway": _answer_from_cache, "bare": _answer_bare}, runs)
    ours, bare = (statistics.median(rates[name]) for name in ("gateway", "bare"))
    note = f"gateway {ours:,.0f} calls a second, starlette {bare:,.0f}"
    yield Row("gateway, from the cache, time of a bare server's", bare / ours, "x", 2, note)
    name = "gateway, from the cache, time of litellm's proxy"
    try:
        theirs = statistics.median(_answer_with_litellm() for _ in range(runs))
    except (Failed, subprocess.CalledProcessError, OSError) as error:
        yield Row(f"{name} is NOT measured: {str(error)[:200]}", float("nan"), "x")
        return
    yield Row(name, theirs / ours, "x", 1 / 3, f"gateway {ours:,.0f} calls a second, litellm {theirs:,.0f}")


def _record_and_replay(calls: int) -> dict[str, dict[str, float]]:
    results: dict[str, dict[str, float]] = {}
    with ExitStack() as stack:
        provider, _ = stack.enter_context(serve("provider", "0"))
        folder = Path(stack.enter_context(TemporaryDirectory()))
        for mode in ("record", "replay"):
            with serve("server", mode, provider["url"], str(folder)) as (gateway, process):
                loaded = load(gateway["url"], gateway["tokens"][0], calls, 50, "--cold")
                counted = json.loads(process.communicate("")[0])
            if counted["calls"] != calls or (mode == "replay" and counted["answered"] != calls):
                raise Failed(f"{mode}: {counted}")
            results[mode] = {**loaded, **counted}
        results["files"] = {"mb": sum(path.stat().st_size for path in folder.iterdir()) / 1e6}
    return results


def _measure_cassettes() -> Iterator[Row]:
    small, large = _record_and_replay(SMALL), _record_and_replay(LARGE)
    for mode in ("record", "replay"):
        before, after = small[mode]["peak_mb"], large[mode]["peak_mb"]
        note = f"{before:.0f}, {after:.0f} MB; {large[mode]['rate']:,.0f} calls a second"
        yield Row(f"gateway, {mode}, peak RSS, 100,000 calls over 10,000", after - before, "MB", 20, note)
    yield Row("gateway, cassettes of 100,000 calls", large["files"]["mb"], "MB")


def measure(runs: int) -> Iterator[Row]:
    """Yield what the gateway adds, its rates from the cache, and its memory with many recorded calls."""
    yield from _measure_forwarding(runs)
    yield from _measure_cache(runs)
    yield from _measure_cassettes()
