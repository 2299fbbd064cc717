/** The plan as a list of rooms and of the notes in each. */
const Rooms = (() => {
  const { make } = Markdown;
  const part = (id) => document.getElementById(id);
  const nav = part("rooms");
  const PAGE = 200; // notes that are listed at once
  let plan = null;
  let notesOf = []; // room -> its notes, in the order that is shown
  const { compare } = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  function makeEntry(i) {
    const entry = make("li");
    const link = Markdown.makeWalk(i);
    link.textContent = plan.title[i];
    link.dir = "auto";
    if (State.get("selected") === i) link.setAttribute("aria-current", "true");
    entry.append(link);
    return entry;
  }

  function addEntries(box, notes) {
    const list = box.querySelector("ul");
    const from = list.children.length;
    list.append(...notes.slice(from, from + PAGE).map(makeEntry));
    const left = notes.length - list.children.length;
    if (left <= 0) return;
    const more = make("button", "more", `Show ${Math.min(left, PAGE)} more of ${notes.length}`);
    more.type = "button";
    more.addEventListener("click", () => {
      more.remove();
      addEntries(box, notes);
      list.children[from + PAGE].querySelector("a").focus();
    });
    box.append(more);
  }

  function setOpen(entry, r, isOpen) {
    const [button, box] = [entry.querySelector("button"), entry.querySelector(".notes")];
    button.setAttribute("aria-expanded", String(isOpen));
    box.hidden = !isOpen;
    if (!isOpen) return box.replaceChildren();
    notesOf[r].sort((a, b) => compare(plan.title[a], plan.title[b]) || a - b);
    box.replaceChildren(make("ul"));
    if (plan.rooms[r].locked) {
      box.prepend(make("p", "quiet", `Locked: ${count(plan.rooms[r].locked, "cold note")} not shown.`));
    }
    addEntries(box, notesOf[r]);
  }

  const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

  function makeRoom(room, r) {
    const entry = make("li", room.cold || room.locked ? "cold" : "");
    const button = make("button", "room");
    const name = make("span", "name", room.title);
    name.dir = "auto";
    const folder = room.name.includes("/") ? room.name.slice(0, room.name.lastIndexOf("/")) : "";
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    button.dataset.room = r;
    button.append(name);
    if (folder) button.append(make("span", "where", folder));
    button.append(make("span", "count", count(room.count + room.locked, "note")));
    const box = make("div", "notes");
    box.hidden = true;
    button.addEventListener("click", () => {
      const isOpen = box.hidden;
      setOpen(entry, r, isOpen);
      State.set({ room: isOpen ? r : null });
      if (isOpen) Camera.show(room);
    });
    entry.append(button, box);
    return entry;
  }

  function show() {
    const open = new Set([...nav.querySelectorAll("[aria-expanded=true]")].map((button) => plan.rooms[button.dataset.room]?.name));
    const list = make("ul", "rooms");
    list.append(...plan.rooms.map(makeRoom));
    const total = `${count(plan.count, "note")} in ${count(plan.rooms.length, "room")}`;
    nav.replaceChildren(make("h2", "", "Rooms"), make("p", "quiet", total), list);
    plan.rooms.forEach((room, r) => open.has(room.name) && setOpen(list.children[r], r, true));
  }

  State.on("plan", (next, before) => {
    plan = next;
    notesOf = plan.rooms.map(() => []);
    for (let i = 0; i < plan.count; i++) notesOf[plan.room[i]].push(i);
    show();
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

  const button = part("rooms-button");
  /** Show the list where there is no room for it beside the plan, or hide it. */
  function toggle(isOpen = nav.dataset.open !== "yes") {
    if (isOpen) nav.dataset.open = "yes";
    else delete nav.dataset.open;
    button.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) nav.focus({ preventScroll: true });
  }
  button.addEventListener("click", () => toggle());
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    toggle(true);
    nav.focus();
  });

  return { toggle };
})();
