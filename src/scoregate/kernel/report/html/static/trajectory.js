// What an agent did: messages and tool calls, with the first tool call that differs from the base's.

function stepItem(step, differs) {
  const rows = step.call
    ? [["arguments", step.arguments], ["result", step.result], ["error", step.error]].filter(([, value]) => value !== undefined)
    : [["text", step.text]].filter(([, value]) => value !== undefined);
  const title = [step.error !== undefined && sign("warn", "error"), h("small", { class: "role" }, `${step.agent ? `${step.agent} · ` : ""}${step.role ?? "tool"}`), h("span", { class: "step" }, step.title), step.ms !== undefined && h("small", { class: "n" }, duration(step.ms))];
  return h("li", { class: differs ? "differs" : null }, differs && h("p", { class: "cut" }, sign("warn", "note"), "first difference"),
    rows.length ? h("details", null, h("summary", null, title), saidList(rows)) : h("div", { class: "leaf" }, title));
}

// The position of the first tool call of each side that the other side lacks; null if the calls are equal.
function firstDifference(before, now) {
  const [old, fresh] = [before, now].map((one) => one.steps.flatMap((step, at) => (step.call ? [{ call: step.call, at }] : [])));
  for (let at = 0; at < Math.max(old.length, fresh.length); at += 1) {
    if (old[at]?.call !== fresh[at]?.call) return [old[at]?.at ?? -1, fresh[at]?.at ?? -1, at + 1];
  }
  return null;
}

function trajectories(before, now) {
  if (!before && !now) return null;
  const found = before && now && firstDifference(before, now);
  const shown = (one, marked) => [
    h("p", { class: "quiet" }, count(one.steps.filter((step) => step.call).length, "tool call"), one.stop && `; stopped: ${one.stop}`, one.files && `; changed files: ${one.files.join(", ")}`),
    h("ol", { class: "path" }, one.steps.map((step, at) => stepItem(step, at === marked))),
    one.left_out > 0 && h("p", { class: "cut" }, sign("warn", "note"), `${count(one.left_out, "more step")} in run/cases.jsonl.gz`),
    one.missing && h("p", { class: "cut" }, sign("warn", "note"), `Calls may be missing: ${one.missing}`),
  ];
  const lead = before && now && h("p", { class: "quiet" }, found ? `The tool calls differ from the baseline's, from call ${found[2]} on.` : "The tool calls are the same as the baseline's.");
  return section("Trajectory", lead, h("div", { class: before && now ? "panes two" : "panes" },
    before && pane("Baseline", shown(before, found ? found[0] : -1)), now && pane(RUN.base ? RUN.side : null, shown(now, found ? found[1] : -1))));
}
