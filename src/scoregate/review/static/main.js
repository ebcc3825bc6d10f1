// The page: which view is open, what has been said, and the keyboard.

import { agreementView } from "./agreement.js";
import { battleList, battleView } from "./battles.js";
import { h, show } from "./elements.js";
import { judgeList, judgeView, number } from "./judges.js";
import { differs, others, steps } from "./parts.js";
import * as server from "./server.js";
import { tell, visible } from "./texts.js";

const ROOMS = {
  battles: { title: "Battles", view: battleView, list: battleList, word: (said) => said },
  judges: { title: "Judges", view: judgeView, list: judgeList, word: number },
};
const LOOK_AGAIN_MS = 5000;
const work = document.getElementById("work");
const past = [];
let state = null;
let room = "battles";
let opened = null;
let keys = {};
let running = null;

// The token is in the address that was opened, and has done its work.
history.replaceState(null, "", "/");

// One thing at a time, in turn.
async function safely(act) {
  while (running) await running;
  running = attempt(act);
  await running;
}

async function attempt(act) {
  try {
    tell("");
    await act();
  } catch (error) {
    tell(error.message);
  } finally {
    running = null;
  }
}

const rows = () => state[room] ?? [];
const at = () => rows().findIndex((row) => row.key === opened?.key);
const waits = (row) => row.said === null;

function next(from) {
  return [...rows().slice(from + 1), ...rows().slice(0, from + 1)].find(waits);
}

async function open(key) {
  opened = key ? await server.get(room, key) : null;
  draw();
  scrollTo(0, 0);
}

async function enter(name) {
  room = name;
  await open(next(-1)?.key);
}

// Says it, and remembers what was said before; figures follow.
function say(before, body) {
  // Of a battle that is about to go nothing more can be meant.
  if (running) return undefined;
  return safely(async () => {
    const told = await server.put(room, before.key, body);
    past.push({ room, before });
    const from = at();
    state = (await server.state(state.mark)) ?? state;
    await open(next(from)?.key);
    if (differs(told)) tell(`Others said something else of ${told.name.slice(0, 80)}.`);
  });
}

const judge = (battle, said, comment) => say(battle, { said, comment });
const correct = (judged, score, comments) => say(judged, { score, comments });

function undo() {
  const last = past.pop();
  if (!last) return undefined;
  return safely(async () => {
    room = last.room;
    const { key, said, comment, comments } = last.before;
    const body = room === "battles" ? { said, comment } : { score: said, comments };
    await (said === null ? server.drop(room, key) : server.put(room, key, body));
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
  const things = room === "battles" ? "battles" : "scores of judges";
  if (!all) return [h("h1", null, room === "battles" ? "Nothing waits for people" : state.withheld ? "Battles come first" : "No judge gave a score"), h("p", { class: "quiet" }, room === "judges" && state.withheld ? "Scores of outputs in battles can be seen once you have judged those." : `There are no ${things} in this run.`)];
  const withheld = room === "judges" && state.withheld > 0 && h("p", null, `${state.withheld} more can be seen once their battles are judged.`);
  const different = rows().filter(differs).length;
  return [
    h("h1", null, `All ${things} are judged`),
    withheld,
    different > 0 && h("p", { class: "warn" }, `≠ Of ${different} of ${all} others said something else.`),
    room === "battles"
      ? h("p", { class: "quiet" }, "Counted in by ", h("code", null, visible(`scoregate gate ${state.folder}`)), ", and wherever this run is a base.")
      : h("p", { class: "quiet" }, "Agreement tells how often judges and people say the same."),
    steps([["u", "Undo", undo, !past.length], ...onwards()]),
  ];
}

// To judges, once battles are done.
function onwards() {
  const left = room === "battles" ? state.judges.filter(waits).length : 0;
  return left ? [["g", `Go on to ${left.toLocaleString("en")} scores`, goOn]] : [];
}

const goOn = () => safely(() => enter("judges"));

function tabs() {
  const count = (name) => {
    const different = state[name].filter(differs).length;
    return `${state[name].filter((row) => !waits(row)).length}/${state[name].length}${different ? ` ≠${different}` : ""}`;
  };
  const names = [...Object.entries(ROOMS).map(([name, { title }]) => [name, `${title} ${count(name)}`]), ["agreement", "Agreement"]];
  show(document.getElementById("tabs"), names.map(([name, title]) =>
    h("button", { type: "button", class: "tab", "aria-current": name === room ? "page" : null, onclick: () => safely(() => enter(name)) }, title)));
}

// What others said meanwhile, around what somebody may be writing.
function news() {
  tabs();
  if (room === "agreement" || !opened) return;
  const row = rows().find((each) => each.key === opened.key);
  if (row) show(document.getElementById("others"), others(row, ROOMS[room].word));
  const list = work.querySelector("details.all");
  if (list && !list.open) list.replaceWith(ROOMS[room].list(rows(), openRow));
}

const openRow = (key) => safely(() => open(key));

function draw() {
  document.getElementById("who").textContent = `${state.reviewer}${state.run ? ` · ${state.run}` : ""}`;
  tabs();
  keys = { u: undo, j: () => go(1), k: () => go(-1) };
  if (room === "agreement") {
    show(work, agreementView(state));
    return;
  }
  const { view, list } = ROOMS[room];
  const drawn = opened ? view(opened, rows(), { judge, correct, undo, go, canUndo: past.length > 0 }) : { view: end(), keys: onwards().length ? { g: goOn } : {} };
  keys = { ...keys, ...drawn.keys };
  show(work, drawn.view, rows().length > 0 && list(rows(), openRow));
}

// What others say meanwhile. A view in which somebody writes is left as it is.
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
    tell(error.message);
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
  await enter(state.battles.length || !state.judges.length ? "battles" : "judges");
});
setInterval(lookAgain, LOOK_AGAIN_MS);
document.documentElement.dataset.ready = "yes";
