/** What keys do. Those of one letter can be switched off, for people who speak to their computer. */
(() => {
  const part = (id) => document.getElementById(id);
  const canvas = part("canvas");
  const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const ASIDE = 2; // how much more a step aside counts than one ahead
  let cursor = null; // the note that the arrow keys are at

  const showHelp = () => part("help").showModal();

  /** The note nearest to a point in one direction, or in any; null where there is none. */
  function nearest(x, y, [right, down], except) {
    const plan = State.get("plan");
    let [best, least] = [null, Infinity];
    for (let i = 0; i < plan.count; i++) {
      if (i === except) continue;
      const dx = plan.x[i] + plan.w[i] / 2 - x, dy = plan.y[i] + plan.h[i] / 2 - y;
      const ahead = dx * right + dy * down;
      const aside = Math.abs(dx * down) + Math.abs(dy * right);
      if ((right || down) && (ahead <= 0 || aside > ahead * ASIDE)) continue;
      const far = right || down ? ahead + aside * ASIDE : Math.hypot(dx, dy);
      if (far < least) [best, least] = [i, far];
    }
    return best;
  }

  /** Move the cursor of the keyboard, from the selected note or the middle of what is in sight. */
  function step(way) {
    const plan = State.get("plan");
    const from = cursor ?? State.get("selected");
    const { w, h } = Camera.size();
    const middle = Camera.toPlan(w / 2, h / 2);
    const next = from === null ? nearest(middle.x, middle.y, [0, 0], null)
      : nearest(plan.x[from] + plan.w[from] / 2, plan.y[from] + plan.h[from] / 2, way, from);
    if (next === null) return;
    cursor = next;
    State.set({ hovered: next });
    Camera.reveal({ x: plan.x[next], y: plan.y[next], w: plan.w[next], h: plan.h[next] });
    part("status").textContent = `${plan.title[next]}, in ${plan.rooms[plan.room[next]].title}`;
  }

  function open() {
    const chosen = cursor ?? State.get("hovered");
    if (chosen === null) return;
    State.set({ selected: chosen });
    Panel.focus();
  }

  function goBack() {
    if (State.phone.matches) return State.goBack();
    if (State.get("selected") !== null) return State.set({ selected: null });
    if (State.get("room") !== null) {
      State.set({ room: null });
      return Camera.fit();
    }
    return State.set({ hovered: null });
  }

  const ANYWHERE = {
    "/": () => part("search").focus(),
    "?": showHelp,
    "+": () => Camera.zoomBy(1.4),
    "=": () => Camera.zoomBy(1.4),
    "-": () => Camera.zoomBy(1 / 1.4),
    0: () => Camera.fit(),
  };

  function press(event) {
    const { key, target } = event;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (!State.get("plan") || part("help").open) return;
    if (key === "Escape") goBack();
    else if (target === canvas && key in WAYS) step(WAYS[key]);
    else if (target === canvas && key === "Enter") open();
    else if (part("keys").checked && key in ANYWHERE && !target.matches("input")) ANYWHERE[key]();
    else return;
    event.preventDefault();
  }

  State.on("selected", (i) => { cursor = i ?? cursor; });
  State.on("plan", () => { cursor = null; });
  canvas.addEventListener("blur", () => State.get("hovered") === cursor && State.set({ hovered: null }));
  addEventListener("keydown", press);
  part("help-button").addEventListener("click", showHelp);
  part("help").addEventListener("click", (event) => event.target === part("help") && part("help").close());
})();
