// Keyboard shortcuts: j and k, Enter, / and Escape.

function listen({ step, open, search, leave, enter }) {
  const anywhere = { j: () => step(1), k: () => step(-1), "/": search };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const { target } = event;
    const typing = target.closest?.("input:not([type=checkbox]), select, textarea");
    const action = (target.type === "search" ? { Escape: leave, Enter: enter }
      : typing ? { Escape: () => typing.blur() }
      : target.closest?.("a, button, summary, label, dialog") ? anywhere
      : { ...anywhere, Enter: open })[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
