// Untrusted texts, made safe to display; and notifications.

import { h } from "./elements.js";

// Control characters, invisible ones and ones that change the direction of text are shown as escapes.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const LONGEST = 200000;

export function visible(text) {
  return text.replace(UNSEEN, (found) => (found === "\r" ? "" : `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`));
}

export function prose(text, given) {
  const shown = text.length > LONGEST ? text.slice(0, LONGEST) : text;
  return [
    h("pre", { class: "text", ...given }, visible(shown)),
    shown !== text && h("p", { class: "quiet" }, `… cut: the first ${LONGEST.toLocaleString("en")} of ${text.length.toLocaleString("en")} characters`),
  ];
}

export function notify(text) {
  const place = document.getElementById("status");
  place.textContent = text;
  place.classList.toggle("on", Boolean(text));
}
