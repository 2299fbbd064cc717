/** The plan and the texts of its notes, as the page or its server gives them. */
const Data = (() => {
  const IS_STEM = 0, IS_HEADING = 1; // as page.py writes them
  const texts = new Map(); // block -> promise of its texts
  let plan = null;
  let starts = []; // the first note of each block
  let ask = null; // (note) -> promise of its text, where a server has them

  /** What page.py packed. */
  async function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
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

  const FENCE = /^(?:```|~~~)/, UNDERLINE = /^(?:=+|-{2,})$/;
  const NO_PROSE = /^(?:#|\||>\s*\[!|\[[^\]]+\]:|[-*_=\s]{3,}$)/; // headings, tables, heads of callouts, targets, rules

  const LINKS = /!?\[\[[^[\]]{0,200}\]\]|!?\[[^[\]]{0,200}\]\([^()]{0,300}\)|<?https?:\S{1,300}/g;

  /** The first line of a text that is prose; where there is none, the first of links. */
  function firstLine(head) {
    const lines = head.split("\n").map((line) => line.trim());
    let isCode = false;
    const found = lines.filter((line, n) => {
      if (FENCE.test(line)) isCode = !isCode;
      else return !isCode && !NO_PROSE.test(line) && !UNDERLINE.test(lines[n + 1]) && Folding.plain(line);
    });
    return found.find((line) => /[\p{L}\p{N}]/u.test(line.replace(LINKS, ""))) ?? found[0] ?? "";
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
    const { path, head } = packed;
    const stems = path.map(stem);
    const links = packed.links.map((codes) =>
      codes.map((code) => (Array.isArray(code) ? [code[1], code[0]] : [stems[code], code])));
    const title = packed.title.map((given, note) =>
      Folding.words(given === IS_STEM ? stems[note] : given === IS_HEADING ? heading(head[note]) : given) || "Untitled");
    return {
      ...packed, count: path.length, title, links, back: backlinks(links), first: head.map(firstLine),
      x: lengths(packed.x, units), y: lengths(packed.y, units), w: lengths(packed.w, units), h: lengths(packed.h, units),
      day: packed.day.map((days) => days + day),
    };
  }

  /** Turn what page.py wrote into columns; the i-th of each is of note i. */
  function columns(packed) {
    const { units } = packed;
    const generation = document.documentElement.dataset.live;
    const box = (sides) => Object.fromEntries(["x", "y", "w", "h"].map((name, n) => [name, sides[n] / units]));
    starts = [0];
    for (const notes of packed.blocks) starts.push(starts.at(-1) + notes);
    return {
      ...readNotes(packed.notes, packed),
      title_: packed.title, today: packed.day, vault: packed.vault,
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

  return { open, read, text, askOf, stem };
})();
