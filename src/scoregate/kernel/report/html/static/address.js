// The state of the page is in its address, after the #: filters, search text, open case.

const STATE = { suite: "", evaluator: "", change: "", tag: "", q: "", deep: "", case: "", repeat: "" };

function readAddress() {
  const given = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  return Object.fromEntries(Object.keys(STATE).map((name) => [name, given.get(name) ?? ""]));
}

function addressOf(state) {
  const given = Object.entries(state).filter(([name, value]) => name in STATE && value !== "");
  return given.length ? `#${new URLSearchParams(given)}` : "#cases=all";
}

// Adds an entry to the history, or replaces it for changes with every key.
function go(state, { replace = false } = {}) {
  const address = addressOf(state);
  if (address === location.hash) return;
  if (!replace) {
    location.hash = address;
    return;
  }
  history.replaceState(null, "", address);
  dispatchEvent(new HashChangeEvent("hashchange"));
}
