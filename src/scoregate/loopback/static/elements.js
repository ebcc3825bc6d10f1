// Elements are made here and nowhere else: whatever is data becomes a text node, never markup.

function nodes(children) {
  return children.flat(9).filter((child) => child !== null && child !== undefined && child !== false);
}

export function h(tag, given, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given ?? {})) {
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

// Only what is another text is written: nothing is announced twice, and nothing flickers.
export function write(place, text) {
  if (place.textContent !== text) place.textContent = text;
}
