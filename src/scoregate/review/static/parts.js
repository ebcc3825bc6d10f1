// What the views share: how far one is, steps, tables.

import { h } from "./elements.js";

export function progress(done, all, what) {
  return h("p", { class: "progress" },
    h("progress", { max: all, value: done, "aria-label": `${what} judged` }), ` ${done} of ${all} ${what}`);
}

export function steps(found) {
  return h("p", { class: "steps" }, found.map(([key, words, act, disabled]) =>
    h("button", { type: "button", class: "plain", disabled, onclick: act }, h("kbd", null, key), ` ${words}`)));
}

export function table(title, headings, rows) {
  return h("details", { class: "all" }, h("summary", null, title),
    h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": title },
      h("table", null,
        h("thead", null, h("tr", null, headings.map((each) => h("th", { scope: "col" }, each)))),
        h("tbody", null, rows.map((cells) => h("tr", null, cells.map((cell) => h("td", null, cell))))))));
}
