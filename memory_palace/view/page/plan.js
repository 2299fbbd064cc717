/** Draw the plan on its canvas. */
const Plan = (() => {
  const canvas = document.getElementById("canvas");
  const pen = canvas.getContext("2d", { alpha: false });
  let plan = null;
  let waiting = 0;

  function draw() {
    waiting = 0;
    const { view } = Camera;
    const ratio = devicePixelRatio || 1;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.fillStyle = "#ddd";
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.setTransform(ratio * view.scale, 0, 0, ratio * view.scale, -view.x * view.scale * ratio, -view.y * view.scale * ratio);
    pen.fillStyle = "#fff";
    for (const room of plan.rooms) pen.fillRect(room.x, room.y, room.w, room.h);
    pen.fillStyle = "#68a";
    for (let i = 0; i < plan.count; i++) pen.fillRect(plan.x[i], plan.y[i], plan.w[i] * 0.9, plan.h[i] * 0.9);
    pen.fillStyle = "#c40";
    const chosen = State.get("selected");
    if (chosen !== null) pen.fillRect(plan.x[chosen], plan.y[chosen], plan.w[chosen], plan.h[chosen]);
  }

  function redraw() {
    waiting = waiting || requestAnimationFrame(draw);
  }

  function resize() {
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(canvas.clientHeight * ratio);
    Camera.resize();
  }

  /** The note at a point of the canvas, or null. */
  function noteAt(left, top) {
    const { x, y } = Camera.toPlan(left, top);
    for (let i = 0; i < plan.count; i++) {
      if (x >= plan.x[i] && x < plan.x[i] + plan.w[i] && y >= plan.y[i] && y < plan.y[i] + plan.h[i]) return i;
    }
    return null;
  }

  function boundsOf({ rooms }) {
    const x = Math.min(...rooms.map((room) => room.x)), y = Math.min(...rooms.map((room) => room.y));
    return {
      x, y, w: Math.max(...rooms.map((room) => room.x + room.w)) - x, h: Math.max(...rooms.map((room) => room.y + room.h)) - y,
    };
  }

  State.on("plan", (next, before) => {
    plan = next;
    Camera.start(boundsOf(plan), plan.w.reduce((least, w) => Math.min(least, w), 1), before === null);
    if (before !== null) return redraw();
    Camera.onMove(redraw);
    new ResizeObserver(resize).observe(canvas);
    resize();
    canvas.addEventListener("click", (event) => State.set({ selected: noteAt(event.offsetX, event.offsetY) }));
  });
  for (const key of ["selected", "hovered", "matches", "size", "colour", "span", "theme"]) State.on(key, () => plan && redraw());

  return { redraw, draw, noteAt };
})();
