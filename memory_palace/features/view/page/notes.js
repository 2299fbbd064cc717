/** Draw the notes: as places in their room's colour, and near by as cards with a title. */
const Notes = (() => {
  const CARD = 54; // pixels of width from which a note is a card
  const FADED = 0.16; // what a search or the timeline leaves out
  const BESIDE = 0.7; // what has nothing to do with the note that is open: still to be read
  const UNFOUND = 0.45; // and was not found either
  let matched = null; // 1 for each note that a search found
  let span = null;
  let around = null; // the note that is open and those it is linked with

  function choose(plan) {
    const matches = State.get("matches");
    matched = matches && new Uint8Array(plan.count);
    for (const note of matches ?? []) matched[note] = 1;
    span = State.get("span");
    const selected = State.get("selected");
    around = selected === null ? null : new Set([selected, ...plan.links[selected].map(([, target]) => target), ...plan.back[selected]]);
  }

  /** How strongly a note is drawn. While one is open, its surroundings come before the search. */
  function strengthOf(plan, note) {
    if (around?.has(note)) return 1;
    if (stands(plan, note)) return around && !matched ? BESIDE : 1;
    return around ? UNFOUND : FADED;
  }

  /** Whether a note is among those that are looked for: by a search, by the timeline. */
  function stands(plan, note) {
    if (matched && !matched[note]) return false;
    return !span || (plan.day[note] !== null && plan.day[note] >= span[0] && plan.day[note] <= span[1]);
  }

  const isCard = (plan, view, note) => plan.w[note] * view.scale >= CARD;

  /** Draw those in sight, the faded first; each colour of a strength is set once. */
  function draw(pen, plan, view, inSight) {
    const strengths = [FADED, UNFOUND, BESIDE, 1];
    const places = strengths.map(() => plan.rooms.map(() => []));
    const cards = [];
    for (const note of inSight) {
      if (isCard(plan, view, note)) cards.push(note);
      else places[strengths.indexOf(strengthOf(plan, note))][plan.room[note]].push(note);
    }
    places.forEach((byRoom, n) => {
      pen.globalAlpha = strengths[n];
      byRoom.forEach((notes, room) => fill(pen, plan, view, notes, Colours.ofRoom(room), strengths[n] === 1 && matched !== null));
    });
    for (const note of cards) drawCard(pen, plan, view, note);
    pen.globalAlpha = 1;
  }

  function fill(pen, plan, view, notes, colour, isMatch) {
    pen.fillStyle = colour;
    const least = isMatch ? 6 : 1.3;
    const isRinged = isMatch && notes.length < 400;
    pen.strokeStyle = Colours.theme().ink;
    pen.lineWidth = 1;
    for (const note of notes) {
      const share = isMatch ? 1 : Places.shareOf(note);
      const boxWidth = plan.w[note] * view.scale, boxHeight = plan.h[note] * view.scale;
      const width = Math.max(boxWidth * share, least), height = Math.max(boxHeight * share, least);
      const x = (plan.x[note] - view.x) * view.scale + (boxWidth - width) / 2;
      const y = (plan.y[note] - view.y) * view.scale + (boxHeight - height) / 2;
      if (isRinged) pen.strokeRect(x - 1.5, y - 1.5, width + 3, height + 3);
      if (width < 9) pen.fillRect(x, y, width, height);
      else rounded(pen, x, y, width, height, Math.min(width, height) * 0.18);
    }
  }

  function rounded(pen, x, y, width, height, radius) {
    pen.beginPath();
    pen.roundRect(x, y, width, height, radius);
    pen.fill();
  }

  /** A card: its colour and size as a bar at the left, the title, and near by its first line. */
  function drawCard(pen, plan, view, note) {
    const theme = Colours.theme();
    const [x, y, w, h] = Floor.onScreen({ x: plan.x[note], y: plan.y[note], w: plan.w[note], h: plan.h[note] }, view);
    pen.globalAlpha = strengthOf(plan, note);
    pen.fillStyle = theme.card;
    pen.strokeStyle = theme.line;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.roundRect(x, y, w, h, Math.min(w * 0.06, 8));
    pen.fill();
    pen.stroke();
    pen.fillStyle = Colours.ofRoom(plan.room[note]);
    const alpha = pen.globalAlpha;
    pen.globalAlpha = alpha * 0.13; // a breath of its colour, on which words keep their contrast
    pen.fill();
    pen.globalAlpha = alpha;
    const bar = Math.min(Math.max(w * 0.055, 4), 12), high = (h - 8) * Places.shareOf(note);
    rounded(pen, x + 4, y + h - 4 - high, bar, high, bar / 2.5);
    drawTitle(pen, plan, note, x + bar + 9, y + 4, w - bar - 14, h - 8, theme);
  }

  function drawTitle(pen, plan, note, x, y, w, h, theme) {
    const title = Places.clean(plan.title[note]);
    const size = Math.min(Math.max(w / 8.5, 9.5), 17);
    const most = Math.max(Math.floor(h / (size * 1.22)), 1);
    const words = Places.lines(title, w / size, Math.min(most, 5));
    write(pen, words, x, y, w, size, `500 ${size}px ${Places.FONT}`, theme.ink, Places.isRightToLeft(title));
    const small = Math.min(size * 0.8, 14), used = words.length * size * 1.22 + small * 0.4;
    const more = Math.floor((h - used) / (small * 1.3)) - 1;
    if (w < 92 || more < 1) return;
    const first = Places.clean(Folding.plain(plan.first(note)));
    const rest = first && first !== title ? Places.lines(first, w / small, Math.min(more, 6)) : [];
    write(pen, rest, x, y + used, w, small, `400 ${small}px ${Places.FONT}`, theme.quiet, Places.isRightToLeft(first));
    if (plan.day[note] === null) return;
    write(pen, [Colours.asDay(plan.day[note])], x, y + h - small * 1.25, w, small, `400 ${small}px ${Places.FONT}`, theme.quiet, false);
  }

  function write(pen, words, x, y, w, size, font, colour, isRightToLeft) {
    pen.font = font;
    pen.fillStyle = colour;
    pen.textBaseline = "top";
    pen.direction = isRightToLeft ? "rtl" : "ltr";
    pen.textAlign = isRightToLeft ? "right" : "left";
    words.forEach((line, n) => pen.fillText(line, isRightToLeft ? x + w : x, y + n * size * 1.22 + size * 0.12, w));
    pen.direction = "ltr";
    pen.textAlign = "left";
  }

  return { choose, draw, isCard };
})();
