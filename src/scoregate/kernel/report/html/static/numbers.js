// Numbers as text, in the same forms as in the other reports. Shared like elements.js.

export const NONE = "–";

export function short(value) {
  return value === null || value === undefined ? NONE : String(+value.toFixed(3));
}

export function signed(value) {
  const text = Math.abs(value).toFixed(3);
  return +text ? `${value < 0 ? "−" : "+"}${text}` : "±0";
}

export function duration(ms) {
  if (ms === null || ms === undefined) return NONE;
  if (ms < 0.95) return `${ms.toFixed(2)} ms`;
  if (ms < 999.5) return `${ms.toFixed(0)} ms`;
  if (ms < 59950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
}

export function cost(dollars) {
  if (dollars === null || dollars === undefined) return NONE;
  if (dollars > 0 && dollars < 0.01) return dollars < 0.00001 ? "<$0.00001" : `$${+dollars.toPrecision(2)}`;
  return `$${dollars.toFixed(2)}`;
}

export function commas(number) {
  return number.toLocaleString("en-US");
}

export function count(number, noun) {
  return `${commas(number)} ${noun}${number === 1 ? "" : "s"}`;
}
