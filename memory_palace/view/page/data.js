/** The plan and the texts of its notes, as the page or its server gives them. */
const Data = (() => {
  const IS_STEM = 0, IS_HEADING = 1; // as packing.py writes them
  const texts = new Map(); // block -> promise of its texts
  let plan = null;
  let starts = []; // the first note of each block
  let ask = null; // (note) -> promise of its text, where a server has them

  /** The bytes of a text that has seven bits in the lower end of each letter. */
  function bytesOf(letters) {
    const bytes = new Uint8Array(Math.floor((letters.length * 7) / 8));
    let held = 0, bits = 0, at = 0; // what is read and not yet written
    for (let i = 0; i < letters.length; i++) {
      held = ((held << 7) | (letters.charCodeAt(i) & 127)) & 0x7fff;
      bits += 7;
      if (bits >= 8) bytes[at++] = held >> (bits -= 8);
    }
    return bytes;
  }

  /** What packing.py packed. */
  async function unpack(packed) {
    const stream = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  /** The block with this id, which is not kept. */
  function take(id) {
    const element = document.getElementById(id);
    element.remove();
    return unpack(element.textContent);
  }

  const stem = (path) => path.slice(path.lastIndexOf("/") + 1).replace(/\.[^.]*$/, "");

  const heading = (head) => {
    const first = head.split("\n", 1)[0];
    return first.startsWith("# ") ? first.slice(2).replace(/^[ \t\r]+|[ \t\r]+$/g, "") : "";
  };

  /** The first line of a text that is neither empty nor a heading. */
  const firstLine = (head) => head.split("\n").find((line) => line.trim() && !line.startsWith("#"))?.trim() ?? "";

  function paths(column) {
    const all = [];
    for (let i = 0, before = ""; i < column.length; i += 2) {
      before = before.slice(0, column[i]) + column[i + 1];
      all.push(before);
    }
    return all;
  }

  function dense(column, count) {
    const all = Array.from({ length: count }, () => []);
    for (let i = 0; i < column.length; i += 2) all[column[i]] = column[i + 1];
    return all;
  }

  /** Which notes only their file dates: 1, in runs that are written as their lengths, of others first. */
  function undated(lengths, count) {
    const all = new Uint8Array(count);
    let at = 0;
    lengths.forEach((length, n) => all.fill(n % 2, at, (at += length)));
    return all;
  }

  const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
  const VALUES = new Uint8Array(128);
  [...DIGITS].forEach((digit, value) => (VALUES[digit.charCodeAt(0)] = value));

  /** Lists of notes, of which each is written as three digits of 64. */
  function lists([counts, ...digits]) {
    let at = 0;
    const next = () => {
      const [high, middle, low] = digits.map((all) => VALUES[all.charCodeAt(at)]);
      at += 1;
      return (high << 12) | (middle << 6) | low;
    };
    return counts.map((count) => Array.from({ length: count }, next));
  }

  /** What each note links to, with the target as it is written there. */
  function readLinks(packed, stems) {
    const links = lists(packed.links).map((targets) => targets.map((target) => [stems[target], target]));
    dense(packed.targets, links.length).forEach((odd, note) => {
      for (let i = 0; i < odd.length; i += 2) links[note][odd[i]][0] = odd[i + 1];
    });
    return links;
  }

  function backlinks(links) {
    const back = links.map(() => []);
    links.forEach((targets, from) => {
      for (const [, to] of targets) if (to !== from && back[to].at(-1) !== from) back[to].push(from);
    });
    return back;
  }

  const lengths = (column, units) => Float32Array.from(column, (value) => value / units);

  function readNotes(packed, { units, day }) {
    const path = paths(packed.path);
    const count = path.length;
    const stems = path.map(stem);
    const cold = new Uint8Array(count);
    for (const note of packed.cold) cold[note] = 1;
    const links = readLinks(packed, stems);
    const title = packed.title.map((given, note) =>
      given === IS_STEM ? stems[note] : given === IS_HEADING ? heading(packed.head[note]) : given);
    return {
      count, path, title, cold, links, back: backlinks(links), near: lists(packed.near),
      head: packed.head, first: packed.head.map(firstLine), aliases: dense(packed.aliases, count),
      type: packed.type.map((kind) => packed.types[kind]),
      tags: dense(packed.tags, count).map((all) => all.map((tag) => packed.tagNames[tag])),
      room: packed.room, x: lengths(packed.x, units), y: lengths(packed.y, units),
      w: lengths(packed.w, units), h: lengths(packed.h, units),
      length: packed.length, uses: packed.uses ?? path.map(() => null),
      day: packed.day.map((days) => days + day), changed: packed.changed.map((days) => days + day),
      undated: undated(packed.undated, count), priority: packed.priority, confidence: packed.confidence.map((value) => (value < 0 ? null : value / 100)),
      decay: packed.decay.map((value) => value / 1000),
    };
  }

  /** Turn what packing.py wrote into columns; the i-th of each is of note i. */
  function columns(packed) {
    const { units } = packed;
    const generation = document.documentElement.dataset.live;
    const box = (sides) => Object.fromEntries(["x", "y", "w", "h"].map((name, n) => [name, sides[n] / units]));
    starts = [0];
    for (const notes of packed.blocks) starts.push(starts.at(-1) + notes);
    return {
      ...readNotes(packed.notes, packed),
      title_: packed.title, today: packed.day, textAmount: packed.textAmount, leftOut: packed.leftOut,
      live: generation ? { generation } : null,
      rooms: packed.rooms.map(([name, x, y, w, h, cold, count, locked]) => (
        { name, title: name.split("/").at(-1).replaceAll("_", " ") || packed.title, ...box([x, y, w, h]), cold: !!cold, count, locked })),
      districts: packed.districts.map(([room, x, y, w, h, label, count]) => ({ room, ...box([x, y, w, h]), label, count })),
    };
  }

  /** Unpack the plan, and nothing of the texts. */
  async function open() {
    plan = columns(await take("packed-plan"));
    return plan;
  }

  /** Take another plan, packed as in the page: a server's, after notes have changed. */
  async function read(packed) {
    plan = columns(await unpack(packed));
    return plan;
  }

  /** The Markdown of a note. */
  async function text(note) {
    if (ask) return ask(note);
    let block = 0;
    while (starts[block + 1] <= note) block += 1;
    if (!texts.has(block)) texts.set(block, take(`packed-text-${block}`));
    return plan.head[note] + (await texts.get(block))[note - starts[block]];
  }

  /** Have `source(note)` give the texts from now on: a promise of Markdown. */
  function askOf(source) {
    ask = source;
  }

  return { open, read, text, askOf };
})();
