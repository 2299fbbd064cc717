/** What a mouse, a pen and fingers do on the plan: drag, wheel, pinch, point, click. */
(() => {
  const canvas = document.getElementById("canvas"), tip = document.getElementById("tip");
  const SLACK = 5; // pixels that a click may move
  const down = new Map(); // pointer -> where it is
  let moved = 0;
  let isOver = false; // a pointer is over the plan

  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return { left: event.clientX - box.left, top: event.clientY - box.top };
  };
  const noteAt = ({ left, top }) => Places.at(State.get("plan"), Camera.toPlan(left, top));

  /** Name the note under the pointer; its words are text, and keep their direction to themselves. */
  function showTip(note, point) {
    tip.hidden = note === null;
    if (note === null) return;
    const plan = State.get("plan");
    const title = document.createElement("bdi"), where = document.createElement("small");
    title.textContent = Places.clean(plan.title[note]);
    const room = plan.rooms[plan.room[note]].title;
    where.textContent = plan.day[note] === null ? room : `${room} · ${Colours.asDay(plan.day[note])}`;
    tip.replaceChildren(title, where);
    const { w, h } = Camera.size();
    tip.style.left = `${Math.max(Math.min(point.left + 14, w - tip.offsetWidth - 6), 6)}px`;
    tip.style.top = `${point.top + 18 + tip.offsetHeight > h ? point.top - tip.offsetHeight - 10 : point.top + 18}px`;
  }

  function hover(event) {
    const note = event.pointerType === "touch" ? null : noteAt(at(event));
    State.set({ hovered: note });
    showTip(note, at(event));
    canvas.style.cursor = note === null ? "grab" : "pointer";
  }

  function pinch(event, before) {
    const [one, other] = [...down.values()];
    const point = at(event);
    const still = one === before ? other : one;
    const middle = { left: (point.left + still.left) / 2, top: (point.top + still.top) / 2 };
    const length = (a, b) => Math.max(Math.hypot(a.left - b.left, a.top - b.top), 10);
    Camera.panBy((point.left - before.left) / 2, (point.top - before.top) / 2);
    Camera.zoomBy(length(point, still) / length(before, still), [middle.left, middle.top], false);
  }

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    if (down.size === 0) moved = 0;
    down.set(event.pointerId, at(event));
    tip.hidden = true;
  });

  canvas.addEventListener("pointermove", (event) => {
    const before = down.get(event.pointerId);
    if (!State.get("plan")) return;
    isOver = event.pointerType !== "touch";
    if (!before) return hover(event);
    const point = at(event);
    moved += Math.hypot(point.left - before.left, point.top - before.top) + (down.size > 1 ? SLACK : 0);
    if (down.size === 2) pinch(event, before);
    else if (moved > SLACK) Camera.panBy(point.left - before.left, point.top - before.top);
    down.set(event.pointerId, point);
  });

  function lift(event) {
    const wasClick = down.size === 1 && down.has(event.pointerId) && moved <= SLACK && event.type === "pointerup";
    down.delete(event.pointerId);
    if (!wasClick || !State.get("plan")) return;
    const note = noteAt(at(event));
    if (note !== null) State.set({ selected: note });
  }
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);

  canvas.addEventListener("pointerleave", () => {
    isOver = false;
    State.set({ hovered: null });
    tip.hidden = true;
  });

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? 300 : 1);
    const { left, top } = at(event);
    Camera.zoomBy(Math.exp(-Math.max(Math.min(pixels, 200), -200) * (event.ctrlKey ? 0.01 : 0.0018)), [left, top], false);
  }, { passive: false });

  for (const [id, act] of [["zoom-in", () => Camera.zoomBy(1.6)], ["zoom-out", () => Camera.zoomBy(1 / 1.6)], ["fit", () => Camera.fit()]]) {
    document.getElementById(id).addEventListener("click", act);
  }

  // The keyboard and the list of results walk without a pointer: what they stand on is named as well.
  State.on("hovered", (note) => {
    if (isOver) return;
    const plan = State.get("plan");
    if (note === null || !plan) return showTip(null);
    const { view } = Camera;
    showTip(note, { left: (plan.x[note] + plan.w[note] / 2 - view.x) * view.scale, top: (plan.y[note] + plan.h[note] - view.y) * view.scale });
  });
})();
