// The page: a run in progress, a report, or nothing yet; it asks the server regularly.

import { chosen, forgetToken, go } from "./address.js";
import { draw, focusList, isChoosing, onChoice, usual } from "./choice.js";
import { h, show, write } from "./elements.js";
import { liveView } from "./live.js";
import { isAtTop, reportFrame } from "./report.js";
import { progressName, runName } from "./words.js";

const LIVE_MS = 1000;
const QUIET_MS = 2000;
const HIDDEN_MS = 5000;
const work = document.getElementById("work");
const news = document.getElementById("news");
const alone = document.getElementById("alone");
const trouble = document.getElementById("trouble");
let state = null;
let live = null;
let report = null;
let known = null;
let lost = false;

async function ask() {
  let answer;
  try {
    answer = await fetch("/state");
  } catch {
    throw new Error("scoregate view does not respond. Is it still running?");
  }
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

// The run in the address; without one, the newest run, and later ones when they appear.
function asked() {
  const given = chosen();
  const run = state.runs.find((each) => each.key === given.run);
  return { run: run ?? state.runs[0], against: run || !given.run ? given.against : "", fixed: Boolean(run) };
}

function look() {
  const { run, against, fixed } = asked();
  const free = !report || (isAtTop(report.frame) && !isChoosing());
  if (state.live && !fixed && (live || free)) {
    toLive();
  } else if (run && (fixed || !report || free || run.key === report.key)) {
    toReport(run, against || usual(run, state));
  } else if (!run) {
    toNothing();
  }
  showNews(run, fixed);
}

function toLive() {
  if (live?.started !== state.live.started) {
    live = liveView(state.live.started);
    report = null;
    show(work, live.elements);
    work.scrollTo(0, 0);
  }
  live.update(state.live);
  draw(state, null, "");
  title(`${progressName(state.live.whole)} · ${state.live.message ?? "running"}`, "live");
}

function toReport(run, against) {
  const others = state.runs.some((each) => each.key === against) || ["reported", "nothing"].includes(against);
  const base = others ? against : usual(run, state);
  if (report?.key !== run.key || report.against !== base || report.finished !== run.finished) {
    const frame = reportFrame(run.key, base, { title: `Report of ${runName(run)}`, onkey });
    report = { key: run.key, against: base, finished: run.finished, frame };
    lost = live !== null && run.started < live.started;
    live = null;
    write(document.getElementById("announcement"), `Report of ${runName(run)}`);
    const making = h("p", { class: "making quiet" }, "Creating the report…");
    frame.addEventListener("load", () => making.remove());
    show(work, h("h1", { class: "unseen" }, frame.title), making, frame);
  }
  draw(state, run, base);
  alone.href = `/report/${run.key}/${base}`;
  title(runName(run), "report");
}

function toNothing() {
  const ended = live !== null;
  [live, report] = [null, null];
  draw(state, null, "");
  title("no run yet", "nothing");
  show(
    work,
    h("h1", null, ended ? "The run ended without a result" : "No run yet"),
    h("p", null, "Run ", h("code", null, "scoregate run"), " in this project. This page shows its progress, then its report."),
  );
}

function title(text, name) {
  document.title = `${text} · scoregate`;
  document.documentElement.dataset.shown = name;
  alone.hidden = name !== "report";
}

// News are not shown at once if the user reads something else.
function showNews(run, fixed) {
  const newest = state.runs[0]?.key;
  known ??= newest;
  if (!fixed && report && run.key === report.key) known = newest;
  const running = state.live && !live && `A run is in progress: ${progressName(state.live.whole)}`;
  const newer = report && newest !== known && report.key !== newest && "There is a newer run";
  const text = running || newer || (lost ? "The run in progress ended without a result" : "");
  news.hidden = !text;
  if (!text) show(news);
  else if (news.firstChild) write(news.firstChild, text);
  else show(news, h("span", { role: "status" }, text), h("button", { type: "button", onclick: follow }));
  if (text) write(news.lastChild, running || newer ? "Show" : "OK");
}

function choose(choice) {
  go(choice);
  look();
}

// From the lists back to the report.
function toReading() {
  look();
  if (report) report.frame.contentWindow.focus();
  else work.focus();
}

// Follows the newest run from now on.
function follow() {
  [known, report, lost] = [state.runs[0]?.key, null, false];
  go({}, "");
  look();
}

function onkey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.repeat) return;
  if (event.target.closest?.("input, select, textarea")) return;
  const list = { r: "run", b: "against" }[event.key];
  if (!list) return;
  event.preventDefault();
  focusList(list);
}

async function again() {
  try {
    state = await ask();
    write(trouble, "");
    look();
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    write(trouble, error.message);
  }
  setTimeout(again, document.hidden ? HIDDEN_MS : state?.live ? LIVE_MS : QUIET_MS);
}

forgetToken();
onChoice(choose, toReading);
addEventListener("keydown", onkey);
addEventListener("popstate", () => state && look());
await again();
