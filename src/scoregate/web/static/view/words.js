// Times and runs as text.

import { commas, count } from "./numbers.js";

const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const TIME = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

export function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return [hours ? `${hours} h` : "", hours || minutes ? `${minutes} min` : "", hours ? "" : `${rest} s`].filter(Boolean).join(" ");
}

function when(seconds) {
  const moment = new Date(seconds * 1000);
  const today = moment.toDateString() === new Date().toDateString();
  return today ? TIME.format(moment) : `${DAY.format(moment)} ${TIME.format(moment)}`;
}

// Time, branch, commit, message, then problems.
export function runName(run) {
  const commit = run.commit && `${run.commit}${run.dirty ? "+" : ""}`;
  const marks = [run.failed && `${commas(run.failed)} failed`, run.errored && count(run.errored, "error"), !run.complete && "incomplete"];
  return [when(run.started), run.branch, commit, run.message, ...marks].filter(Boolean).join(" · ");
}

export function progressName({ done, planned }) {
  return planned === null ? count(done, "case") : `${commas(done)} of ${count(planned, "case")}`;
}
