// A run in progress: the progress of each suite, and the cases that do not pass.

import { h, show, write } from "./elements.js";
import { commas, count } from "./numbers.js";
import { clock, progressName } from "./words.js";

const STAGES = { "": "Preparing", run: "Running", base: "Running the baseline" };
const MOST_CASES = 200;
const ANNOUNCE_MS = 10000;
const announcement = document.getElementById("announcement");

export function liveView(started) {
  const view = parts();
  const rows = new Map();
  const seen = new Set();
  let announcedAt = 0;
  let announced = "";

  function update(live) {
    write(view.title, live.message || "A run is in progress");
    write(view.stage, STAGES[live.stage] ?? "Rerunning some cases");
    write(view.done, progressName(live.whole));
    write(view.time, clock(Date.now() / 1000 - live.started));
    for (const name of ["passed", "failed", "errors"]) write(view[name], commas(live.whole[name]));
    for (const name of ["failed", "errors"]) view[name].classList.toggle(name, live.whole[name] > 0);
    write(view.cost, live.whole.cost ? `$${live.whole.cost.toFixed(2)}` : "–");
    bar(view.bar, live.whole);
    suites(live);
    cases(live.failing);
    announce(live);
  }

  function suites(live) {
    view.suites.hidden = !live.suites.length;
    const wanted = live.suites.map((suite, at) => ({ suite, key: `${suite.label} ${live.suites.slice(0, at).filter((other) => other.label === suite.label).length}` }));
    for (const key of rows.keys()) if (!wanted.some((each) => each.key === key)) rows.delete(key);
    for (const { suite, key } of wanted) {
      if (!rows.has(key)) rows.set(key, row(suite.label));
      fill(rows.get(key), suite);
    }
    const elements = wanted.map(({ key }) => rows.get(key).element);
    if (elements.some((each, at) => view.body.children[at] !== each) || view.body.children.length !== elements.length) show(view.body, elements);
    write(view.more, live.hidden ? `… and ${count(live.hidden, "more suite")}` : "");
  }

  function cases(failing) {
    for (const each of failing) {
      const key = JSON.stringify(each);
      if (seen.has(key)) continue;
      seen.add(key);
      view.cases.prepend(h("li", { class: each.failed ? null : "error" }, h("b", null, each.name), h("span", { class: "quiet" }, ` ${each.suite}${each.failed ? "" : " · error"}`), each.why.map((line) => h("p", null, line))));
    }
    while (view.cases.children.length > MOST_CASES) view.cases.lastChild.remove();
    view.failing.hidden = !seen.size;
  }

  // For screen readers: not with every case, but at once if a case did not pass.
  function announce({ whole }) {
    const wrong = `${whole.failed} ${whole.errors}`;
    if (wrong === announced && Date.now() - announcedAt < ANNOUNCE_MS) return;
    [announced, announcedAt] = [wrong, Date.now()];
    write(announcement, `${progressName(whole)}, ${commas(whole.failed)} failed, ${count(whole.errors, "error")}`);
  }

  return { started, update, elements: [view.head, view.suites, view.failing] };
}

function parts() {
  const view = { title: h("h1"), stage: h("p", { class: "quiet" }), bar: h("progress", { "aria-label": "All cases" }), body: h("tbody"), more: h("p", { class: "quiet" }), cases: h("ol", { class: "cases", "aria-label": "Cases that do not pass, the last first" }) };
  for (const name of ["done", "passed", "failed", "errors", "cost", "time"]) view[name] = h("dd");
  const facts = [["Done", "done"], ["Passed", "passed"], ["Failed", "failed"], ["Errors", "errors"], ["Cost", "cost"], ["Time", "time"]];
  view.head = h("div", { class: "head" }, view.stage, view.title, h("dl", { class: "facts" }, facts.map(([title, name]) => h("div", null, h("dt", null, title), view[name]))), view.bar);
  const headings = ["Suite", "Progress", "Done", "Passed", "Failed", "Errors", "Mean scores", "Cost"];
  view.suites = h("div", { class: "wide", role: "region", "aria-label": "Suites", tabindex: "0" }, h("table", null, h("thead", null, h("tr", null, headings.map((text, at) => h("th", { scope: "col", class: at > 1 && at !== 6 ? "n" : null }, text)))), view.body), view.more);
  view.failing = h("div", { hidden: true }, h("h2", null, "Not passed"), view.cases);
  return view;
}

function row(label) {
  const made = { bar: h("progress", { "aria-label": label }), done: h("td", { class: "n" }), means: h("td") };
  for (const name of ["passed", "failed", "errors", "cost"]) made[name] = h("td", { class: "n" });
  made.element = h("tr", null, h("th", { scope: "row" }, label), h("td", { class: "bar" }, made.bar), made.done, made.passed, made.failed, made.errors, made.means, made.cost);
  return made;
}

function fill(made, suite) {
  const { done, planned, cost } = suite.count;
  bar(made.bar, suite.finished ? { done: 1, planned: 1 } : suite.count);
  write(made.done, planned === null || planned === done ? commas(done) : `${commas(done)}/${commas(planned)}`);
  for (const name of ["passed", "failed", "errors"]) {
    write(made[name], commas(suite.count[name]));
    made[name].className = suite.count[name] && name !== "passed" ? `n ${name}` : "n";
  }
  write(made.means, Object.entries(suite.means).map(([who, mean]) => `${who} ${mean.toFixed(3)}`).join(" · "));
  write(made.cost, cost ? `$${cost.toFixed(2)}` : "");
}

// The bar stays empty if the number of cases is unknown.
function bar(element, { done, planned }) {
  element.max = planned || 1;
  element.value = planned ? Math.min(done, planned) : 0;
}
