"""The hook in the user's own Node: it acts on Autoblocks' hosts and changes nothing else."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.integration.foreign.conftest import Place

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None, reason="redirects in Node are NOT tested: there is no node"
)
HOSTS = ("api.autoblocks.ai", "api-v2.autoblocks.ai", "ingest-event.autoblocks.ai")


def run(place: Place, source: str, **options: bool) -> str:
    outcome = place.run("node", "-e", f"(async () => {{ {source} }})()", **options)  # type: ignore[arg-type]
    assert (outcome.returncode, outcome.stderr) == (0, "")
    return outcome.stdout


@pytest.mark.parametrize(
    "request_of",
    ["'{0}'", "new URL('{0}')", "new Request('{0}', {{method: 'POST', body: 'x'}})", "'{0}'.replace('http', 'HTTP')"],
)
def test_every_form_of_a_request_is_redirected(place: Place, request_of: str) -> None:
    calls = "\n".join(f"await fetch({request_of.format(f'https://{host}/one?n=1')});" for host in HOSTS)
    run(place, calls)
    assert [path for _, path in place.platform.cloud] == ["/one", "/v2/one", "/ingest/one"]
    assert place.hosts == {"127.0.0.1"}


def test_sent_data_is_unchanged(place: Place) -> None:
    source = """
        const init = {method: 'POST', body: '{"baseline": "x"}', headers: {'content-type': 'application/json'}};
        const first = await fetch('https://api.autoblocks.ai/test-suites/s/test-cases/a/baseline', init);
        const given = new Request('https://api.autoblocks.ai/test-suites/s/test-cases/b/baseline', init);
        console.log(JSON.stringify([await first.json(), await (await fetch(given)).json(), first.ok]));
    """
    assert json.loads(run(place, source)) == [{}, {}, True]
    assert place.platform.champions == {("s", "a"): "x", ("s", "b"): "x"}


def test_workers_and_children_are_redirected_too(place: Place) -> None:
    source = """
        const call = (name) => `fetch('https://api.autoblocks.ai/${name}')`;
        const { Worker } = require('worker_threads');
        await new Promise((done) => new Worker(call('worker'), {eval: true}).on('exit', done));
        require('child_process').execFileSync('node', ['-e', call('child')]);
    """
    run(place, source)
    assert [path for _, path in place.platform.cloud] == ["/worker", "/child"]


def test_other_connections_find_no_host(place: Place) -> None:
    source = """
        const failed = (module) => new Promise((done) => require(module).get(
            `${module}://api.autoblocks.ai/`, () => done('sent')).on('error', (error) => done(error.code)));
        console.log(await failed('http'), await failed('https'));
        require('dns').lookup('api.autoblocks.ai', {all: true}, (error) => console.log(error.code));
    """
    assert run(place, source).split() == ["ENOTFOUND"] * 3


def test_other_hosts_are_kept(place: Place) -> None:
    addresses = json.dumps([
        f"{place.platform.address}/other",
        f"{place.platform.address}/see?https://api.autoblocks.ai/",
    ])  # fmt: skip
    source = f"""
        for (const address of {addresses}) await fetch(address, {{method: 'POST', body: '1'}});
        require('dns').lookup('127.0.0.1', (error, address) => console.log(error, address));
        console.log(fetch.name, fetch.length, typeof Object.getOwnPropertyDescriptor(globalThis, 'fetch').value);
        for (const host of ['api.autoblocks.ai.invalid', 'xapi.autoblocks.invalid'])
            await fetch(`https://${{host}}/`).catch(() => undefined);
    """
    assert "null 127.0.0.1" in run(place, source)
    assert [path for path, _ in place.platform.local] == ["/other", "/see"]
    assert place.platform.cloud == []


def test_without_the_hook_the_spy_sees_it(place: Place) -> None:
    run(place, "await fetch('https://api.autoblocks.ai/').catch(() => undefined);", redirected=False)
    assert place.hosts == {"api.autoblocks.ai"}
