// Requests to the local server.

async function ask(path, method, body) {
  let answer;
  try {
    answer = await fetch(path, { method, body: body && JSON.stringify(body), headers: body && { "Content-Type": "application/json" } });
  } catch {
    throw new Error("scoregate review does not respond. Is it still running?");
  }
  if (answer.status === 403) throw new Error(await answer.text());
  if (answer.status === 204) return null;
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error ?? `status ${answer.status}`);
  return content;
}

const at = (tab, key) => `/${tab}/${encodeURIComponent(key)}`;

// Null if there are no new reviews since the state with this mark.
export const state = (mark = "") => ask(`/state?mark=${encodeURIComponent(mark)}`, "GET");
export const get = (tab, key) => ask(at(tab, key), "GET");
export const put = (tab, key, body) => ask(at(tab, key), "POST", body);
export const drop = (tab, key) => ask(at(tab, key), "DELETE");
