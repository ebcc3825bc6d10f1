// Elements are made here and nowhere else: whatever is data becomes a text node, never markup.

const SVG = "http://www.w3.org/2000/svg";

function h(tag, given, ...children) {
  const element = tag === "svg" || tag === "use" || tag === "rect" ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(given ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

function sign(kind, words) {
  const named = words ? { role: "img", "aria-label": words } : { "aria-hidden": "true" };
  return h("svg", { class: `sign ${kind}`, ...named }, h("use", { href: `#s-${kind}` }));
}

function link(text, url) {
  return url && url.startsWith("https://") ? h("a", { href: url, rel: "noopener noreferrer" }, text) : text;
}

function section(title, ...children) {
  return h("section", null, h("h3", null, title), ...children);
}
