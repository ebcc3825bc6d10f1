// The data of the page: compressed blocks of JSON, unpacked when they are needed.

const FIELDS = [
  "key", "suite", "name", "kind", "gain", "now", "before", "state", "oldState", "ms", "oldMs", "cost", "oldCost",
  "tags", "preview", "places", "oldPlaces", "tries",
];
const KEPT = 12;
const pages = new Map();

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

async function unpack(id) {
  const packed = new Blob([bytesOf(document.getElementById(id).textContent)]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

async function casesOf(block) {
  const rows = await unpack(`index-${block}`);
  return rows.map((row) => Object.fromEntries(row.map((value, at) => [FIELDS[at], value])));
}

function page(number) {
  const found = pages.get(number) ?? unpack(`page-${number}`);
  pages.delete(number);
  pages.set(number, found);
  if (pages.size > KEPT) pages.delete(pages.keys().next().value);
  return found;
}

// Places are pairs of page and position in one list.
function pairs(places) {
  return Array.from({ length: places.length / 2 }, (_, at) => [places[2 * at], places[2 * at + 1]]);
}

async function trials(places) {
  return Promise.all(pairs(places).map(async ([number, at]) => (await page(number))[at]));
}
