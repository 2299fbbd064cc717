/** What the page shows, in one place: parts set it and listen to it. */
const State = (() => {
  const values = {
    plan: null, selected: null, hovered: null, query: "", matches: null, room: null,
    span: null, isMapped: false, // on a phone, the plan instead of the list of rooms
  };
  const listeners = new Map();
  const phone = matchMedia("(max-width: 699.9px)"); // as in the styles
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

  /** What fills the screen of a phone. */
  function screen() {
    if (values.selected !== null) return "note";
    if (phone.matches && values.query.trim()) return "find";
    if (values.isMapped) return "plan";
    return values.room === null ? "rooms" : "room";
  }

  const addressOfNote = (note) => `#note=${encodeURIComponent(values.plan.path[note])}`;
  const addressOfRoom = (room) => `#room=${encodeURIComponent(values.plan.rooms[room].name)}`;

  function address() {
    const shown = screen();
    if (shown === "note") return addressOfNote(values.selected);
    if (shown === "room") return addressOfRoom(values.room);
    return shown === "rooms" ? "#" : `#${shown}`;
  }

  function arrive() {
    document.documentElement.dataset.screen = screen();
    if (isWalking || !values.plan || (location.hash || "#") === address()) return;
    history.pushState({ isInside: true }, "", address());
  }

  /** Show what the address names. */
  function follow() {
    const [, kind, written] = /^#(note|room|plan|find)=?(.*)$/.exec(location.hash) ?? [];
    let name = null;
    try {
      name = written && decodeURIComponent(written);
    } catch {
      name = null; // an address that somebody cut in the middle of a letter
    }
    const { path, rooms } = values.plan;
    const note = kind === "note" ? path.indexOf(name) : -1;
    const room = kind === "room" ? rooms.findIndex((one) => one.name === name) : -1;
    isWalking = true;
    if (note >= 0) set({ selected: note });
    else if (kind === "find") set({ selected: null });
    else {
      const query = phone.matches ? "" : values.query;
      set({ selected: null, room: room < 0 ? null : room, isMapped: kind === "plan", query });
    }
    arrive();
    isWalking = false;
  }

  /** Go to where one came from; from an address that was opened itself, to what is around it. */
  function goBack() {
    if (history.state) return history.back();
    history.replaceState(null, "", values.selected === null ? "#" : addressOfRoom(values.plan.room[values.selected]));
    follow();
  }

  for (const key of ["selected", "query", "room", "isMapped"]) on(key, arrive);
  phone.addEventListener("change", arrive);
  addEventListener("popstate", () => values.plan && follow());

  return { get, set, on, follow, goBack, addressOfNote, phone };
})();
