// The page: the open view, the reviews, and the keyboard.

import { agreementView } from "./agreement.js";
import { battleList, battleView } from "./battles.js";
import { h, show } from "./elements.js";
import { judgeList, judgeView, number } from "./judges.js";
import { differs, others, steps } from "./parts.js";
import { rowList, rowView } from "./rows.js";
import * as server from "./server.js";
import { notify, visible } from "./texts.js";

const TABS = {
  battles: { title: "Battles", view: battleView, list: battleList, format: (decision) => decision },
  judges: { title: "Judges", view: judgeView, list: judgeList, format: number },
  rows: { title: "Rows", view: rowView, list: rowList, format: (decision) => decision },
};
const LOOK_AGAIN_MS = 5000;
const work = document.getElementById("work");
const past = [];
let state = null;
let tab = "battles";
let opened = null;
let keys = {};
let running = null;

// The token in the address is not needed any more.
history.replaceState(null, "", "/");

// One thing at a time, in turn.
async function safely(act) {
  while (running) await running;
  running = attempt(act);
  await running;
}

async function attempt(act) {
  try {
    notify("");
    await act();
  } catch (error) {
    notify(error.message);
  } finally {
    running = null;
  }
}

const rows = () => state[tab] ?? [];
const at = () => rows().findIndex((row) => row.key === opened?.key);
const waits = (row) => row.decision === null;

function next(from) {
  return [...rows().slice(from + 1), ...rows().slice(0, from + 1)].find(waits);
}

async function open(key) {
  opened = key ? await server.get(tab, key) : null;
  draw();
  scrollTo(0, 0);
}

async function enter(name) {
  tab = name;
  await open(next(-1)?.key);
}

// Saves a review and remembers the previous one for undo.
function say(before, body) {
  // While a review is being saved, further keys don't count.
  if (running) return undefined;
  return safely(async () => {
    const saved = await server.put(tab, before.key, body);
    past.push({ tab, before });
    const from = at();
    state = (await server.state(state.mark)) ?? state;
    await open(next(from)?.key);
    if (differs(saved)) notify(`Others disagree on ${saved.name.slice(0, 80)}.`);
  });
}

const judge = (battle, decision, comment) => say(battle, { decision, comment });
const correct = (judged, score, comments) => say(judged, { score, comments });

function undo() {
  const last = past.pop();
  if (!last) return undefined;
  return safely(async () => {
    tab = last.tab;
    const { key, decision, comment, comments } = last.before;
    const body = tab === "judges" ? { score: decision, comments } : { decision, comment };
    await (decision === null ? server.drop(tab, key) : server.put(tab, key, body));
    state = (await server.state(state.mark)) ?? state;
    await open(key);
  });
}

function go(step) {
  if (!rows().length) return undefined;
  const place = opened ? at() + step : step < 0 ? -1 : 0;
  return safely(() => open(rows()[(place + rows().length) % rows().length].key));
}

function end() {
  const all = rows().length;
  if (tab === "rows") return endOfRows(all);
  const things = tab === "battles" ? "battles" : "scores of judges";
  if (!all) return [h("h1", null, tab === "battles" ? "No battles to review" : state.withheld ? "Review the battles first" : "No judge gave a score"), h("p", { class: "quiet" }, tab === "judges" && state.withheld ? "Scores of outputs in battles are shown after you review these battles." : `There are no ${things} in this run.`)];
  const withheld = tab === "judges" && state.withheld > 0 && h("p", null, `${state.withheld} more are shown after their battles are reviewed.`);
  const different = rows().filter(differs).length;
  return [
    h("h1", null, `All ${things} are reviewed`),
    withheld,
    different > 0 && h("p", { class: "warn" }, `≠ Others disagree on ${different} of ${all}.`),
    tab === "battles"
      ? h("p", { class: "quiet" }, "These reviews count in ", h("code", null, visible(`scoregate gate ${state.folder}`)), ", and when this run is a baseline.")
      : h("p", { class: "quiet" }, "The tab Agreement shows how often judges and people agree."),
    steps([["u", "Undo", undo, !past.length], ...onwards()]),
  ];
}

function endOfRows(all) {
  if (!all) return [h("h1", null, "No rows to review"), h("p", { class: "quiet" }, "All rows from traces are in the dataset.")];
  const kept = rows().filter((row) => row.decision === "keep").length;
  return [
    h("h1", null, "All rows are reviewed"),
    h("p", { class: "quiet" }, `Kept: ${kept}, dropped: ${all - kept}. The kept rows become a version of the dataset when `, h("code", null, "scoregate review"), " ends: press Ctrl-C in its terminal."),
    steps([["u", "Undo", undo, !past.length]]),
  ];
}

// On to the judges when all battles are reviewed.
function onwards() {
  const left = tab === "battles" ? state.judges.filter(waits).length : 0;
  return left ? [["g", `Continue with ${left.toLocaleString("en")} scores`, goOn]] : [];
}

const goOn = () => safely(() => enter("judges"));

function tabs() {
  const count = (name) => {
    const different = state[name].filter(differs).length;
    return `${state[name].filter((row) => !waits(row)).length}/${state[name].length}${different ? ` ≠${different}` : ""}`;
  };
  const counted = Object.entries(TABS).filter(([name]) => state[name]).map(([name, { title }]) => [name, `${title} ${count(name)}`]);
  const names = [...counted, ...(state.agreement ? [["agreement", "Agreement"]] : [])];
  show(document.getElementById("tabs"), names.map(([name, title]) =>
    h("button", { type: "button", class: "tab", "aria-current": name === tab ? "page" : null, onclick: () => safely(() => enter(name)) }, title)));
}

// Shows new reviews by others without touching text that is being typed.
function news() {
  tabs();
  if (tab === "agreement" || !opened) return;
  const row = rows().find((each) => each.key === opened.key);
  if (row) show(document.getElementById("others"), others(row, TABS[tab].format));
  const list = work.querySelector("details.all");
  if (list && !list.open) list.replaceWith(TABS[tab].list(rows(), openRow));
}

const openRow = (key) => safely(() => open(key));

function draw() {
  document.getElementById("who").textContent = `${state.reviewer}${state.run ? ` · ${state.run}` : ""}`;
  tabs();
  keys = { u: undo, j: () => go(1), k: () => go(-1) };
  if (tab === "agreement") {
    show(work, agreementView(state));
    return;
  }
  const { view, list } = TABS[tab];
  const drawn = opened ? view(opened, rows(), { judge, correct, undo, go, canUndo: past.length > 0 }) : { view: end(), keys: onwards().length ? { g: goOn } : {} };
  keys = { ...keys, ...drawn.keys };
  show(work, drawn.view, rows().length > 0 && list(rows(), openRow));
}

// Looks for reviews by others. A view with text that is being typed stays as it is.
async function lookAgain() {
  if (document.hidden || running) return;
  try {
    const before = state;
    const now = await server.state(before.mark);
    if (running || !now || state !== before) return;
    state = now;
    if (opened) news();
    else draw();
  } catch (error) {
    notify(error.message);
  }
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.repeat) return;
  if (event.target.closest?.("input")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (!Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});

await safely(async () => {
  state = await server.state();
  await enter(state.rows ? "rows" : state.battles.length || !state.judges.length ? "battles" : "judges");
});
setInterval(lookAgain, LOOK_AGAIN_MS);
document.documentElement.dataset.ready = "yes";
