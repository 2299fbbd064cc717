/** The list beside the plan: of the rooms, and of the notes of the room that is chosen. */
(() => {
  const { make } = Markdown;
  const part = (id) => document.getElementById(id);
  const [nav, title, list, all] = [part("rooms"), part("title"), part("list"), part("all-rooms")];
  const PAGE = 200; // notes that are listed at once
  let plan = null;
  let top = 0; // how far the list of rooms was scrolled when a room was chosen
  const { compare } = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

  function makeWords(name, words) {
    const element = make("span", name, words);
    element.dir = "auto";
    return element;
  }

  function makeNote(i) {
    const entry = make("li");
    const link = Markdown.makeWalk(i);
    const first = Folding.plain(plan.first(i)).slice(0, 160);
    link.append(makeWords("name", plan.title[i]), ...(first && first !== plan.title[i] ? [makeWords("first", first)] : []));
    if (State.get("selected") === i) link.setAttribute("aria-current", "true");
    entry.append(link);
    return entry;
  }

  function showNotes(r) {
    const { title: name, locked } = plan.rooms[r];
    const notes = Array.from(plan.room.keys()).filter((i) => plan.room[i] === r)
      .sort((a, b) => compare(plan.title[a], plan.title[b]) || a - b);
    title.textContent = name;
    part("count").textContent = count(notes.length, "note") + (locked ? `, ${locked} locked` : "");
    const entries = make("ul", "notes");
    list.replaceChildren(entries);
    Markdown.addEntries(entries, notes, makeNote, PAGE);
  }

  function makeRoom(room, r) {
    const entry = make("li");
    const button = make("button", room.cold || room.locked ? "room cold" : "room");
    button.type = "button";
    button.dataset.room = r;
    button.title = room.name;
    const number = room.count + room.locked;
    button.setAttribute("aria-label", `${room.title}, ${count(number, "note")}`);
    button.append(make("i", "swatch"), makeWords("name", room.title), make("span", "count", number.toLocaleString("en")));
    button.addEventListener("click", () => State.set({ room: r }));
    entry.append(button);
    return entry;
  }

  function showRooms() {
    title.textContent = plan.title_;
    part("count").textContent = `${count(plan.count, "note")} in ${count(plan.rooms.length, "room")}`;
    const entries = make("ul");
    entries.append(...plan.rooms.map(makeRoom));
    list.replaceChildren(entries);
    recolour();
  }

  function recolour() {
    for (const swatch of document.querySelectorAll("[data-room] > .swatch")) {
      swatch.style.backgroundColor = Colours.ofRoom(Number(swatch.parentElement.dataset.room));
    }
  }

  function show() {
    const room = State.get("room");
    all.hidden = room === null;
    all.textContent = `‹ ${plan.title_}`;
    if (room === null && plan.rooms.length !== 1) showRooms();
    else showNotes(room ?? 0);
  }

  State.on("plan", (next, before) => {
    plan = next;
    if (before === null) Colours.onChange(recolour);
    show();
  });
  State.on("room", (room, before) => {
    const hadFocus = [nav, part("back")].some((one) => one.contains(document.activeElement));
    if (before === null) top = nav.scrollTop;
    show();
    nav.scrollTop = room === null ? top : 0;
    if (hadFocus) (list.querySelector(`[data-room="${room === null ? before : -1}"]`) ?? title).focus({ preventScroll: true });
  });
  State.on("selected", (i) => {
    for (const link of nav.querySelectorAll("a[aria-current]")) link.removeAttribute("aria-current");
    const link = i === null ? null : nav.querySelector(`a[data-note="${i}"]`);
    if (link) link.setAttribute("aria-current", "true");
  });
  nav.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-note]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    State.set({ selected: Number(link.dataset.note) });
  });
  all.addEventListener("click", () => {
    State.set({ room: null });
    Camera.fit();
  });
  part("back").addEventListener("click", State.goBack);
  part("plan-button").addEventListener("click", () => {
    Camera.fit(false);
    State.set({ isMapped: true, selected: null, query: "" });
    part("canvas").focus({ preventScroll: true });
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    nav.focus();
  });
})();
