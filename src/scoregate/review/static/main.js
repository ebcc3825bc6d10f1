// The page: which view is open, what has been said, and the keyboard.

import { battleList, battleView, differs } from "./battles.js";
import { h, show, tell } from "./elements.js";
import * as server from "./server.js";

const work = document.getElementById("work");
const past = [];
let state = null;
let opened = null;
let busy = false;

// The token is in the address that was opened, and has done its work.
history.replaceState(null, "", `/${location.hash}`);

async function safely(act) {
  if (busy) return;
  busy = true;
  try {
    await act();
    tell("");
  } catch (error) {
    tell(error.message);
  } finally {
    busy = false;
  }
}

const rowsOf = () => state.battles;
const at = () => rowsOf().findIndex((row) => row.key === opened?.key);

function next(from) {
  const rows = rowsOf();
  const turned = [...rows.slice(from + 1), ...rows.slice(0, from + 1)];
  return turned.find((row) => !row.said);
}

async function open(key) {
  opened = key ? await server.get("battles", key) : null;
  draw();
  scrollTo(0, 0);
}

function replaced(row) {
  const place = rowsOf().findIndex((each) => each.key === row.key);
  const { key, suite, evaluator, name, said, others } = row;
  if (place >= 0) rowsOf()[place] = { key, suite, evaluator, name, said, others };
}

function judge(battle, said, comment) {
  return safely(async () => {
    const told = await server.put("battles", battle.key, { said, comment });
    past.push({ key: battle.key, said: battle.said, comment: battle.comment });
    replaced(told);
    const from = at();
    if (differs(told)) tell("Somebody said something else of this one.");
    await open(next(from)?.key);
  });
}

function undo() {
  const last = past.pop();
  if (!last) return undefined;
  return safely(async () => {
    const { key, said, comment } = last;
    replaced(said ? await server.put("battles", key, { said, comment }) : await server.drop("battles", key));
    await open(key);
  });
}

function go(step) {
  const rows = rowsOf();
  if (!rows.length) return undefined;
  const place = (at() + step + rows.length) % rows.length;
  return safely(() => open(rows[place].key));
}

function end() {
  const rows = rowsOf();
  if (!rows.length) return [h("h1", null, "Nothing waits for people"), h("p", { class: "quiet" }, "No battle of this run is pending.")];
  const different = rows.filter(differs).length;
  return [
    h("h1", null, "All battles are judged"),
    h("p", null, `${rows.length} of ${rows.length}. `, different ? `Of ${different} others said something else.` : ""),
    h("p", { class: "quiet" }, "`scoregate gate` on this run counts them in."),
    h("p", { class: "steps" }, h("button", { type: "button", class: "plain", disabled: !past.length, onclick: undo }, h("kbd", null, "u"), " Undo")),
  ];
}

function draw() {
  document.getElementById("who").textContent = `${state.reviewer}${state.run ? ` · ${state.run}` : ""}`;
  const view = opened ? battleView(opened, rowsOf(), { judge, undo, go, canUndo: past.length > 0 }) : end();
  show(work, view, rowsOf().length > 0 && battleList(rowsOf(), (key) => safely(() => open(key))));
}

const KEYS = { ArrowLeft: "left", ArrowRight: "right", ArrowDown: "tie" };
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.repeat) return;
  if (event.target.closest?.("input, textarea, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const said = KEYS[event.key];
  const act = said && opened
    ? () => judge(opened, said, document.getElementById("comment").value)
    : { u: undo, j: () => go(1), k: () => go(-1) }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

await safely(async () => {
  state = await server.state();
  await open(next(-1)?.key);
});
document.documentElement.dataset.ready = "yes";
