// Scores of judges, with input and output, to confirm or correct.

import { h, show } from "./elements.js";
import { others, progress, steps, table } from "./parts.js";
import { notify, prose, visible } from "./texts.js";

export const number = (score) => (score === null ? "" : String(Math.round(score * 1e6) / 1e6));

// The selection within one field: the id of the field and the text.
function marked() {
  const selection = getSelection();
  const text = selection.toString();
  const inField = (node) => (node?.nodeType === Node.ELEMENT_NODE ? node : node?.parentElement)?.closest("pre[data-field]");
  const field = inField(selection.anchorNode);
  return text && field && field === inField(selection.focusNode) ? { field_id: field.dataset.field, quoted_text: text } : null;
}

function noteRow(note, redraw, drop) {
  const given = h("input", { type: "text", maxlength: 5000, value: note.comment_text, "aria-label": "Comment on the quoted text" });
  given.addEventListener("input", () => { note.comment_text = given.value; });
  return h("li", null, h("q", null, visible(note.quoted_text)), given,
    h("button", { type: "button", class: "plain", "aria-label": "Remove the quotation", onclick: () => { drop(note); redraw(); } }, "×"));
}

export function judgeView(judged, rows, { correct, undo, go, canUndo }) {
  const notes = judged.comments.filter((each) => each.quoted_text).map((each) => ({ ...each }));
  const general = h("input", { id: "comment", type: "text", maxlength: 5000, autocomplete: "off", value: judged.comments.find((each) => !each.quoted_text)?.comment_text ?? "" });
  const own = h("input", { id: "score", type: "number", min: 0, max: 1, step: "any", value: number(judged.decision ?? judged.score) });
  // In a sample, the judge's score is hidden until the reviewer gives theirs.
  const hidden = judged.score === null;
  const list = h("ul", { class: "notes" });
  const redraw = () => show(list, notes.map((note) => noteRow(note, redraw, (gone) => notes.splice(notes.indexOf(gone), 1))));
  const quote = () => {
    const found = marked();
    if (!found) { notify("Select text in the input or the output first."); return; }
    notes.push({ ...found, comment_text: "" });
    redraw();
    list.lastElementChild.querySelector("input").focus();
  };
  const save = (score) => correct(judged, score, [
    ...notes, ...(general.value ? [{ field_id: "", quoted_text: "", comment_text: general.value }] : [])]);
  const submit = () => (own.value !== "" && own.checkValidity() ? save(own.valueAsNumber) : notify("A score is a number from 0 to 1."));
  own.addEventListener("keydown", (event) => { if (event.key === "Enter") submit(); });
  redraw();
  const choice = ({ value, name }, at) => h("button", { type: "button", "data-score": number(value), "aria-pressed": String(judged.decision === value), onclick: () => save(value) },
    at < 9 && h("kbd", null, at + 1), ` ${name ? `${visible(name)} · ` : ""}${number(value)}`, value === judged.score && h("span", { class: "quiet" }, " judge's score"));
  const named = judged.choices.find(({ value }) => value === judged.score)?.name;
  const fields = (title, found) => found.map((each) => h("section", null,
    h("h2", null, each.name.toLowerCase() === title.toLowerCase() ? title : `${title}: ${visible(each.name)}`), prose(each.value, { "data-field": each.id, tabindex: 0 })));
  const view = [
    progress(rows.filter((row) => row.decision !== null).length, rows.length, "scores"),
    h("h1", null, visible(judged.name)),
    h("p", { class: "quiet" }, visible(`${judged.suite} · ${judged.evaluator}`)),
    h("div", { class: "pair" }, h("div", null, fields("Input", judged.inputs)), h("div", null, fields("Output", judged.outputs))),
    judged.sampled && h("p", { class: "quiet" }, hidden ? "Random sample. You see the judge's score after your review." : "Random sample."),
    !hidden && h("section", { class: "verdict", "aria-label": "The judge" }, h("p", null, "The judge gives ", h("b", null, named ? `${visible(named)} · ${number(judged.score)}` : number(judged.score)), judged.reason && ": "), judged.reason && prose(judged.reason)),
    h("div", { class: "actions scores" }, judged.choices.map(choice),
      !judged.only && [h("label", { for: "score" }, "Score"), own, h("button", { type: "button", onclick: submit }, "Save")]),
    h("p", { id: "others", class: "others" }, others(judged, number)),
    h("p", { class: "comment" }, h("label", { for: "comment" }, "Comment "), general),
    list,
    steps([["q", "Quote the selection", quote], ["k", "Back", () => go(-1)], ["j", "Skip", () => go(1)], ["u", "Undo", undo, !canUndo]]),
  ];
  const keys = Object.fromEntries(judged.choices.slice(0, 9).map(({ value }, at) => [String(at + 1), () => save(value)]));
  return { view, keys: { ...keys, ...(hidden ? {} : { y: () => save(judged.score) }), q: quote } };
}

export function judgeList(rows, open) {
  return table("All scores of judges", ["case", "judge", "its score", "you", "others"], rows, (row) => [
    h("button", { type: "button", class: "link", onclick: () => open(row.key) }, visible(row.name)),
    visible(row.evaluator), row.score === null ? h("span", { class: "quiet" }, "hidden") : number(row.score), row.decision === null ? "" : number(row.decision),
    others(row, number)]);
}
