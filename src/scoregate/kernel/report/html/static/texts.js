// Texts side by side: in the baseline and in this run, with changed words marked.

// `base`: whether there is a baseline; `side`: the heading of the run, PR or Now.
const RUN = { base: true, side: "PR" };
const LONG = 600;
const SHORT = 60;

function isOfPullRequest() {
  return RUN.side === "PR";
}

function textOf(shown) {
  return Array.isArray(shown) ? shown[0] : shown ?? "";
}

function cutNote(shown) {
  if (!Array.isArray(shown)) return null;
  return h("p", { class: "cut" }, sign("warn", "note"), `cut: the first ${commas(shown[0].length)} of ${commas(shown[1])} characters; the full text is in run/cases.jsonl.gz`);
}

function plainText(shown) {
  return [h("pre", { class: "text", tabindex: 0 }, textOf(shown)), cutNote(shown)];
}

function marked(parts, side) {
  const shown = parts.filter(([kind]) => kind === 0 || kind === side);
  const tag = side < 0 ? "del" : "ins";
  return h("pre", { class: "text", tabindex: 0 }, shown.map(([kind, text]) => (kind ? h(tag, null, text) : text)));
}

function pane(title, ...children) {
  return h("div", { class: "pane" }, title && h("h4", null, title), ...children);
}

// If almost everything changed, marks don't help.
function rewritten(parts, longest) {
  const kept = parts.reduce((sum, [kind, text]) => sum + (kind ? 0 : text.trim().length), 0);
  return longest > SHORT && kept < longest / 5;
}

// `bare`: a text on one side only, or equal on both, gets no title.
function sideBySide(before, now, { bare = false } = {}) {
  const [had, has] = [before !== undefined && before !== null, now !== undefined && now !== null];
  if (!had && !has) return null;
  if (!had || !has) return h("div", { class: "panes" }, pane(bare || !RUN.base ? null : had ? "Baseline" : RUN.side, plainText(had ? before : now)));
  const [a, b] = [textOf(before), textOf(now)];
  if (a === b) return h("div", { class: "panes" }, pane(bare ? null : `Baseline and ${isOfPullRequest() ? "PR" : "now"}, the same`, plainText(now)));
  const parts = wordDiff(a, b);
  if (rewritten(parts, Math.max(a.length, b.length))) {
    return h("div", { class: "panes two" }, pane("Baseline", plainText(before)), pane(`${RUN.side}, rewritten`, plainText(now)));
  }
  return h("div", { class: "panes two" },
    pane("Baseline", marked(parts, -1), cutNote(before)),
    pane(RUN.side, marked(parts, 1), cutNote(now)));
}

// Long values are folded.
function folded(value) {
  const text = textOf(value);
  const lines = text.split("\n").length;
  if (text.length <= LONG && lines <= 8) return text;
  return h("details", null, h("summary", null, `${text.slice(0, 80).split("\n")[0]} … `, h("small", null, count(text.length, "character"))), h("div", { class: "long", tabindex: 0 }, text));
}

function saidList(said) {
  if (!said?.length) return null;
  return h("dl", { class: "said" }, said.map(([key, value]) => h("div", null, h("dt", null, key), h("dd", null, folded(value), cutNote(value)))));
}
