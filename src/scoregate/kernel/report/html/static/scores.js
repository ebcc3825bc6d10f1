// Scores of a case in both runs, with the spread of repeats, reasons and criteria.

function spreadOf(scores) {
  const known = scores.filter((score) => score !== undefined);
  if (known.length < 2) return null;
  const mean = known.reduce((sum, score) => sum + score, 0) / known.length;
  const spread = Math.sqrt(known.reduce((sum, score) => sum + (score - mean) ** 2, 0) / (known.length - 1));
  return { known, mean, spread };
}

function scoreCell(trials, evaluator) {
  const found = trials.map((trial) => trial.scores?.[evaluator]);
  const repeats = spreadOf(found.map((one) => one?.score));
  if (!repeats) {
    const one = found.find(Boolean);
    if (!one) return h("td", { class: "n" }, NONE);
    const passed = one.passed === undefined ? null : sign(one.passed ? "pass" : "fail", one.passed ? "passed" : "failed");
    return h("td", { class: "n" }, passed, one.shown);
  }
  return h("td", { class: "n" }, short(repeats.mean), h("small", null, ` ± ${short(repeats.spread)}`), h("small", { class: "repeats" }, repeats.known.map(short).join("  ")));
}

function scoreTable(found, suite, now, before) {
  const names = [...new Set([...now, ...before].flatMap((trial) => Object.keys(trial.scores ?? {})))];
  if (!names.length) return null;
  const rows = names.map((name) => {
    const at = suite.evaluators.indexOf(name);
    const gain = at < 0 ? null : gainOf(found, at, suite);
    const threshold = [...now, ...before].map((trial) => trial.scores?.[name]?.threshold).find(Boolean);
    const moved = gain ? (gain < 0 ? "down" : "up") : null;
    return h("tr", null, h("th", { scope: "row" }, name), before.length ? scoreCell(before, name) : null, scoreCell(now, name),
      before.length ? h("td", { class: `n ${gain ? (gain < 0 ? "worse" : "better") : ""}` }, moved && sign(moved, gain < 0 ? "worse" : "better"), gain === null ? (suite.apart[at] ? "not comparable" : NONE) : gain ? signed(gain * (suite.upwards[at] ? 1 : -1)) : "0") : null,
      h("td", { class: "n quiet" }, threshold ?? NONE));
  });
  const heads = ["Scorer", ...(before.length ? ["Baseline", RUN.side, "Change"] : ["Score"]), "Required"];
  return section("Scores", h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Scores" }, h("table", null,
    h("thead", null, h("tr", null, heads.map((words, at) => h("th", { scope: "col", class: at ? "n" : null }, words)))), h("tbody", null, rows))));
}

function criteria(found) {
  if (!found?.criteria?.length) return null;
  return h("ul", { class: "criteria" }, found.criteria.map((each) => h("li", null,
    sign(each.passed ? "pass" : "fail", each.passed ? "met" : "not met"), h("span", null, each.text, each.optional && h("small", null, " optional"), saidList(each.said)))));
}

function opinion(found) {
  if (!found) return h("p", { class: "quiet" }, "no score");
  const details = found.usage ? [found.usage.model, found.usage.cost === undefined ? null : cost(found.usage.cost)].filter(Boolean).join(" · ") : "";
  return [h("p", null, found.passed === undefined ? null : sign(found.passed ? "pass" : "fail", found.passed ? "passed" : "failed"), h("b", null, found.shown), details && h("small", null, ` ${details}`)), criteria(found), saidList(found.said)];
}

function opinions(now, before) {
  const names = Object.keys({ ...now?.scores, ...before?.scores });
  const details = names.filter((name) => [now, before].some((trial) => trial?.scores?.[name]?.said || trial?.scores?.[name]?.criteria));
  if (!details.length) return null;
  return section("Reasons", details.map((name) => h("details", { open: true, class: "reasons" }, h("summary", null, name),
    h("div", { class: before ? "panes two" : "panes" }, before && pane("Baseline", opinion(before.scores?.[name])), now && pane(RUN.base ? RUN.side : null, opinion(now.scores?.[name]))))));
}

function problems(trial, title) {
  if (!trial?.errors?.length) return null;
  return section(title, trial.errors.map((error) => h("details", { class: "reasons", open: true },
    h("summary", null, sign("warn", "error"), error.evaluator ? `${error.evaluator}: ` : "", error.type), error.message && plainText(error.message),
    error.advice && h("p", null, error.advice), error.traceback && plainText(error.traceback))));
}
