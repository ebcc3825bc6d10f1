// What the views share: progress, steps, tables.

import { h, show } from "./elements.js";
import { visible } from "./texts.js";

const AT_ONCE = 200;

export function differs(row) {
  return row.others.some((each) => each.decision !== row.decision);
}

// Reviews by others; `format` turns a review into text.
export function others(row, format) {
  if (!row.others.length) return [];
  return [
    row.others.map((each) => `${visible(each.by) || "unknown"}: ${format(each.decision)}`).join(", "),
    differs(row) && h("b", { class: "warn" }, " ≠ differs"),
  ];
}

export function progress(done, all, what) {
  return h("p", { class: "progress" },
    h("progress", { max: all, value: done, "aria-label": `${what} reviewed` }), ` ${done} of ${all} ${what}`);
}

export function steps(found) {
  return h("p", { class: "steps" }, found.map(([key, words, act, disabled]) =>
    h("button", { type: "button", class: "plain", disabled, onclick: act }, h("kbd", null, key), ` ${words}`)));
}

// Rows are created when the list is opened, some at a time: there may be ten thousand.
export function table(title, headings, rows, cells) {
  const body = h("tbody");
  const more = h("p");
  const add = () => {
    const from = body.children.length;
    body.append(...rows.slice(from, from + AT_ONCE).map((row) => h("tr", null, cells(row).map((cell) => h("td", null, cell)))));
    const left = rows.length - body.children.length;
    show(more, left > 0 && h("button", { type: "button", class: "plain", onclick: add }, `Show ${Math.min(left, AT_ONCE)} of ${left} more`));
  };
  return h("details", { class: "all", ontoggle: (event) => event.target.open && !body.children.length && add() },
    h("summary", null, `${title} (${rows.length.toLocaleString("en")})`),
    h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": title },
      h("table", null, h("thead", null, h("tr", null, headings.map((each) => h("th", { scope: "col" }, each)))), body)), more);
}
