// The keyboard: j and k, enter, / and escape.

function listen({ step, search, escape }) {
  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input:not([type=checkbox]), select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") { if (typing) typing.blur(); escape(event); return; }
    if (typing) return;
    const action = { j: () => step(1), k: () => step(-1), "/": search }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
