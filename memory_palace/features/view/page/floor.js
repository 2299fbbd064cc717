/** Draw the rooms: floors, names and what their districts are about. */
const Floor = (() => {
  const HEAD = 0.022, LINE = 0.013; // height of a room's name and of a district's label, as layout.py leaves it
  let heads = []; // height above the notes of each room, for its name

  function start(plan) {
    heads = plan.rooms.map((room) => Math.min(HEAD, room.h / 5));
  }

  /** The floors of the rooms, in a breath of their colours, below the notes. */
  function drawFloors(pen, plan, view) {
    const colours = Colours.theme();
    plan.rooms.forEach((room, r) => {
      const [x, y, w, h] = onScreen(room, view);
      pen.beginPath();
      pen.roundRect(x, y, w, h, Math.min(w, h, 140) * 0.07);
      for (const [colour, alpha] of [[colours.floor, 1], [Colours.ofRoom(r), 0.1]]) {
        pen.globalAlpha = alpha;
        pen.fillStyle = colour;
        pen.fill();
      }
      pen.globalAlpha = 0.45;
      pen.strokeStyle = Colours.ofRoom(r);
      pen.lineWidth = 1;
      pen.stroke();
      pen.globalAlpha = 1;
      if (room.locked && !room.count && Math.min(w, h) > 64) sayLocked(pen, x + w / 2, y + h / 2, room.locked);
    });
  }

  function onScreen(box, view) {
    return [(box.x - view.x) * view.scale, (box.y - view.y) * view.scale, box.w * view.scale, box.h * view.scale];
  }

  /** How many notes of a room are not shown. */
  function sayLocked(pen, x, y, notes) {
    pen.fillStyle = Colours.theme().quiet;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.font = `400 12px ${Places.FONT}`;
    pen.fillText(`${notes} locked`, x, y);
  }

  /** The names of the rooms, each in the strip that is kept for it, and how many notes there are. */
  function drawNames(pen, plan, view) {
    const colours = Colours.theme();
    pen.textBaseline = "middle";
    plan.rooms.forEach((room, r) => {
      const [x, y, w] = onScreen(room, view);
      const strip = Math.max(heads[r] * view.scale, 0);
      const size = Math.min(Math.max(strip * 0.6, 9), 15);
      if (w < 40 || strip < 9) return;
      const name = Places.label(room.title, (w - 16) / size);
      if (!name) return;
      const wide = Places.widthOf(name) * size;
      const left = Math.max(x + 8, Math.min(8, x + w - wide - 8)); // it stays in sight as long as its room
      pen.font = `600 ${size}px ${Places.FONT}`;
      pen.textAlign = "left";
      pen.fillStyle = colours.ink;
      pen.fillText(name, left, y + strip / 2 + 1, w - 12);
      const count = room.count ? `${room.count}` : "";
      const after = left + wide + size * 0.6;
      if (after + Places.widthOf(count) * size * 0.8 > x + w - 8) return;
      pen.font = `400 ${size * 0.8}px ${Places.FONT}`;
      pen.fillStyle = colours.quiet;
      pen.fillText(count, after, y + strip / 2 + 1.5);
    });
  }

  /** What parts of a room are about, while notes are too small for titles. */
  function drawDistricts(pen, plan, view, width, height, largest) {
    if (largest > 54) return;
    Object.assign(pen, { textAlign: "left", textBaseline: "middle", fillStyle: Colours.theme().quiet });
    for (const district of plan.districts) {
      const [x, y, w, h] = onScreen(district, view), size = Math.min(Math.max(LINE * view.scale * 0.8, 10), 14);
      if (!district.label || w < 64 || x > width || y > height || x + w < 0 || y + h < 0) continue;
      pen.font = `600 ${size}px ${Places.FONT}`;
      pen.fillText(Places.label(district.label, w / size), x, y - LINE * view.scale * 0.45);
    }
  }

  /** Words on a piece of floor, so that the notes beneath leave them their contrast. */
  function plate(pen, words, x, y, size, colours) {
    const wide = Math.max(...words.map((line) => Places.widthOf(line))) * size + 12, high = words.length * size * 1.25 + 6;
    pen.globalAlpha = 0.88;
    pen.fillStyle = colours.floor;
    pen.beginPath();
    pen.roundRect(x - wide / 2, y - high / 2, wide, high, 6);
    pen.fill();
    pen.globalAlpha = 1;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.font = `500 ${size}px ${Places.FONT}`;
    pen.fillStyle = colours.ink;
    words.forEach((line, n) => pen.fillText(line, x, y + (n - (words.length - 1) / 2) * size * 1.25 + 1));
  }

  /** A soft curve from one point to another, always bent to the left of its way. */
  function curve(pen, ax, ay, bx, by) {
    const bend = 0.16;
    pen.beginPath();
    pen.moveTo(ax, ay);
    pen.quadraticCurveTo((ax + bx) / 2 + (by - ay) * bend, (ay + by) / 2 - (bx - ax) * bend, bx, by);
    pen.stroke();
  }

  return { plate, start, drawFloors, drawNames, drawDistricts, curve, onScreen };
})();
