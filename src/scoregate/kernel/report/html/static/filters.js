// Filters of the cases, and their controls.

const KINDS = [
  ["newly failing", "fail"], ["worse", "down"], ["failing", "fail"], ["better", "up"], ["new", "new"], ["same", "same"],
  ["removed", "gone"],
];
const STATES = [["passed", "pass"], ["failed", "fail"], ["error", "warn"], ["scored", "same"], ["unscored", "same"]];
const ROUNDING = 1e-9;
const CHANGES = {
  "newly-failing": ["newly failing", (found) => found.kind === 0],
  worse: ["worse", (found, gain) => gain < -ROUNDING],
  failing: ["failing", (found) => found.state === 1],
  errors: ["errors", (found) => found.state === 2],
  better: ["better", (found, gain) => gain > ROUNDING],
  same: ["same", (found, gain) => found.before && Math.abs(gain) <= ROUNDING && found.kind !== 6],
  new: ["new", (found) => !found.before],
  removed: ["removed", (found) => found.kind === 6],
};

// The change of a case from the baseline, as text and icon; without a baseline, or after an error, its status.
function changeOf(found) {
  return found.state === 2 || !RUN.base ? STATES[found.state] : KINDS[found.kind];
}

// The change of one evaluator, + is better; null if it is not compared.
function gainOf(found, at, suite) {
  const [now, before] = [found.now[at], found.before ? found.before[at] : null];
  if (now === null || before === null || now === undefined || before === undefined || suite.apart[at]) return null;
  return (now - before) * (suite.upwards[at] ? 1 : -1);
}

// The evaluator that a row shows: the chosen one, else the one with the largest change, else the lowest.
function leading(found, suites, evaluator) {
  const suite = suites[found.suite];
  if (evaluator) return suite.evaluators.indexOf(evaluator);
  let [best, least] = [-1, Infinity];
  suite.evaluators.forEach((_, at) => {
    const gain = gainOf(found, at, suite);
    const score = found.now[at] ?? (found.before ? found.before[at] : null);
    if (score === null || score === undefined) return;
    const towards = suite.upwards[at] ? score : 1 - score;
    const rank = (gain === null || !gain ? 0 : gain * Math.sign(found.gain) > 0 ? -10 * Math.abs(gain) : 0) + towards / 100;
    if (rank < least) [best, least] = [at, rank];
  });
  return best;
}

function matches(found, words) {
  const text = `${found.name} ${found.preview} ${found.tags.join(" ")}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function selected(cases, suites, state, hits) {
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const [, holds] = CHANGES[state.change] ?? [];
  const gains = new Map();
  const chosen = cases.filter((found) => {
    const suite = suites[found.suite];
    if (state.suite && suite.label !== state.suite) return false;
    if (state.tag && !found.tags.includes(state.tag)) return false;
    let gain = found.gain;
    if (state.evaluator) {
      const at = suite.evaluators.indexOf(state.evaluator);
      if (at < 0) return false;
      gain = gainOf(found, at, suite);
      gains.set(found, gain ?? Infinity);
    }
    if (holds && !holds(found, gain ?? NaN)) return false;
    return !words.length || (hits ? hits.has(found) : matches(found, words));
  });
  return state.evaluator ? chosen.sort((one, other) => gains.get(one) - gains.get(other)) : chosen;
}

// Searches the texts of all pages; `progress` gets the share that is done and returns whether to continue.
async function searchAll(cases, query, progress) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const owners = new Map();
  for (const found of cases) {
    for (const [number, at] of [...pairs(found.places), ...pairs(found.oldPlaces)]) {
      if (!owners.has(number)) owners.set(number, new Map());
      owners.get(number).set(at, found);
    }
  }
  const hits = new Set(cases.filter((found) => matches(found, words)));
  let read = 0;
  for (const [number, places] of owners) {
    if (!progress(read / owners.size)) return null;
    const held = await unpack(`page-${number}`);
    for (const [at, found] of places) {
      const text = JSON.stringify(held[at]).toLowerCase();
      if (words.every((word) => text.includes(JSON.stringify(word).slice(1, -1)))) hits.add(found);
    }
    read += 1;
  }
  return hits;
}

function options(names, all) {
  return [h("option", { value: "" }, all), ...names.map((name) => h("option", { value: name }, name))];
}

function controls(suites, change) {
  const field = (words, control) => h("label", null, h("span", null, words), control);
  const select = (name, given) => h("select", { name, onchange: change }, given);
  const changes = Object.entries(CHANGES).map(([value, [words]]) => h("option", { value }, words));
  const evaluators = [...new Set(suites.flatMap((suite) => suite.evaluators))].sort();
  return h("form", { role: "search", "aria-label": "Cases", class: "controls", onsubmit: (event) => event.preventDefault() },
    field("Search", h("input", { type: "search", name: "q", placeholder: "name or output  ( / )", autocomplete: "off", oninput: change })),
    field("Change", select("change", [h("option", { value: "" }, "any"), changes])),
    field("Suite", select("suite", options(suites.map((suite) => suite.label), "all"))),
    field("Scorer", select("evaluator", options(evaluators, "all"))),
    field("Tag", select("tag", options([], "any"))),
    h("label", { class: "check" }, h("input", { type: "checkbox", name: "deep", value: "1", onchange: change }), h("span", null, "in all texts")),
    h("button", { type: "button", class: "plain", name: "clear" }, "Clear"),
    h("output", { "aria-live": "polite" }));
}
