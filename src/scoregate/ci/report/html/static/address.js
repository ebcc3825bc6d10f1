// Every state of the page is in its address, after the #: filters, what is searched for, the open case.

const STATE = { suite: "", evaluator: "", change: "", tag: "", q: "", deep: "", case: "", repeat: "" };

function readAddress() {
  const given = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  return Object.fromEntries(Object.keys(STATE).map((name) => [name, given.get(name) ?? ""]));
}

function addressOf(state) {
  const told = Object.entries(state).filter(([name, value]) => name in STATE && value !== "");
  return told.length ? `#${new URLSearchParams(told)}` : "#cases=all";
}

// A new place to come back to, or, for what changes with every key, the same one.
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
