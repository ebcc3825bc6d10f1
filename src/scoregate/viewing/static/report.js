// The report, in a frame of its own: its keys, its place and its links.

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

// What leads elsewhere opens beside the page: nothing else may be in the frame.
function leave(event) {
  const link = event.target.closest?.("a[href]");
  if (!link || !/^https?:/.test(link.getAttribute("href"))) return;
  event.preventDefault();
  window.open(link.href, "_blank", "noopener,noreferrer");
}

// Somebody who reads further down, or has opened a case, is not to be taken away from it.
export function isAtTop(frame) {
  const inside = frame.contentWindow;
  return inside.scrollY < TOP && !inside.location.hash.includes("=") && !inside.document.querySelector("dialog[open]");
}
