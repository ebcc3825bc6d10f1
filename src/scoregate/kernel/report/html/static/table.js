// The table of cases: only visible rows are created.

const OVERSCAN = 8;

class Table {
  constructor(suites, open) {
    this.suites = suites;
    this.open = open;
    this.cases = [];
    this.at = 0;
    this.taken = false;
    this.state = STATE;
    this.height = this.frame = 0;
    const heads = [["", "Change"], ["Case"], ["Scorer"], [RUN.base ? `Baseline → ${RUN.side}` : "Score", null, "n"], ["Change", null, "n"], ["Output"], ["Time", null, "n"], ["Cost", null, "n"]];
    const head = heads.map(([words, unseen, kind]) => h("th", { scope: "col", class: kind }, unseen ? h("span", { class: "unseen" }, unseen) : words));
    this.body = h("tbody");
    this.table = h("table", { class: RUN.base ? "list" : "list alone", "aria-label": RUN.base ? "Cases, worst change first" : "Cases, lowest scores first" }, h("thead", null, h("tr", { "aria-rowindex": 1 }, head)), this.body);
    this.element = h("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": "Table of cases" }, this.table);
    this.element.addEventListener("scroll", () => this.#soon(), { passive: true });
    addEventListener("resize", () => { this.height = 0; this.#soon(); });
  }

  // `grown`: the same list with more cases; else another list, shown from its top or from the chosen case.
  show(cases, state, { grown }) {
    const kept = this.taken ? cases.indexOf(this.cases[this.at]) : -1;
    [this.cases, this.state, this.taken, this.at] = [cases, state, kept >= 0, Math.max(0, kept)];
    this.table.setAttribute("aria-rowcount", cases.length + 1);
    this.from = -1;
    if (!grown) this.element.scrollTop = 0;
    this.draw();
    if (!grown) this.#reveal();
  }

  // The first step selects the marked case.
  step(by, focus) {
    this.select(this.taken ? this.at + by : this.at, focus);
  }

  select(at, focus) {
    if (!this.cases.length) return;
    this.at = Math.min(Math.max(at, 0), this.cases.length - 1);
    this.taken = true;
    this.#reveal();
    if (!focus) return;
    this.body.querySelector("tr.at a").focus({ preventScroll: true });
    this.element.scrollIntoView({ block: "nearest", behavior: "instant" });
  }

  #reveal() {
    const [top, height] = [this.at * this.height, this.height];
    const heightLeft = this.element.clientHeight - this.table.tHead.offsetHeight;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    if (top + height > this.element.scrollTop + heightLeft) this.element.scrollTop = top + height - heightLeft;
    this.from = -1;
    this.draw();
  }

  #soon() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.draw(); });
  }

  draw() {
    if (!this.height) this.#measure();
    this.#fit();
    const first = Math.max(0, Math.floor(this.element.scrollTop / this.height) - OVERSCAN);
    const last = Math.min(this.cases.length, first + Math.ceil(this.element.clientHeight / this.height) + 2 * OVERSCAN);
    if (first === this.from && last === this.to) return;
    const held = this.body.contains(document.activeElement);
    [this.from, this.to] = [first, last];
    const rows = this.cases.slice(first, last).map((found, offset) => this.#row(found, first + offset));
    this.body.replaceChildren(this.#space(first), ...rows, this.#space(this.cases.length - last), this.cases.length ? "" : this.#none());
    if (held) this.body.querySelector("tr.at a")?.focus({ preventScroll: true });
  }

  #measure() {
    this.body.replaceChildren(this.cases.length ? this.#row(this.cases[0], 0) : this.#none());
    this.height = this.body.firstChild.getBoundingClientRect().height || 40;
    this.frame = Math.ceil(this.table.offsetHeight - this.height);
    this.from = -1;
  }

  #none() {
    return h("tr", { class: "none" }, h("td", { colspan: 8 }, "No case matches."));
  }

  // As high as its rows: the style limits it, and as its size doesn't depend on rows, scrolling moves nothing else.
  #fit() {
    const edges = this.element.offsetHeight - this.element.clientHeight;
    this.element.style.height = `${Math.max(1, this.cases.length) * this.height + this.frame + edges}px`;
  }

  #space(rows) {
    const space = h("tr", { class: "space", "aria-hidden": "true" }, h("td"));
    space.firstChild.style.height = `${rows * this.height}px`;
    return rows ? space : "";
  }

  #row(found, at) {
    const [words, kind] = changeOf(found);
    const suite = this.suites[found.suite];
    const lead = leading(found, this.suites, this.state.evaluator);
    const gain = lead < 0 ? null : gainOf(found, lead, suite);
    const before = found.before && lead >= 0 ? short(found.before[lead]) : NONE;
    const score = found.kind === 6 ? NONE : short(lead < 0 ? null : found.now[lead]);
    const moved = gain === null || Math.abs(gain) < ROUNDING ? "" : gain < 0 ? "worse" : "better";
    const address = addressOf({ ...this.state, case: found.key, repeat: "" });
    return h("tr", { class: at === this.at ? "at" : null, "aria-rowindex": at + 2, onclick: (event) => this.#clicked(event, at) },
      h("td", null, sign(kind, words)),
      h("th", { scope: "row" }, h("a", { href: address }, found.name), h("small", null, suite.label, found.tags.map((tag) => h("i", { class: "tag" }, tag)))),
      h("td", { class: "evaluator" }, lead < 0 ? NONE : suite.evaluators[lead]),
      h("td", { class: "n" }, found.before ? [before, h("span", { class: "to" }, " → ")] : null, score),
      h("td", { class: `n ${moved}` }, gain === null ? NONE : gain ? signed(gain * (suite.upwards[lead] ? 1 : -1)) : "0"),
      h("td", { class: "said" }, found.preview),
      h("td", { class: "n" }, duration(found.ms ?? found.oldMs)),
      h("td", { class: "n" }, cost(found.cost ?? found.oldCost)));
  }

  #clicked(event, at) {
    this.select(at, false);
    if (!event.target.closest("a")) this.open(this.cases[at]);
  }
}
