// What the page asks of its own machine.

async function ask(path, method, body) {
  let answer;
  try {
    answer = await fetch(path, { method, body: body && JSON.stringify(body), headers: body && { "Content-Type": "application/json" } });
  } catch {
    throw new Error("scoregate review does not answer: has it ended?");
  }
  if (answer.status === 403) throw new Error(await answer.text());
  if (answer.status === 204) return null;
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error ?? `status ${answer.status}`);
  return told;
}

const at = (room, key) => `/${room}/${encodeURIComponent(key)}`;

// Null where nobody has said anything since the state of this mark.
export const state = (mark = "") => ask(`/state?mark=${encodeURIComponent(mark)}`, "GET");
export const get = (room, key) => ask(at(room, key), "GET");
export const put = (room, key, body) => ask(at(room, key), "POST", body);
export const drop = (room, key) => ask(at(room, key), "DELETE");
