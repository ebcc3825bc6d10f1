// Starts the page: shows the first cases at once, then the others, and applies the state in the address.

class App {
  constructor(head) {
    this.head = head;
    Object.assign(RUN, { base: head.base, side: head.side });
    this.cases = [];
    this.shown = [];
    this.form = controls(head.suites, () => this.#changed());
    this.status = this.form.querySelector("output");
    this.table = new Table(head.suites, (found) => this.#open(found));
    this.detail = new Detail(head.suites, { close: () => this.#close(), step: (by) => this.#step(by), repeat: (at) => go({ ...readAddress(), repeat: at ? String(at) : "" }, { replace: true }) });
    this.form.elements.clear.addEventListener("click", () => go({ ...STATE }));
  }

  async start(host) {
    host.append(this.form, this.table.element, this.detail.element);
    addEventListener("hashchange", () => this.apply());
    document.querySelectorAll("a[data-cases]").forEach((each) => each.addEventListener("click", () => document.getElementById("cases").scrollIntoView()));
    listen({ step: (by) => this.#step(by), open: () => this.#open(this.shown[this.table.at]), search: () => this.#search(), leave: () => this.#unsearch(), enter: () => this.table.select(this.table.at, true) });
    this.cases = await casesOf(0);
    host.hidden = false;
    document.getElementById("plain").hidden = true;
    await this.apply();
    const rest = Array.from({ length: this.head.blocks - 1 }, (_, at) => casesOf(at + 1));
    for (const block of rest) this.cases = this.cases.concat(await block);
    this.#tags();
    await this.apply();
    document.documentElement.dataset.ready = "all";
  }

  async apply() {
    const state = readAddress();
    for (const name of ["q", "change", "suite", "evaluator", "tag"]) {
      const control = this.form.elements[name];
      if (control.value !== state[name] && document.activeElement !== control) control.value = state[name];
    }
    this.form.elements.deep.checked = state.deep === "1";
    const filters = JSON.stringify([state.q, state.change, state.suite, state.evaluator, state.tag, state.deep]);
    const grown = filters === this.filters;
    if (!grown || this.of !== this.cases.length) await this.#filter(state, filters, { grown });
    await this.#opened(state);
  }

  async #filter(state, filters, { grown }) {
    [this.filters, this.of] = [filters, this.cases.length];
    const hits = state.deep && state.q ? await searchAll(this.cases, state.q, (share) => { this.status.textContent = `searching, ${Math.round(100 * share)}%`; return this.filters === filters; }) : null;
    if (this.filters !== filters) return;
    this.shown = selected(this.cases, this.head.suites, state, hits);
    this.table.show(this.shown, state, { grown });
    this.status.textContent = this.shown.length === this.head.cases ? count(this.head.cases, "case") : `${commas(this.shown.length)} of ${count(this.head.cases, "case")}`;
  }

  async #opened(state) {
    const found = state.case && this.cases.find((one) => one.key === state.case);
    if (!found) {
      const was = this.detail.element.open;
      this.detail.close();
      if (was) this.table.select(this.table.at, true);
      return;
    }
    const at = this.shown.indexOf(found);
    if (at >= 0) this.table.select(at, false);
    await this.detail.show(found, state, { at, of: this.shown.length });
  }

  #changed() {
    const given = new FormData(this.form);
    const state = { ...readAddress(), case: "", repeat: "" };
    for (const name of ["q", "change", "suite", "evaluator", "tag", "deep"]) state[name] = given.get(name) ?? "";
    go(state, { replace: document.activeElement === this.form.elements.q });
  }

  #search() {
    if (this.detail.element.open) return;
    this.form.elements.q.focus({ preventScroll: true });
    this.form.scrollIntoView({ behavior: "instant" });
  }

  #unsearch() {
    const box = this.form.elements.q;
    if (box.value) {
      box.value = "";
      this.#changed();
    }
    box.blur();
  }

  #open(found) {
    if (found) go({ ...readAddress(), case: found.key, repeat: "" });
  }

  #close() {
    go({ ...readAddress(), case: "", repeat: "" });
  }

  #step(by) {
    this.table.step(by, !this.detail.element.open);
    const found = this.shown[this.table.at];
    if (this.detail.element.open && found) go({ ...readAddress(), case: found.key, repeat: "" }, { replace: true });
  }

  #tags() {
    const tags = [...new Set(this.cases.flatMap((found) => found.tags))].sort();
    const control = this.form.elements.tag;
    control.append(...tags.map((tag) => h("option", { value: tag }, tag)));
    control.value = readAddress().tag;
    control.closest("label").hidden = !tags.length;
  }
}

addEventListener("beforeprint", () => document.querySelectorAll("#plain details, #changes ~ details").forEach((each) => { each.open = true; }));
unpack("head-0").then((head) => head.cases && new App(head).start(document.getElementById("app")));
