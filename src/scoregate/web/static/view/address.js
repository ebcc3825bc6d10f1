// The address holds the shown run and its baseline, and after the # the place in the report.

export function chosen() {
  const given = new URLSearchParams(location.search);
  return { run: given.get("run") ?? "", against: given.get("against") ?? "" };
}

export function addressOf({ run, against }) {
  const given = Object.entries({ run, against }).filter(([, value]) => value);
  return given.length ? `/?${new URLSearchParams(given)}` : "/";
}

// Keeps the place in the report, so that one case can be compared in several runs.
export function go(choice, hash = location.hash) {
  history.pushState(null, "", addressOf(choice) + hash);
}

// Stores the current place in the report.
export function keep(hash) {
  if (hash !== location.hash) history.replaceState(null, "", `${location.pathname}${location.search}${hash}`);
}

// Removes the token, which is not needed any more.
export function forgetToken() {
  const given = new URLSearchParams(location.search);
  if (!given.has("token")) return;
  given.delete("token");
  history.replaceState(null, "", `/${given.size ? `?${given}` : ""}${location.hash}`);
}
