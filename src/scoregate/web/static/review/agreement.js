// How well judges agree with people, and people with each other.

import { h } from "./elements.js";
import { visible } from "./texts.js";

const rate = (value) => value.toFixed(3);
const range = (value, low, high) =>
  [rate(value), " ", h("span", { class: "quiet" }, low === null ? "too few for an interval" : `[${rate(low)}, ${rate(high)}]`)];

const SOURCES = { sample: "random sample", chosen: "chosen by people" };

function figures(title, headings, rows) {
  return h("section", null, h("h2", null, title), h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": title },
    h("table", null, h("thead", null, h("tr", null, headings.map((each) => h("th", { scope: "col" }, each)))),
      h("tbody", null, rows.map((cells) => h("tr", null, cells.map((cell) => h("td", null, cell))))))));
}

// Items that the reviewer has judged: reviews by others are hidden for the rest.
function between(rows) {
  const both = rows.filter((row) => row.others.length);
  const names = [...new Set(both.map((row) => row.evaluator))];
  return names.map((name) => {
    const own = both.filter((row) => row.evaluator === name);
    return [visible(name), own.length, own.filter((row) => row.others.every((each) => each.decision === row.decision)).length];
  });
}

export function agreementView(state) {
  const people = between([...state.battles, ...state.judges]);
  return [
    h("h1", null, "Agreement"),
    state.agreement.length
      ? figures("Judges and people", ["judge", "source", "overrides", "same score", "accuracy", "kappa"], state.agreement.map((each) => [
        visible(each.evaluator), SOURCES[each.source], each.n, each.matching, range(each.accuracy, each.low, each.high),
        each.kappa ? range(each.kappa.value, each.kappa.low, each.kappa.high) : "not defined"]))
      : h("p", { class: "quiet" }, "There are no corrections or confirmations of a judge yet."),
    state.agreement.length > 0 && h("p", { class: "quiet" }, "Only a random sample shows how reliable all scores of a judge are: ",
      h("code", null, "scoregate review --sample 50"), "."),
    people.length
      ? figures("You and other reviewers", ["scorer", "reviewed by both", "same result"], people)
      : h("p", { class: "quiet" }, "No one else has reviewed the same items."),
  ];
}
