// The two lists: which run is shown, and what it is held against.

import { h } from "./elements.js";
import { runName } from "./words.js";

const form = document.getElementById("choice");
const AS_REPORTED = "reported";
const NOTHING = "nothing";
const WAIT_MS = 250;
let last = "";

export function onChoice(act) {
  let timer;
  // Who walks through a list by the keyboard does not want to see every report on the way.
  form.addEventListener("change", (event) => {
    clearTimeout(timer);
    timer = setTimeout(() => act({ run: form.elements.run.value, against: event.target.name === "run" ? "" : form.elements.against.value }), WAIT_MS);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
}

export const focusList = (name) => form.elements[name].focus();
export const isChoosing = () => form.contains(document.activeElement);

// What a run is held against where nobody said it.
export function usual(run, state) {
  if (state.baseline && state.baseline !== run.key) return state.baseline;
  return run.reported && !state.baseline ? AS_REPORTED : NOTHING;
}

export function draw(state, run, against) {
  form.hidden = !state.runs.length;
  const all = state.runs.map((each) => [each.key, runName(each)]);
  const words = [run?.reported && [AS_REPORTED, "as it was reported"], [NOTHING, "nothing"]].filter(Boolean);
  const lists = { run: [!run && ["", "the one that is running"], ...all].filter(Boolean), against: [...words, ...all.filter(([key]) => key !== run?.key)] };
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
