// Battles: two outputs, without telling which is new.

import { h } from "./elements.js";
import { others, progress, steps, table } from "./parts.js";
import { prose, visible } from "./texts.js";

const format = (decision) => decision;

export function battleView(battle, rows, { judge, undo, go, canUndo }) {
  const comment = h("input", { id: "comment", type: "text", value: battle.comment, maxlength: 10000, autocomplete: "off" });
  const say = (decision) => judge(battle, decision, comment.value);
  const button = (decision, key, words) =>
    h("button", { type: "button", "data-decision": decision, "aria-pressed": String(battle.decision === decision), onclick: () => say(decision) }, h("kbd", null, key), ` ${words}`);
  const view = [
    progress(rows.filter((row) => row.decision).length, rows.length, "battles"),
    h("h1", null, visible(battle.name)),
    h("p", { class: "quiet" }, visible(`${battle.suite} · ${battle.evaluator}`)),
    battle.rubric && h("p", { class: "rubric" }, h("b", null, "Criteria: "), visible(battle.rubric)),
    battle.input && h("section", null, h("h2", null, "Input"), prose(battle.input)),
    h("div", { class: "pair" },
      h("section", { "aria-label": "Left", class: battle.decision === "left" ? "chosen" : null }, h("h2", null, "Left"), prose(battle.left)),
      h("section", { "aria-label": "Right", class: battle.decision === "right" ? "chosen" : null }, h("h2", null, "Right"), prose(battle.right))),
    h("div", { class: "actions" },
      button("left", "←", "Left is better"), button("tie", "↓", "Tie"), button("right", "→", "Right is better")),
    h("p", { id: "others", class: "others" }, others(battle, format)),
    h("p", { class: "comment" }, h("label", { for: "comment" }, "Comment "), comment),
    steps([["k", "Back", () => go(-1)], ["j", "Skip", () => go(1)], ["u", "Undo", undo, !canUndo]]),
  ];
  return { view, keys: { ArrowLeft: () => say("left"), ArrowRight: () => say("right"), ArrowDown: () => say("tie") } };
}

export function battleList(rows, open) {
  const decision = (row) => row.decision ?? h("span", { class: "quiet" }, "waits");
  return table("All battles", ["case", "suite", "you", "others"], rows, (row) => [
    h("button", { type: "button", class: "link", onclick: () => open(row.key) }, visible(row.name)), visible(row.suite), decision(row), others(row, format)]);
}
