// Elements are created here only. Data always becomes a text node, never markup.
// Shared by the report, which has one script, and by the local pages, which import it as a module.

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = ["svg", "use", "rect"];

function nodes(children) {
  return children.flat(9).filter((child) => child !== null && child !== undefined && child !== false);
}

export function h(tag, attributes, ...children) {
  const element = SVG_TAGS.includes(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...nodes(children));
  return element;
}

export function show(place, ...children) {
  place.replaceChildren(...nodes(children));
}

// Writes only if the text changes: nothing is announced twice, and nothing flickers.
export function write(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

export function sign(kind, label) {
  const role = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return h("svg", { class: `sign ${kind}`, ...role }, h("use", { href: `#s-${kind}` }));
}

export function link(text, url) {
  return url && url.startsWith("https://") ? h("a", { href: url, rel: "noopener noreferrer" }, text) : text;
}

export function section(title, ...children) {
  return h("section", null, h("h3", null, title), ...children);
}
