/** Keep the picture on the canvas: sharp when at rest, and a stretched one while many notes move. */
const Plan = (() => {
  const MANY = 600; // notes in sight from which a gesture stretches the picture instead of drawing
  const CARD_COST = 40; // notes that take as long to draw as one card
  const FEW = 2_000; // notes that are drawn at once when a search changes
  const PAUSE = 180; // milliseconds without a key, after which more notes follow it
  const REST = 110; // milliseconds without movement, after which it is drawn sharp
  const canvas = document.getElementById("canvas");
  const pen = canvas.getContext("2d", { alpha: false });
  const sharp = picture(), whole = picture(); // of what is shown, and of the whole plan
  let plan = null;
  let bounds = { x: 0, y: 0, w: 1, h: 1 };
  let waiting = 0, resting = 0, following = 0;
  let isMoving = false;

  function picture() {
    const surface = document.createElement("canvas");
    return { surface, pen: surface.getContext("2d", { alpha: false }), view: null };
  }

  const ratio = () => Math.min(devicePixelRatio || 1, 3);
  const size = () => ({ width: canvas.width / ratio(), height: canvas.height / ratio() });

  function paint(target, view, { width, height }) {
    const { surface, pen: brush } = target;
    const across = Math.max(Math.round(width * ratio()), 1), down = Math.max(Math.round(height * ratio()), 1);
    if (surface.width !== across || surface.height !== down) [surface.width, surface.height] = [across, down];
    brush.setTransform(ratio(), 0, 0, ratio(), 0, 0);
    brush.globalAlpha = 1;
    brush.fillStyle = Colours.theme().ground;
    brush.fillRect(0, 0, width, height);
    const inSight = Places.inSight(plan, view, width, height);
    const largest = inSight.reduce((most, note) => Math.max(most, plan.w[note] * view.scale), 0);
    Floor.drawFloors(brush, plan, view);
    Notes.draw(brush, plan, view, inSight);
    Floor.drawDistricts(brush, plan, view, width, height, largest);
    Floor.drawNames(brush, plan, view);
    target.view = { ...view };
    return inSight.length;
  }

  /** Copy a picture to the canvas, moved and stretched to where its notes are now. */
  function copy({ surface, view: then }) {
    const { view } = Camera;
    const stretch = view.scale / then.scale;
    pen.drawImage(surface, (then.x - view.x) * view.scale * ratio(), (then.y - view.y) * view.scale * ratio(),
      surface.width * stretch, surface.height * stretch);
  }

  const isAt = ({ view: then }, now) => then && then.x === now.x && then.y === now.y && then.scale === now.scale;

  /** How long it takes to draw a view, in notes without a title. */
  function costOf(view, width, height) {
    const inSight = Places.inSight(plan, view, width, height);
    return inSight.reduce((sum, note) => sum + (Notes.isCard(plan, view, note) ? CARD_COST : 1), 0);
  }

  function drawWhole() {
    const { width, height } = size();
    const scale = Math.min(width / bounds.w, height / bounds.h);
    paint(whole, { x: bounds.x, y: bounds.y, scale }, { width: bounds.w * scale, height: bounds.h * scale });
  }

  /** Show the plan as it is now. */
  function draw() {
    cancelAnimationFrame(waiting);
    waiting = 0;
    if (!canvas.width || !canvas.height) return; // it is not shown, as where a note is printed
    const { view } = Camera;
    const { width, height } = size();
    pen.setTransform(1, 0, 0, 1, 0, 0);
    if (isMoving && sharp.view && costOf(view, width, height) > MANY) {
      if (!whole.view) drawWhole();
      pen.fillStyle = Colours.theme().ground;
      pen.fillRect(0, 0, canvas.width, canvas.height);
      copy(whole);
      copy(sharp);
    } else {
      if (!isAt(sharp, view)) paint(sharp, view, { width, height });
      pen.drawImage(sharp.surface, 0, 0);
    }
    pen.setTransform(ratio(), 0, 0, ratio(), 0, 0);
    Marks.draw(pen, plan, view);
  }

  /** Draw with the next frame. */
  function redraw() {
    waiting = waiting || requestAnimationFrame(draw);
  }

  /** Draw anew: what is on the pictures is no longer so. */
  function repaint() {
    sharp.view = whole.view = null;
    redraw();
  }

  /** Draw with what is looked for now. */
  function choose() {
    clearTimeout(following);
    Notes.choose(plan);
    repaint();
  }

  /** Follow a search: where drawing would hold up the results, once typing pauses. */
  function follow() {
    clearTimeout(following);
    if (plan.count <= FEW) choose();
    else following = setTimeout(choose, PAUSE);
  }

  function move() {
    isMoving = true;
    clearTimeout(resting);
    resting = setTimeout(() => {
      isMoving = false;
      redraw();
    }, REST);
    redraw();
  }

  function resize() {
    canvas.width = Math.round(canvas.clientWidth * ratio());
    canvas.height = Math.round(canvas.clientHeight * ratio());
    sharp.view = whole.view = null;
    Camera.resize();
    isMoving = false; // no gesture: it is drawn sharp
    if (plan) draw(); // at once: a canvas that has changed its size is empty
  }

  function boundsOf({ rooms }) {
    const x = Math.min(...rooms.map((room) => room.x)), y = Math.min(...rooms.map((room) => room.y));
    return {
      x, y, w: Math.max(...rooms.map((room) => room.x + room.w)) - x || 1, h: Math.max(...rooms.map((room) => room.y + room.h)) - y || 1,
    };
  }

  function reveal(note) {
    if (note !== null && note < plan.count) Camera.reveal({ x: plan.x[note], y: plan.y[note], w: plan.w[note], h: plan.h[note] });
  }

  function open(next, before) {
    plan = next;
    bounds = plan.rooms.length ? boundsOf(plan) : bounds;
    Places.resize(plan);
    Notes.choose(plan);
    Floor.start(plan);
    if (before === null) {
      canvas.width = Math.round(canvas.clientWidth * ratio());
      canvas.height = Math.round(canvas.clientHeight * ratio());
    }
    Camera.start(bounds, plan.w.reduce((least, w) => Math.min(least, w), 0.1), before === null);
    repaint();
    if (before !== null) return;
    Camera.onMove(move);
    new ResizeObserver(resize).observe(canvas);
    State.on("hovered", redraw);
    State.on("matches", follow);
    for (const key of ["span", "selected"]) State.on(key, choose);
    Colours.onChange(repaint);
    for (const event of ["beforeprint", "afterprint"]) {
      addEventListener(event, () => {
        Colours.setPaper(event === "beforeprint");
        repaint();
        draw(); // at once: paper does not wait for the next frame
      });
    }
    State.on("selected", (note) => requestAnimationFrame(() => reveal(note))); // once its panel is there
    State.on("room", (room) => room !== null && Camera.show(plan.rooms[room]));
  }

  State.on("plan", open);

  return { draw, redraw, repaint };
})();
