// The two lists: the shown run and its baseline.

import { h } from "./elements.js";
import { count } from "./numbers.js";
import { runName } from "./words.js";

const form = document.getElementById("choice");
const AS_REPORTED = "reported";
const NOTHING = "nothing";
const WAIT_MS = 400;
let last = "";

// With the keyboard, users move through a list without wanting each report: a choice is made when the keys rest, at
// once with Enter, and not at all with Escape. Both lead back to the report.
export function onChoice(act, leave) {
  let timer;
  let choice = null;
  const settle = () => {
    clearTimeout(timer);
    if (choice) act(choice);
    choice = null;
  };
  const forget = () => {
    clearTimeout(timer);
    [choice, last] = [null, ""];
  };
  form.addEventListener("change", ({ target }) => {
    clearTimeout(timer);
    choice = { run: form.elements.run.value, against: target.name === "run" ? "" : form.elements.against.value };
    timer = setTimeout(settle, WAIT_MS);
  });
  form.addEventListener("keydown", (event) => {
    const end = { Enter: settle, Escape: forget }[event.key];
    if (!end) return;
    event.preventDefault();
    end();
    leave();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
}

export const focusList = (name) => form.elements[name].focus();
export const isChoosing = () => form.contains(document.activeElement);

// The default baseline of a run.
export function usual(run, state) {
  if (state.baseline && state.baseline !== run.key) return state.baseline;
  return run.reported && !state.baseline ? AS_REPORTED : NOTHING;
}

function asReported({ since }) {
  return since ? `as reported, without ${count(since, "later verdict")}` : "as reported";
}

export function draw(state, run, against) {
  form.hidden = !state.runs.length;
  const all = state.runs.map((each) => [each.key, runName(each)]);
  const words = [run?.reported && [AS_REPORTED, asReported(run)], [NOTHING, "nothing"]].filter(Boolean);
  const lists = { run: [!run && ["", "the run in progress"], ...all].filter(Boolean), against: [...words, ...all.filter(([key]) => key !== run?.key)] };
  form.elements.against.closest("label").hidden = !run;
  const drawn = JSON.stringify([lists, run?.key, against]);
  if (drawn === last) return;
  last = drawn;
  for (const [name, options] of Object.entries(lists)) {
    form.elements[name].replaceChildren(...options.map(([value, text]) => h("option", { value }, text)));
  }
  form.elements.run.value = run?.key ?? "";
  form.elements.against.value = against;
}
