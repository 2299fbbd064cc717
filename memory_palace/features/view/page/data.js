/** The plan and the texts of its notes, as the page or its server gives them. */
const Data = (() => {
  const texts = new Map(); // block -> promise of its texts
  let plan = null;
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

  const FENCE = /^(?:```|~~~)/, UNDERLINE = /^(?:=+|-{2,})$/;
  const NO_PROSE = /^(?:#|\||>\s*\[!|\[[^\]]+\]:|[-*_=\s]{3,}$)/; // headings, tables, heads of callouts, targets, rules

  const LINKS = /!?\[\[[^[\]]{0,200}\]\]|!?\[[^[\]]{0,200}\]\([^()]{0,300}\)|<?https?:\S{1,300}/g;

  const WORD_CUT = /[\p{Script=Latin}\p{Script=Cyrillic}]+$/u;

  /** The first line of a text that is prose; where there is none, the first of links. */
  function firstLine(head, headLength) {
    const lines = head.split("\n").map((line) => line.trim());
    let isCode = false;
    const found = lines.filter((line, n) => {
      if (FENCE.test(line)) isCode = !isCode;
      else return !isCode && !NO_PROSE.test(line) && !UNDERLINE.test(lines[n + 1]) && Folding.plain(line);
    });
    const first = found.find((line) => /[\p{L}\p{N}]/u.test(line.replace(LINKS, ""))) ?? found[0] ?? "";
    return first === lines.at(-1) && [...head].length === headLength ? `${first.replace(WORD_CUT, "")}…` : first;
  }

  function backlinks(links) {
    const back = links.map(() => []);
    links.forEach((targets, from) => {
      for (const [, to] of targets) if (to !== from && back[to].at(-1) !== from) back[to].push(from);
    });
    return back;
  }

  const lengths = (column, units) => Float32Array.from(column, (value) => value / units);

  function readNotes(packed, { units, headLength }) {
    const { path, head } = packed, firsts = [];
    const stems = path.map(stem);
    const title = packed.title.map((given, note) =>
      Folding.words((given ?? head[note].slice(2, head[note].indexOf("\n"))) || stems[note]) || stems[note]);
    return {
      ...packed, count: path.length, title, back: backlinks(packed.links), first: (note) => (firsts[note] ??= firstLine(head[note], headLength)),
      x: lengths(packed.x, units), y: lengths(packed.y, units), w: lengths(packed.w, units), h: lengths(packed.h, units),
    };
  }

  /** Turn what page.py wrote into columns; the i-th of each is of note i. */
  function columns(packed) {
    const { units } = packed;
    const generation = document.documentElement.dataset.live;
    const box = (sides) => Object.fromEntries(["x", "y", "w", "h"].map((name, n) => [name, sides[n] / units]));
    return {
      ...readNotes(packed.notes, packed),
      perBlock: packed.perBlock, title_: packed.title, vault: packed.vault,
      live: generation ? { generation } : null,
      rooms: packed.rooms.map(([name, x, y, w, h, cold, count, locked]) => (
        { name, title: name.split("/").at(-1).replaceAll("_", " ") || packed.title, ...box([x, y, w, h]), cold: !!cold, count, locked })),
      districts: packed.districts.map(([room, x, y, w, h, label]) => ({ room, ...box([x, y, w, h]), label })),
    };
  }

  /** Unpack the plan, and nothing of the texts. */
  async function open() {
    plan = columns(await take("packed-0"));
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
    const block = Math.floor(note / plan.perBlock);
    if (!texts.has(block)) texts.set(block, take(`packed-${block + 1}`));
    return plan.head[note] + (await texts.get(block))[note % plan.perBlock];
  }

  /** Have `source(note)` give the texts from now on: a promise of Markdown. */
  function askOf(source) {
    ask = source;
  }

  return { open, read, text, askOf, stem };
})();
