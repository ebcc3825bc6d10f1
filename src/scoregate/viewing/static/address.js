// What is shown is in the address: the run and what it is held against; after the #, the place in the report.

export function chosen() {
  const given = new URLSearchParams(location.search);
  return { run: given.get("run") ?? "", against: given.get("against") ?? "" };
}

export function addressOf({ run, against }) {
  const told = Object.entries({ run, against }).filter(([, value]) => value);
  return told.length ? `/?${new URLSearchParams(told)}` : "/";
}

// The place in the report stays, so that one case can be looked at in several runs.
export function go(choice, hash = location.hash) {
  history.pushState(null, "", addressOf(choice) + hash);
}

// The place in the report that is read.
export function keep(hash) {
  if (hash !== location.hash) history.replaceState(null, "", `${location.pathname}${location.search}${hash}`);
}

// The token is in the address that was opened, and has done its work.
export function forgetToken() {
  const given = new URLSearchParams(location.search);
  if (!given.has("token")) return;
  given.delete("token");
  history.replaceState(null, "", `/${given.size ? `?${given}` : ""}${location.hash}`);
}
