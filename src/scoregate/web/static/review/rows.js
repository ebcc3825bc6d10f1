// Rows from traces, to keep or to drop.

import { h } from "./elements.js";
import { progress, steps, table } from "./parts.js";
import { prose, visible } from "./texts.js";

export function rowView(row, rows, { judge, undo, go, canUndo }) {
  const comment = h("input", { id: "comment", type: "text", value: row.comment, maxlength: 10000, autocomplete: "off" });
  const say = (decision) => judge(row, decision, comment.value);
  const button = (decision, key, words) =>
    h("button", { type: "button", "data-decision": decision, "aria-pressed": String(row.decision === decision), onclick: () => say(decision) }, h("kbd", null, key), ` ${words}`);
  const view = [
    progress(rows.filter((each) => each.decision).length, rows.length, "rows"),
    h("h1", null, visible(row.name)),
    row.decision && row.by && h("p", { class: "quiet" }, visible(`${row.decision} · ${row.by}`)),
    row.fields.map((field) => h("section", { "aria-label": visible(field.name) }, h("h2", null, visible(field.name)), prose(field.value, { tabindex: 0 }))),
    h("div", { class: "actions scores" }, button("keep", "y", "Keep"), button("drop", "n", "Drop")),
    h("p", { class: "comment" }, h("label", { for: "comment" }, "Comment "), comment),
    steps([["k", "Back", () => go(-1)], ["j", "Skip", () => go(1)], ["u", "Undo", undo, !canUndo]]),
  ];
  return { view, keys: { y: () => say("keep"), n: () => say("drop") } };
}

export function rowList(rows, open) {
  return table("All rows", ["input", "decision", "by"], rows, (row) => [
    h("button", { type: "button", class: "link", onclick: () => open(row.key) }, visible(row.name)), row.decision ?? h("span", { class: "quiet" }, "waits"), visible(row.by)]);
}
