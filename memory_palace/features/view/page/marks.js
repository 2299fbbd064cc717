/** Draw what changes with the pointer, over the picture of the plan: rings, and links as curves. */
const Marks = (() => {
  const MOST_CURVES = 120;
  const MOST_NAMES = 24;
  const middleOf = (plan, view, note) => [
    (plan.x[note] + plan.w[note] / 2 - view.x) * view.scale, (plan.y[note] + plan.h[note] / 2 - view.y) * view.scale,
  ];

  /** Where the way from the middle of a note to another leaves its box: titles stay free of curves. */
  function edgeOf(plan, view, note, other) {
    const [x, y] = middleOf(plan, view, note), [ox, oy] = middleOf(plan, view, other);
    const w = (plan.w[note] * view.scale) / 2 + 2, h = (plan.h[note] * view.scale) / 2 + 2;
    const share = Math.min(w / Math.max(Math.abs(ox - x), 1e-6), h / Math.max(Math.abs(oy - y), 1e-6), 0.45);
    return [x + (ox - x) * share, y + (oy - y) * share];
  }

  function draw(pen, plan, view) {
    const selected = State.get("selected"), hovered = State.get("hovered");
    const shown = hovered ?? selected;
    if (shown !== null) drawLinks(pen, plan, view, shown);
    if (hovered !== null && hovered !== selected) ring(pen, plan, view, hovered, Colours.theme().ink, 2.5, 3);
    if (selected !== null) ring(pen, plan, view, selected, Colours.theme().mark, 3, 4);
  }

  function ring(pen, plan, view, note, colour, width, away) {
    const [x, y] = middleOf(plan, view, note);
    const w = Math.max(plan.w[note] * view.scale, 6) + 2 * away, h = Math.max(plan.h[note] * view.scale, 6) + 2 * away;
    for (const [stroke, thick] of [[Colours.theme().halo, width + 3], [colour, width]]) {
      pen.strokeStyle = stroke;
      pen.lineWidth = thick;
      pen.beginPath();
      pen.roundRect(x - w / 2, y - h / 2, w, h, Math.min(w, h) * 0.15 + 2);
      pen.stroke();
    }
  }

  /** What the note links to in full curves, what links to it in broken ones. */
  function drawLinks(pen, plan, view, note) {
    const to = [...new Set(plan.links[note].map(([, target]) => target))].filter((target) => target !== note);
    const from = plan.back[note].filter((source) => !to.includes(source));
    curves(pen, plan, view, to.slice(0, MOST_CURVES).map((target) => [note, target]), Colours.theme().link, []);
    curves(pen, plan, view, from.slice(0, MOST_CURVES).map((source) => [source, note]), Colours.theme().back, [5, 4]);
    const ends = [...to, ...from].slice(0, 2 * MOST_CURVES);
    if (ends.length || note === State.get("selected")) names(pen, plan, view, [note, ...ends].slice(0, MOST_NAMES));
    for (const other of ends) ring(pen, plan, view, other, to.includes(other) ? Colours.theme().link : Colours.theme().back, 1.5, 1);
  }

  /** The titles of notes that are too small to hold them, each where no other is. */
  function names(pen, plan, view, notes) {
    const size = 11.5, { w: width, h: height } = Camera.size();
    const taken = [];
    const isFree = (box) => taken.every((other) => box.x + box.w < other.x || other.x + other.w < box.x || box.y + box.h < other.y || other.y + other.h < box.y);
    for (const note of notes) {
      const [x, y] = middleOf(plan, view, note);
      if (Notes.isCard(plan, view, note) || x < 0 || y < 0 || x > width || y > height) continue;
      const [title] = Places.lines(Places.clean(plan.title[note]), 15, 1);
      if (!title) continue;
      const wide = Places.widthOf(title) * size + 12, high = size * 1.25 + 6, away = (plan.h[note] * view.scale) / 2 + 6;
      const left = Math.min(Math.max(x - wide / 2, 2), Math.max(width - wide - 2, 2));
      const box = [y + away, y - away - high].map((top) => ({ x: left, y: top, w: wide, h: high })).find(isFree);
      if (!box) continue;
      taken.push(box);
      Floor.plate(pen, [title], box.x + wide / 2, box.y + high / 2, size, Colours.theme());
    }
  }

  function curves(pen, plan, view, pairs, colour, dash) {
    pen.lineCap = "round";
    for (const [stroke, width, alpha, pattern] of [[Colours.theme().halo, 4, 0.75, []], [colour, 1.7, 0.95, dash]]) {
      pen.strokeStyle = stroke;
      pen.lineWidth = width;
      pen.globalAlpha = alpha;
      pen.setLineDash(pattern);
      for (const [a, b] of pairs) Floor.curve(pen, ...edgeOf(plan, view, a, b), ...edgeOf(plan, view, b, a));
    }
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  return { draw };
})();
