// Conversations, turn by turn.

const ENDINGS = { goal: "the user finished", impossible: "the user gave up", max_turns: "no turns left", tool_limit: "too many tool calls", loop: "the conversation looped", timeout: "timeout" };

function ending(talk) {
  if (!talk) return null;
  const details = [talk.ended ? ENDINGS[talk.ended] ?? talk.ended : "stopped by an error"];
  if (talk.goal !== undefined) details.push(talk.goal ? "goal achieved" : "goal not achieved");
  if (talk.left_out) details.push(`${count(talk.left_out, "turn")} more in run/cases.jsonl.gz`);
  return h("p", { class: "quiet" }, `${count(talk.turns.length, "turn")}; ${details.join(", ")}`, talk.findings && h("ul", null, talk.findings.map((one) => h("li", null, one))));
}

function extras(turn) {
  if (!turn) return null;
  const details = [["why", turn.reasoning && [turn.reasoning]], ["context", turn.context], ["tool call", turn.calls], ["more", turn.more && [turn.more]]];
  const rows = details.flatMap(([name, values]) => (values ?? []).map((value) => [name, value]));
  if (!rows.length && turn.ms === undefined) return null;
  return h("details", { class: "extras" }, h("summary", null, turn.ms === undefined ? "more" : duration(turn.ms)), saidList(rows));
}

function bubbles(who, before, now) {
  return h("div", { class: `turn ${who}` }, h("h4", null, who), sideBySide(before?.[who], now?.[who], { bare: true }));
}

function conversation(before, now) {
  if (!before && !now) return null;
  const longest = Math.max(before?.turns.length ?? 0, now?.turns.length ?? 0);
  const turns = Array.from({ length: longest }, (_, at) => {
    const [old, fresh] = [before?.turns[at], now?.turns[at]];
    return h("li", null, h("h4", { class: "number" }, `Turn ${at + 1}`, before && !old && h("small", null, isOfPullRequest() ? " only in the PR" : " only now"), now && !fresh && h("small", null, " only in the baseline")),
      bubbles("user", old, fresh), bubbles("assistant", old, fresh), h("div", { class: "panes two" }, extras(old), extras(fresh)));
  });
  return section("Conversation", h("div", { class: "panes two" }, before && pane("Baseline", ending(before)), now && pane(RUN.base ? RUN.side : null, ending(now))), h("ol", { class: "talk" }, turns));
}
