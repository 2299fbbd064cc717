/** What part of the plan is shown: its upper left corner and pixels per unit. */
const Camera = (() => {
  const canvas = document.getElementById("canvas");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const view = { x: 0, y: 0, scale: 1 };
  const MOST_CELLS_ACROSS = 1.2; // as near as it goes: the smallest place fills the screen
  const listeners = [];
  let bounds = { x: 0, y: 0, w: 1, h: 1 };
  let nearest = 1;
  let moving = 0; // the animation under way
  let touched = false; // whether somebody has moved it: until then it follows the size of the window

  const size = () => ({ w: canvas.clientWidth || 1, h: canvas.clientHeight || 1 });
  const onMove = (listen) => listeners.push(listen);

  function scaleOf(box, margin, { w, h } = size()) {
    return Math.min((w - 2 * margin) / box.w, (h - 2 * margin) / box.h);
  }

  /** The size of what no panel lies over: of a sheet below, or one at the right. */
  function free() {
    const { w, h } = size();
    const panel = document.getElementById("panel");
    const kind = panel.hidden ? "" : getComputedStyle(panel).position;
    if (kind !== "fixed" && kind !== "absolute") return { w, h };
    const ours = canvas.getBoundingClientRect(), its = panel.getBoundingClientRect();
    if (kind === "fixed") return { w, h: Math.max(Math.min(h, its.top - ours.top), h * 0.2) };
    return { w: Math.max(Math.min(w, its.left - ours.left), w * 0.2), h };
  }

  /** The view that has `box` in the middle, with `margin` pixels around it. */
  function around(box, margin = 24) {
    const { w, h } = free();
    const scale = Math.min(scaleOf(box, margin, { w, h }), nearest);
    return { x: box.x + box.w / 2 - w / scale / 2, y: box.y + box.h / 2 - h / scale / 2, scale };
  }

  function place(next) {
    const { w, h } = size();
    const least = scaleOf(bounds, 24) / 2;
    view.scale = Math.min(Math.max(next.scale, least), nearest);
    const within = (at, start, length, shown) => Math.min(Math.max(at, start - shown / 2), start + length - shown / 2);
    view.x = within(next.x, bounds.x, bounds.w, w / view.scale);
    view.y = within(next.y, bounds.y, bounds.h, h / view.scale);
    for (const listen of listeners) listen(view);
  }

  const halt = () => {
    cancelAnimationFrame(moving);
    moving = 0;
  };

  /** Go to `next`, in steps where motion is welcome. */
  function goTo(next, duration = 320) {
    halt();
    if (still.matches || document.hidden) return place(next);
    const { w, h } = size();
    const from = { ...view };
    const centre = (v) => ({ x: v.x + w / v.scale / 2, y: v.y + h / v.scale / 2 });
    const a = centre(from), b = centre(next);
    const began = performance.now();
    const step = (now) => {
      const t = Math.min((now - began) / duration, 1);
      const eased = t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2;
      const scale = from.scale * (next.scale / from.scale) ** eased;
      // The middle moves as the width shown does, so that a point between does not run ahead.
      const share = next.scale === from.scale ? eased : (1 / scale - 1 / from.scale) / (1 / next.scale - 1 / from.scale);
      place({ scale, x: a.x + (b.x - a.x) * share - w / scale / 2, y: a.y + (b.y - a.y) * share - h / scale / 2 });
      moving = t < 1 ? requestAnimationFrame(step) : 0;
    };
    moving = requestAnimationFrame(step);
  }

  /** Zoom so that the point at `left`, `top` of the canvas stays where it is. */
  function zoomAt(factor, left, top) {
    const scale = Math.min(Math.max(view.scale * factor, scaleOf(bounds, 24) / 2), nearest);
    return { scale, x: view.x + left / view.scale - left / scale, y: view.y + top / view.scale - top / scale };
  }

  const middle = () => [size().w / 2, size().h / 2];

  function zoomBy(factor, [left, top] = middle(), isSmooth = true) {
    touched = true;
    const next = zoomAt(factor, left, top);
    if (isSmooth) return goTo(next, 180);
    halt();
    place(next);
  }

  function panBy(left, top) {
    touched = true;
    halt();
    place({ ...view, x: view.x - left / view.scale, y: view.y - top / view.scale });
  }

  /** Show the whole plan. */
  function fit(isSmooth = true) {
    touched = false;
    if (isSmooth) goTo(around(bounds));
    else place(around(bounds));
  }

  /** Show a box, such as a room, as large as it goes. */
  function show(box) {
    touched = true;
    goTo(around(box));
  }

  /** Move only as far as needed for a box to be in sight, and near enough to be told from others. */
  function reveal(box) {
    const { w, h } = free();
    const left = (box.x - view.x) * view.scale, top = (box.y - view.y) * view.scale;
    const isNear = box.w * view.scale >= 18;
    if (isNear && left > 20 && top > 20 && left + box.w * view.scale < w - 20 && top + box.h * view.scale < h - 20) return;
    touched = true;
    const scale = Math.min(isNear ? view.scale : 90 / box.w, nearest);
    goTo({ scale, x: box.x + box.w / 2 - w / scale / 2, y: box.y + box.h / 2 - h / scale / 2 });
  }

  /** The point of the plan at a point of the canvas. */
  const toPlan = (left, top) => ({ x: view.x + left / view.scale, y: view.y + top / view.scale });

  /** Move within `box`; `least` is the width of the smallest place in it. */
  function start(box, least, isFirst) {
    bounds = box;
    nearest = (MOST_CELLS_ACROSS * 900) / least;
    if (isFirst) fit(false);
  }

  /** Keep what is shown when the canvas has another size. */
  function resize() {
    if (touched) place(view);
    else fit(false);
  }

  return { view, size, onMove, goTo, zoomBy, panBy, fit, show, reveal, toPlan, start, resize };
})();
