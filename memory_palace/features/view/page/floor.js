/** Draw the rooms: floors, walls, names, districts and the links between rooms. */
const Floor = (() => {
  const MOST_BUNDLES = 60;
  const CORRIDOR = 0.013; // around all rooms; between them it is as wide
  let heads = []; // height above the notes of each room, for its name
  let doors = [];
  let bundles = [];
  let house = { x: 0, y: 0, w: 1, h: 1 };

  /** The place in the wall towards the middle of the plan where links of a room go out. */
  function doorOf(room, centre) {
    const across = centre.x - (room.x + room.w / 2), down = centre.y - (room.y + room.h / 2);
    if (Math.abs(across) / room.w > Math.abs(down) / room.h) return { x: across > 0 ? room.x + room.w : room.x, y: room.y + room.h / 2 };
    return { x: room.x + room.w / 2, y: down > 0 ? room.y + room.h : room.y };
  }

  function bundlesOf(plan) {
    const counts = new Map();
    plan.links.forEach((links, from) => {
      for (const [, to] of links) {
        const a = plan.room[from], b = plan.room[to];
        if (a !== b) counts.set(`${Math.min(a, b)} ${Math.max(a, b)}`, (counts.get(`${Math.min(a, b)} ${Math.max(a, b)}`) ?? 0) + 1);
      }
    });
    return [...counts].sort((a, b) => b[1] - a[1]).slice(0, MOST_BUNDLES)
      .map(([key, links]) => [...key.split(" ").map((room) => doors[room]), links]);
  }

  function start(plan, bounds) {
    const tops = plan.rooms.map((room) => room.y + room.h);
    for (let i = 0; i < plan.count; i++) tops[plan.room[i]] = Math.min(tops[plan.room[i]], plan.y[i]);
    heads = plan.rooms.map((room, r) => Math.min(tops[r] - room.y, 0.022, room.h / 5));
    house = { x: bounds.x - CORRIDOR, y: bounds.y - CORRIDOR, w: bounds.w + 2 * CORRIDOR, h: bounds.h + 2 * CORRIDOR };
    const centre = { x: bounds.x + bounds.w / 2, y: bounds.y + bounds.h / 2 };
    doors = plan.rooms.map((room) => doorOf(room, centre));
    bundles = bundlesOf(plan);
  }

  /** The house with its corridors and the floors of its rooms, below the notes. */
  function drawFloors(pen, plan, view) {
    const colours = Colours.theme();
    const [left, top, width, height] = onScreen(house, view);
    pen.fillStyle = colours.corridor;
    pen.strokeStyle = colours.wall;
    pen.lineWidth = Math.min(Math.max(view.scale * 0.004, 2), 10);
    pen.fillRect(left, top, width, height);
    pen.strokeRect(left, top, width, height);
    for (const room of plan.rooms) {
      const [x, y, w, h] = onScreen(room, view);
      pen.fillStyle = room.cold || room.locked ? colours.cold : colours.floor;
      pen.fillRect(x, y, w, h);
      if (room.locked && !room.count && Math.min(w, h) > 64) sayLocked(pen, x + w / 2, y + h / 2, room.locked);
    }
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

  /** The walls, above the notes. */
  function drawWalls(pen, plan, view) {
    pen.strokeStyle = Colours.theme().wall;
    pen.lineWidth = Math.min(Math.max(view.scale * 0.0026, 1.5), 7);
    for (const room of plan.rooms) pen.strokeRect(...onScreen(room, view));
  }

  /** The names of the rooms, each in the strip that is kept for it, and how many notes there are. */
  function drawNames(pen, plan, view) {
    const colours = Colours.theme();
    pen.textBaseline = "middle";
    plan.rooms.forEach((room, r) => {
      const [x, y, w] = onScreen(room, view);
      const strip = Math.max(heads[r] * view.scale, 0);
      const size = Math.min(Math.max(strip * 0.56, 9), 22);
      if (w < 40 || strip < 9) return;
      const [name] = Places.lines(Places.clean(room.title), (w - 16) / size, 1);
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

  /** What parts of a room are about, over notes that are too small for titles. */
  function drawDistricts(pen, plan, view, width, height, largest) {
    if (largest > 44) return;
    const colours = Colours.theme();
    const isSearched = State.get("matches") !== null || State.get("span") !== null; // words would cover what was found
    for (const district of plan.districts) {
      const [x, y, w, h] = onScreen(district, view);
      if (w < 60 || x > width || y > height || x + w < 0 || y + h < 0) continue;
      frame(pen, x, y, w, h, colours.line);
      if (isSearched || !district.label || w < 84 || h < 34) continue;
      const size = Math.min(Math.max(w / 15, 10.5), 13.5);
      plate(pen, termsIn(Places.clean(district.label), (w - 20) / size), x + w / 2, y + h / 2, size, colours);
    }
  }

  /** As many of the terms of a label as two lines hold, the first at least in part. */
  function termsIn(label, room) {
    const [first, ...rest] = label.split(" · ");
    const found = Places.lines(first, room, 2);
    for (const term of rest) {
      const longer = `${found.at(-1)} · ${term}`;
      if (Places.widthOf(longer) <= room) found[found.length - 1] = longer;
      else if (found.length < 2 && Places.widthOf(term) <= room) found.push(term);
    }
    return found;
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

  function frame(pen, x, y, w, h, colour) {
    pen.strokeStyle = colour;
    pen.lineWidth = 1;
    pen.setLineDash([3, 4]);
    pen.strokeRect(x, y, w, h);
    pen.setLineDash([]);
  }

  /** Links between rooms, as one band for each pair, where rooms are seen from afar. */
  function drawBundles(pen, view, fitScale) {
    const alpha = 0.42 * Math.min(Math.max(2.4 - view.scale / fitScale, 0), 1);
    if (alpha <= 0 || bundles.length === 0) return;
    const most = bundles[0][2];
    const middle = (door) => [(door.x - view.x) * view.scale, (door.y - view.y) * view.scale];
    pen.save();
    pen.globalAlpha = alpha;
    pen.strokeStyle = Colours.theme().path;
    pen.lineCap = "round";
    for (const [a, b, links] of bundles) {
      pen.lineWidth = 1 + 6 * Math.sqrt(links / most);
      curve(pen, ...middle(a), ...middle(b));
    }
    pen.restore();
  }

  /** A soft curve from one point to another, always bent to the left of its way. */
  function curve(pen, ax, ay, bx, by) {
    const bend = 0.16;
    pen.beginPath();
    pen.moveTo(ax, ay);
    pen.quadraticCurveTo((ax + bx) / 2 + (by - ay) * bend, (ay + by) / 2 - (bx - ax) * bend, bx, by);
    pen.stroke();
  }

  return { plate, start, drawFloors, drawWalls, drawNames, drawDistricts, drawBundles, curve, onScreen };
})();
