// Images and players. Their bytes are in the page, in elements that the digest names.

const NOT_KEPT = "not kept with this run";
const NOT_HERE = "not in this page; the file is in run/media";

// `scoregate view` serves the files. Nothing is loaded before a person asks for it.
function served(digest) {
  const isLocal = location.hostname === "127.0.0.1" && location.pathname.startsWith("/report/");
  return isLocal && h("a", { href: `/media/${digest}`, target: "_blank", rel: "noopener" }, "Open");
}

function medium([digest, type, size, name]) {
  const held = document.getElementById(`media-${digest}`);
  const known = held?.dataset.media;
  const label = [name, known ?? type, size].filter(Boolean).join(", ");
  const caption = h("figcaption", null, label, !known && h("small", null, ` (${held ? NOT_KEPT : NOT_HERE}) `, !held && served(digest)));
  if (!known) return h("figure", { class: "medium gone" }, caption);
  const src = `data:${known};base64,${held.textContent}`;
  return h("figure", { class: "medium" }, known.startsWith("image/") ? h("img", { src, alt: label }) : h("audio", { src, controls: true, preload: "metadata", "aria-label": label }), caption);
}

function gallery(title, before, now) {
  if (!before?.length && !now?.length) return null;
  const list = (rows) => h("div", { class: "media" }, rows?.length ? rows.map(medium) : h("p", { class: "quiet" }, "none"));
  const same = JSON.stringify(before) === JSON.stringify(now);
  if (!RUN.base || same) return section(title, list(now ?? before));
  return section(title, h("div", { class: "panes two" }, pane("Baseline", list(before)), pane(RUN.side, list(now))));
}
