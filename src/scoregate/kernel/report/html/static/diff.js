// Removed and added words. Source: Myers (1986), Algorithmica 1:251, the greedy form.

const MOST_STEPS = 1200;
const WORDS = /\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu;

// [kind, text] with kind -1 only in the first, 1 only in the second, 0 in both.
function wordDiff(one, other) {
  const [a, b] = [one.match(WORDS) ?? [], other.match(WORDS) ?? []];
  let [start, end] = [0, 0];
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const middle = changed(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return joined([[0, a.slice(0, start).join("")], ...middle, [0, end ? a.slice(-end).join("") : ""]]);
}

function changed(a, b) {
  const whole = [[-1, a.join("")], [1, b.join("")]];
  if (!a.length || !b.length) return whole;
  const most = Math.min(a.length + b.length, MOST_STEPS);
  const reached = new Int32Array(2 * most + 3);
  const trace = [];
  for (let d = 0; d <= most; d += 1) {
    trace.push(reached.slice(most - d, most + d + 3));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && reached[most + k] < reached[most + k + 2]);
      let x = down ? reached[most + k + 2] : reached[most + k] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reached[most + k + 1] = x;
      if (x >= a.length && x - k >= b.length) return walkedBack(a, b, trace, d);
    }
  }
  return whole;
}

// trace[d] holds what diagonals -d - 1 to d + 1 had reached before step d.
function walkedBack(a, b, trace, steps) {
  const found = [];
  let [x, y] = [a.length, b.length];
  for (let d = steps; d >= 0; d -= 1) {
    const at = (k) => trace[d][k + d + 1];
    const k = x - y;
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const from = down ? k + 1 : k - 1;
    const [oldX, oldY] = d ? [at(from), at(from) - from] : [0, 0];
    while (x > oldX && y > oldY) found.push([0, a[(x -= 1, y -= 1, x)]]);
    if (d) found.push(down ? [1, b[(y -= 1)]] : [-1, a[(x -= 1)]]);
  }
  return found.reverse();
}

// Joins neighbours of a kind; a blank between two changes belongs to them.
function joined(parts) {
  const found = [];
  let [gone, come] = ["", ""];
  const flush = () => {
    if (gone) found.push([-1, gone]);
    if (come) found.push([1, come]);
    [gone, come] = ["", ""];
  };
  parts.forEach(([kind, text], at) => {
    if (!text) return;
    const next = parts[at + 1];
    if (kind < 0) gone += text;
    else if (kind > 0) come += text;
    else if ((gone || come) && next && next[0] && !text.trim()) [gone, come] = [gone + text, come + text];
    else {
      flush();
      const last = found.at(-1);
      if (last && !last[0]) last[1] += text;
      else found.push([0, text]);
    }
  });
  flush();
  return found;
}
