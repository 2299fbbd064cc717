/** What the page shows, in one place: parts set it and listen to it. */
const State = (() => {
  const values = {
    plan: null, selected: null, hovered: null, query: "", matches: null, room: null,
    span: null,
  };
  const listeners = new Map();
  let isWalking = false; // the address has changed first, and is not to be written again

  const get = (key) => values[key];

  /** Call `listen(value, before)` whenever `key` changes; "plan" once, when it is open. */
  function on(key, listen) {
    if (!(key in values)) throw new Error(`no such state: ${key}`);
    if (!listeners.has(key)) listeners.set(key, []);
    listeners.get(key).push(listen);
  }

  /** Change some values at once; the listeners of those that differ hear of it afterwards. */
  function set(changes) {
    const changed = [];
    for (const [key, value] of Object.entries(changes)) {
      if (!(key in values)) throw new Error(`no such state: ${key}`);
      if (Object.is(values[key], value)) continue;
      changed.push([key, value, values[key]]);
      values[key] = value;
    }
    for (const [key, value, before] of changed) {
      for (const listen of listeners.get(key) ?? []) listen(value, before);
    }
  }

  const address = (note) => (note === null ? "#" : `#note=${encodeURIComponent(values.plan.path[note])}`);

  /** Select the note that the address names, or none. */
  function follow() {
    const written = /^#note=(.+)$/.exec(location.hash);
    let path = null;
    try {
      path = written && decodeURIComponent(written[1]);
    } catch {
      path = null; // an address that somebody cut in the middle of a letter
    }
    const note = path === null ? -1 : values.plan.path.indexOf(path);
    isWalking = true;
    set({ selected: note < 0 ? null : note });
    isWalking = false;
  }

  on("selected", (note) => {
    if (!isWalking && values.plan && location.hash !== address(note)) history.pushState(null, "", address(note));
  });
  addEventListener("popstate", () => values.plan && follow());

  return { get, set, on, follow, address };
})();
