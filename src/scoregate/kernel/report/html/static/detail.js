// The details of a case: the baseline next to the run.

class Detail {
  constructor(suites, { close, step, repeat }) {
    this.suites = suites;
    this.repeat = repeat;
    this.title = h("h2", { id: "case-title", tabindex: -1 });
    this.content = h("div", { class: "content" });
    this.where = h("span", { class: "where quiet" });
    const bar = h("div", { class: "bar" }, this.where,
      h("button", { type: "button", onclick: () => step(-1) }, "Previous ", h("kbd", null, "k")),
      h("button", { type: "button", onclick: () => step(1) }, "Next ", h("kbd", null, "j")),
      h("button", { type: "button", onclick: close }, "Close ", h("kbd", null, "esc")));
    this.element = h("dialog", { "aria-labelledby": "case-title", onclick: (event) => event.target === this.element && close() }, h("article", null, bar, this.title, this.content));
    this.element.addEventListener("cancel", (event) => { event.preventDefault(); close(); });
  }

  async show(found, state, { at, of }) {
    const opened = (this.opened = `${found.key} ${state.repeat}`);
    const [now, before] = await Promise.all([trials(found.places), trials(found.oldPlaces)]);
    if (this.opened !== opened) return;
    this.where.textContent = at < 0 ? "" : `${commas(at + 1)} of ${commas(of)}`;
    const [words, kind] = changeOf(found);
    this.title.replaceChildren(sign(kind, words), found.name);
    this.content.replaceChildren(...this.#parts(found, state, now, before).filter(Boolean));
    if (!this.element.open) this.element.showModal();
    this.element.scrollTop = 0;
    this.title.focus({ preventScroll: true });
  }

  close() {
    this.opened = "";
    if (this.element.open) this.element.close();
  }

  #parts(found, state, now, before) {
    const suite = this.suites[found.suite];
    const chosen = Math.min(Number(state.repeat) || 0, Math.max(now.length, before.length, 1) - 1);
    const [trial, old] = [now[chosen], before[chosen] ?? before[0]];
    return [
      this.#lead(found, suite),
      this.#repeats(now, before, chosen),
      scoreTable(found, suite, now, before),
      problems(trial, "Errors"),
      problems(old, "Errors in the baseline"),
      trial?.talk || old?.talk ? conversation(old?.talk, trial?.talk) : null,
      this.#output(trial, old),
      gallery("Images and recordings of the output", old?.media?.output, trial?.media?.output),
      trial?.input || old?.input ? section("Input", sideBySide(old?.input, trial?.input)) : null,
      gallery("Images and recordings of the input", old?.media?.input, trial?.media?.input),
      opinions(trial, old),
      traces(old?.trace, trial?.trace),
      trajectories(old?.path, trial?.path),
      this.#spending(trial, old),
    ];
  }

  #lead(found, suite) {
    const tags = found.tags.map((tag) => h("i", { class: "tag" }, tag));
    return h("p", { class: "lead" }, h("span", { class: "name" }, suite.label), ` · ${changeOf(found)[0]} `, found.tries && `(${found.tries}) `, tags, suite.place && h("span", null, " · ", link(suite.place, suite.url)));
  }

  #output(trial, old) {
    const [fresh, was] = [trial?.talk ? undefined : trial?.output, old?.talk ? undefined : old?.output];
    if ((fresh ?? was) === undefined) return null;
    const cut = [trial, old].some((one) => one?.cut) && h("p", { class: "cut" }, sign("warn", "note"), "the record holds only the beginning");
    return section("Output", sideBySide(was, fresh), cut);
  }

  #repeats(now, before, chosen) {
    const most = Math.max(now.length, before.length);
    if (most < 2) return null;
    const buttons = Array.from({ length: most }, (_, at) => h("button", { type: "button", "aria-pressed": String(at === chosen), onclick: () => this.repeat(at) },
      `${at + 1} `, now[at] && sign({ passed: "pass", failed: "fail", errored: "warn" }[now[at].status] ?? "same", now[at].status)));
    return h("p", { class: "repeats", role: "group", "aria-label": "Repeats" }, h("span", { class: "quiet" }, "Repeat"), buttons);
  }

  #spending(trial, old) {
    const tokens = (usage) => (usage ? `${commas(usage.input)} in, ${commas(usage.output)} out${usage.cached_tokens ? `, ${commas(usage.cached_tokens)} of them cached` : ""}` : NONE);
    const rows = [
      ["Time", (one) => duration(one.ms)], ["Tokens", (one) => tokens(one.usage)], ["Cost", (one) => cost(one.usage?.cost)],
      ["Model", (one) => one.usage?.model ?? NONE], ["Attempts", (one) => String(one.attempts ?? NONE)],
      ["Without a score", (one) => one.unscored?.join(", ") ?? NONE], ["Waiting for review", (one) => one.pending?.join(", ") ?? NONE],
    ];
    const sides = [old, trial].filter(Boolean);
    const shown = rows.filter(([, read]) => sides.some((one) => read(one) !== NONE));
    return section("Time, tokens and cost", h("table", null,
      h("thead", null, h("tr", null, h("td", null), old && h("th", { scope: "col", class: "n" }, "Baseline"), trial && h("th", { scope: "col", class: "n" }, RUN.base ? RUN.side : ""))),
      h("tbody", null, shown.map(([name, read]) => h("tr", null, h("th", { scope: "row" }, name), sides.map((one) => h("td", { class: "n" }, read(one))))))));
  }
}
