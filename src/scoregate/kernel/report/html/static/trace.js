// The trace of an agent: a tree of steps with bars for their times.

function stepRow(step, whole) {
  const bar = h("svg", { class: "bar", "aria-hidden": "true", viewBox: "0 0 100 6", preserveAspectRatio: "none" },
    h("rect", { x: (100 * step.at) / whole, y: 1, height: 4, width: Math.max(0.8, (100 * step.ms) / whole) }));
  const title = [step.error !== null && step.error !== undefined && sign("warn", "error"), h("span", { class: "step" }, step.name), bar, h("small", { class: "n" }, duration(step.ms))];
  const details = [...(step.error ? [["error", step.error]] : []), ...step.attributes];
  return details.length ? h("details", null, h("summary", null, title), saidList(details)) : h("div", { class: "leaf" }, title);
}

// The steps come in the order of the tree, each with its depth.
function tree(steps, whole) {
  const root = h("ul", { class: "tree" });
  const open = [root];
  for (const step of steps) {
    const depth = Math.min(step.depth, open.length - 1);
    open.length = depth + 1;
    const item = h("li", null, stepRow(step, whole));
    open[depth].append(item);
    open.push(h("ul"));
    item.append(open[depth + 1]);
  }
  for (const empty of root.querySelectorAll("ul:empty")) empty.remove();
  return root;
}

function traces(before, now) {
  if (!before && !now) return null;
  const shown = (trace) => [tree(trace.steps, Math.max(...trace.steps.map((step) => step.at + step.ms), 0.001)), trace.left_out > 0 && h("p", { class: "cut" }, sign("warn", "note"), `${count(trace.left_out, "more step")} in run/cases.jsonl.gz`)];
  return section("Trace", h("div", { class: before && now ? "panes two" : "panes" }, before && pane("Baseline", shown(before)), now && pane(RUN.base ? RUN.side : null, shown(now))));
}
