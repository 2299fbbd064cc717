/** The page while its palace is served: it follows the notes, and says when the server has gone. */
const Live = (() => {
  const OFTEN = 1000, SELDOM = 15000; // milliseconds between two looks
  const TYPING = 160; // milliseconds without a key before a question is sent
  const AWAY = "The palace is no longer served. What this page holds stays; notes that were not opened yet and search "
    + "by meaning are not there. Run palace view --live in its folder, and open the address that it prints.";
  const ELSEWHERE = "This address is no longer good. Run palace view --live in the folder of the palace, and open the "
    + "address that it prints.";
  class Away extends Error {
    constructor(status, options) {
      super(`no answer: ${status}`, options);
      this.status = status;
    }
  }
  const texts = new Map(); // path -> text, as it was last read
  let generation = ""; // of the plan that is shown
  let timer = 0;
  let isAway = false;
  let looking = null;
  let searching = null;

  /** Fetch what is below the token; fail where no server of ours answers. */
  async function fetchPart(name, values = {}, { headers, signal } = {}) {
    const query = new URLSearchParams(values).toString();
    const options = { cache: "no-store", redirect: "error", headers, signal };
    const response = await fetch(query ? `${name}?${query}` : name, options).catch((cause) => { throw new Away(0, { cause }); });
    if (!response.ok && response.status !== 304) throw new Away(response.status);
    return response;
  }

  /** Show a sentence above the plan, or take it away. */
  function tell(sentence) {
    const place = document.getElementById("notice");
    if (place.textContent === sentence) return;
    place.hidden = !sentence;
    place.textContent = document.getElementById("status").textContent = sentence;
  }

  /** Look once whether the palace has changed; a second look waits for the first. */
  function look() {
    clearTimeout(timer);
    looking ??= lookOnce().finally(() => {
      looking = null;
      timer = setTimeout(look, document.hidden || isAway ? SELDOM : OFTEN);
    });
    return looking;
  }

  async function lookOnce() {
    try {
      const response = await fetchPart("plan", {}, { headers: { "If-None-Match": `"${generation}"` } });
      if (response.status !== 304) await update(response);
      tell("");
      isAway = false;
    } catch (error) {
      if (!(error instanceof Away)) throw error; // a defect of this page
      isAway = true;
      tell(error.status === 403 ? ELSEWHERE : AWAY);
    }
  }

  /** Take the plan as it is now; what is selected, found and seen stays where it is. */
  async function update(response) {
    const before = State.get("plan");
    const plan = await Data.read(await response.text());
    generation = response.headers.get("ETag").replaceAll('"', "");
    plan.live = { generation };
    const places = new Map(plan.path.map((path, note) => [path, note]));
    const rooms = new Map(plan.rooms.map((room, place) => [room.name, place]));
    const after = (note) => (note === null ? null : places.get(before.path[note]) ?? null);
    const { selected, matches, room } = Object.fromEntries(["selected", "matches", "room"].map((key) => [key, State.get(key)]));
    State.set({
      plan, selected: after(selected), hovered: null,
      matches: matches && matches.map(after).filter((note) => note !== null),
      room: room === null ? null : rooms.get(before.rooms[room].name) ?? null,
    });
    if (selected !== null && after(selected) === null) {
      document.getElementById("status").textContent = `${before.title[selected]} is no longer in the palace.`;
    }
  }

  /** The text of a note as it is now; what was read before where no server answers. */
  async function text(note) {
    const path = State.get("plan").path[note];
    try {
      const given = await (await fetchPart("note", { of: generation, i: note })).json();
      if (given.text !== null) {
        texts.set(path, given.text);
        return given.text;
      }
    } catch {
      look();
      if (texts.has(path)) return texts.get(path);
      throw new Error("This note cannot be read while the palace is not served.");
    }
    await look(); // the plan is another one meanwhile, or the note has gone
    const now = State.get("plan").path.indexOf(path);
    if (now < 0) throw new Error("This note is no longer in the palace.");
    const given = await (await fetchPart("note", { of: generation, i: now })).json();
    if (given.text === null) throw new Error("This note is no longer in the palace.");
    return given.text;
  }

  /** What is found by meaning, when no key was pressed for a moment: { answered, hits: [{ note, text, confidence }] };
   *  null where a newer question came, or no server answers. */
  async function search(asked) {
    searching?.abort();
    searching = new AbortController();
    const { signal } = searching;
    await new Promise((go) => setTimeout(go, TYPING));
    if (signal.aborted || isAway) return null;
    try {
      const found = await (await fetchPart("search", { q: asked.trim().slice(0, 1000) }, { signal })).json();
      if (signal.aborted) return null;
      const { path } = State.get("plan");
      const hits = found.hits.map((hit) => ({ ...hit, note: path.indexOf(hit.path) }));
      return { ...found, hits: hits.filter(({ note }) => note >= 0) };
    } catch {
      if (!signal.aborted) look();
      return null;
    }
  }

  State.on("plan", (plan, before) => {
    if (before !== null || !plan.live) return;
    generation = plan.live.generation;
    Data.askOf(text);
    document.addEventListener("visibilitychange", () => document.hidden || look());
    addEventListener("online", look);
    look();
  });

  return { search };
})();
