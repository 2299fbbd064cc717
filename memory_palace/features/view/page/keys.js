/** What keys do. Those of one letter can be switched off, for people who speak to their computer. */
const Keys = (() => {
  const part = (id) => document.getElementById(id);
  const canvas = part("canvas");
  const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const ASIDE = 2; // how much more a step aside counts than one ahead
  let isOn = true;
  let cursor = null; // the note that the arrow keys are at

  const say = (words) => { part("status").textContent = words; };

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
    say(`${plan.title[next]}, in ${plan.rooms[plan.room[next]].title}`);
  }

  function open() {
    const chosen = cursor ?? State.get("hovered");
    if (chosen === null) return;
    State.set({ selected: chosen });
    Panel.focus();
  }

  function showRoom(by) {
    const { rooms } = State.get("plan");
    const now = State.get("room");
    const next = now === null ? (by > 0 ? 0 : rooms.length - 1) : (now + by + rooms.length) % rooms.length;
    State.set({ room: next });
    Camera.show(rooms[next]);
    say(`${rooms[next].title}, ${rooms[next].count} notes`);
  }

  function goBack() {
    if (State.get("selected") !== null) return State.set({ selected: null });
    if (part("rooms").dataset.open === "yes") {
      Rooms.toggle(false);
      return part("rooms-button").focus();
    }
    if (State.get("room") !== null) {
      State.set({ room: null });
      return Camera.fit();
    }
    return State.set({ hovered: null });
  }

  const ANYWHERE = {
    "/": () => part("search").focus(),
    "?": () => Help.show(),
    "+": () => Camera.zoomBy(1.4),
    "=": () => Camera.zoomBy(1.4),
    "-": () => Camera.zoomBy(1 / 1.4),
    0: () => Camera.fit(),
    "[": () => showRoom(-1),
    "]": () => showRoom(1),
  };

  function press(event) {
    const { key, target } = event;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (!State.get("plan") || part("help").open) return;
    if (key === "Escape") {
      if (target.matches("select")) return;
      goBack();
    } else if (target === canvas && key in WAYS) step(WAYS[key]);
    else if (target === canvas && key === "Enter") open();
    else if (isOn && key in ANYWHERE && !target.matches("input, select, textarea")) ANYWHERE[key]();
    else return;
    event.preventDefault();
  }

  State.on("selected", (i) => { cursor = i ?? cursor; });
  State.on("plan", () => { cursor = null; });
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-label", "Plan of the palace: arrow keys walk from note to note, Enter opens one");
  canvas.addEventListener("blur", () => State.get("hovered") === cursor && State.set({ hovered: null }));
  addEventListener("keydown", press);

  return { isOn: () => isOn, setOn: (value) => { isOn = value; } };
})();
