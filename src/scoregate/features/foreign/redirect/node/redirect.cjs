// Points Autoblocks' SDK, if a program has it, at the address in SCOREGATE_CLOUD; runs in the user's own Node, 18 or later.
'use strict';

const cloud = process.env.SCOREGATE_CLOUD;
const places = {
  'api.autoblocks.ai': '',
  'api-v2.autoblocks.ai': '/v2',
  'ingest-event.autoblocks.ai': '/ingest',
};
const theirs = /^https?:\/\/([a-z0-9-]+\.autoblocks\.ai)(?::\d+)?(?=[/?#]|$)/i;
const champion = /^\/test-suites\/.+\/test-cases\/.+\/baseline$/;
const unsafe = { '?': '%3F', '#': '%23', '\\': '%5C' };

function addressOf(input) {
  if (typeof input === 'string') return input;
  return input instanceof URL ? input.href : input?.url;
}

// Where a request is sent instead; undefined where it is none of ours.
function redirected(input) {
  const address = addressOf(input);
  const found = typeof address === 'string' ? theirs.exec(address) : null;
  const place = found && places[found[1].toLowerCase()];
  if (typeof place !== 'string') return undefined;
  const rest = address.slice(found[0].length);
  // The SDK does not encode the names of suites and cases in this one.
  return cloud + place + (champion.test(rest) ? rest.replace(/[?#\\]/g, (character) => unsafe[character]) : rest);
}

function wrapFetch() {
  const original = globalThis.fetch;
  if (typeof original !== 'function') return;
  const described = Object.getOwnPropertyDescriptor(globalThis, 'fetch');
  const fetch = function fetch(input, init) {
    const target = redirected(input);
    if (target === undefined) return Reflect.apply(original, this, arguments);
    return Reflect.apply(original, this, [input instanceof Request ? new Request(target, input) : target, init]);
  };
  Object.defineProperty(globalThis, 'fetch', {
    value: fetch,
    writable: true,
    configurable: true,
    enumerable: described?.enumerable ?? true,
  });
}

// Whatever else would connect to these hosts finds that there are none.
function hideHosts() {
  const dns = require('dns');
  const { lookup } = dns;
  dns.lookup = function (hostname, ...rest) {
    const answer = rest[rest.length - 1];
    if (typeof places[String(hostname).toLowerCase()] !== 'string' || typeof answer !== 'function') {
      return Reflect.apply(lookup, this, [hostname, ...rest]);
    }
    const error = new Error(`${hostname} is out of reach: scoregate keeps calls to Autoblocks on this machine`);
    process.nextTick(answer, Object.assign(error, { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname }));
    return {};
  };
}

if (cloud) {
  wrapFetch();
  hideHosts();
}
