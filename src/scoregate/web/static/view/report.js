// The report in a frame: its keys, its place and its links.

import { keep } from "./address.js";
import { h } from "./elements.js";

const TOP = 40;

export function reportFrame(run, against, { title, onkey }) {
  const frame = h("iframe", { src: `/report/${run}/${against}${location.hash}`, title });
  frame.addEventListener("load", () => alive(frame, onkey));
  return frame;
}

function alive(frame, onkey) {
  const inside = frame.contentWindow;
  inside.addEventListener("hashchange", () => keep(inside.location.hash));
  inside.addEventListener("keydown", onkey);
  inside.document.addEventListener("click", leave);
  if (document.activeElement === document.body || document.activeElement === frame) inside.focus();
  frame.dataset.ready = "yes";
}

// Links to other sites open in a new tab: the frame may hold the report only.
function leave(event) {
  const link = event.target.closest?.("a[href]");
  if (!link || !/^https?:/.test(link.getAttribute("href"))) return;
  event.preventDefault();
  window.open(link.href, "_blank", "noopener,noreferrer");
}

// Users who read further down or opened a case must not lose their place.
export function isAtTop(frame) {
  const inside = frame.contentWindow;
  return inside.scrollY < TOP && !inside.location.hash.includes("=") && !inside.document.querySelector("dialog[open]");
}
