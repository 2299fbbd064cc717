/** The note that is selected: its text, what is known of it, and where it leads. */
const Panel = (() => {
  const { make } = Markdown;
  const part = (id) => document.getElementById(id);
  const [panel, title, note] = [part("panel"), part("panel-title"), part("note")];
  const MOST_LISTED = 40; // links of a section at once
  const MOST_PRINTED = 40; // pieces of a text that are printed
  let shown = null; // the note on show
  let path = null; // by which it is known again in another plan
  let text = null; // its Markdown, once it is here
  let heading = ""; // where to scroll when the text is here
  let opener = null; // what had the focus before the panel was opened

  const sayDay = (day) => new Date(day * 86_400_000)
    .toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

  function makeRoomButton(plan, i) {
    const room = plan.room[i];
    const button = make("button", "room"), swatch = make("i", "swatch");
    swatch.style.backgroundColor = Colours.ofRoom(room);
    button.type = "button";
    button.dataset.room = room;
    button.append(swatch, plan.rooms[room].title);
    button.addEventListener("click", () => {
      Camera.show(plan.rooms[room]);
      State.set({ room, ...(State.phone.matches && { selected: null, isMapped: false, query: "" }) });
    });
    return button;
  }

  function showFacts(plan, i) {
    const dates = make("p", "dates"), path = make("p", "path");
    dates.append(makeRoomButton(plan, i), plan.day[i] === null ? "undated" : sayDay(plan.day[i]));
    if (plan.cold[i]) dates.append(", archived");
    const facts = [dates];
    if (plan.tags[i].length) facts.push(make("p", "tags"));
    if (plan.tags[i].length) facts.at(-1).append(...plan.tags[i].map(Markdown.makeTag));
    if (plan.aliases[i].length) facts.push(make("p", "", `Also called ${plan.aliases[i].join(", ")}`));
    path.append(make("code", "", plan.path[i]));
    if (plan.vault) {
      const link = make("a", "obsidian", "Open in Obsidian");
      link.href = plan.vault + encodeURIComponent(plan.path[i]);
      link.dataset.host = "Obsidian";
      path.append(" ", link);
    }
    part("dates").replaceChildren(...facts, path);
  }

  function makeEntry(plan, j) {
    const entry = make("li");
    const link = Markdown.makeWalk(j);
    link.textContent = plan.title[j];
    const where = make("span", "where", plan.rooms[plan.room[j]].title);
    where.dir = "auto";
    entry.append(link, " ", where);
    return entry;
  }

  function showList(id, name, notes) {
    const plan = State.get("plan");
    const section = part(id);
    section.hidden = notes.length === 0;
    section.setAttribute("aria-label", name);
    const list = make("ul");
    section.replaceChildren(make("h3", "", `${name} (${notes.length})`), list);
    Markdown.addEntries(list, notes, (j) => makeEntry(plan, j), MOST_LISTED);
  }

  /** What finds the note that a link as written leads to; of several names the first counts. */
  function makeFinder(links) {
    const fold = (written) => written.toLowerCase().replace(/\.(?:md|markdown)$/, "");
    const known = new Map(links.flatMap(([written, j]) => [[written, j], [fold(written), j]]));
    return (...names) => names.map((name) => known.get(name) ?? known.get(fold(name))).find((j) => j !== undefined) ?? null;
  }

  function showText(plan, i) {
    const content = make("div", "words");
    Markdown.append(text, content, makeFinder(plan.links[i]), 0);
    // The title is said above already.
    const first = content.firstElementChild;
    if (first && first.classList.contains("level-1") && Folding.fold(first.textContent) === Folding.fold(plan.title[i])) first.remove();
    if (!content.hasChildNodes()) content.append(make("p", "quiet", "This note is empty."));
    note.replaceChildren(content);
    // What is wider than the panel scrolls by itself, and takes the focus so that keys scroll it.
    for (const wide of note.querySelectorAll("pre, .wide")) if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
  }

  function scrollTo(target) {
    if (!target) return;
    target.tabIndex = -1;
    target.scrollIntoView({ block: "start" });
    target.focus({ preventScroll: true });
  }

  function scrollToHeading(wanted) {
    const all = [...note.querySelectorAll("h3, h4, h5, h6")], folded = Folding.fold(wanted);
    scrollTo(all.find((element) => Folding.fold(element.textContent) === folded));
  }

  /** The note's Markdown, or null where it cannot be had, which is then said in its place. */
  async function read(i) {
    try {
      return await Data.text(i);
    } catch (error) {
      if (shown === i) note.replaceChildren(make("p", "quiet", error.message));
      return null;
    }
  }

  /** Read the note's text again, and render it where it has changed. */
  async function refresh() {
    const [i, plan] = [shown, State.get("plan")];
    if (i === null) return;
    note.setAttribute("aria-busy", "true");
    const words = await read(i);
    if (shown !== i || State.get("plan") !== plan) return;
    if (words !== null && words !== text) {
      const { scrollTop } = panel;
      text = words;
      showText(plan, i);
      panel.scrollTop = scrollTop;
      if (heading) scrollToHeading(heading);
      heading = "";
    }
    note.removeAttribute("aria-busy");
    panel.dataset.path = path;
  }

  function fill(plan, i) {
    title.textContent = plan.title[i];
    document.title = `${Places.clean(plan.title[i])} · ${plan.title_}`;
    showFacts(plan, i);
    showList("links", "Links to", [...new Set(plan.links[i].map(([, j]) => j))].filter((j) => j !== i));
    showList("backlinks", "Linked from", plan.back[i]);
    showList("near", "Near by meaning", plan.near[i]);
  }

  function open(i) {
    const [plan, active] = [State.get("plan"), document.activeElement];
    const isInside = panel.contains(active);
    shown = i;
    if (!panel.hidden && plan.path[i] === path) { // in another plan: the panel stays as it is where nothing has changed
      fill(plan, i);
      return refresh();
    }
    if (panel.hidden) opener = active;
    path = plan.path[i];
    text = null;
    delete panel.dataset.path;
    panel.hidden = false;
    fill(plan, i);
    note.replaceChildren();
    panel.scrollTop = 0;
    // Who walks the plan by keys, or looks around with a mouse, stays there.
    if (isInside || active.closest("#finder, #rooms")) title.focus({ preventScroll: true });
    return refresh();
  }

  function close() {
    const hadFocus = panel.contains(document.activeElement);
    shown = null;
    panel.hidden = true;
    delete panel.dataset.path;
    document.title = State.get("plan").title_;
    note.replaceChildren();
    const isPhone = State.phone.matches; // where a field that has the focus brings up its keyboard
    const isThere = opener && opener.isConnected && opener !== document.body && opener.offsetParent !== null && !(isPhone && opener.matches("input"));
    if (hadFocus) (isThere ? opener : part(isPhone ? "back" : "canvas")).focus({ preventScroll: true });
    opener = null;
  }

  function walk(event) {
    const link = event.target.closest("a, button");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const { note: to, heading: under, footnote, query } = link.dataset;
    if (query) Search.ask(query);
    else if (footnote) scrollTo([...note.querySelectorAll(".footnote-text")].find((words) => words.dataset.label === footnote));
    else if (to === undefined && under) scrollToHeading(under);
    else if (to === undefined) return;
    else if (Number(to) === shown) scrollToHeading(under ?? "");
    else {
      heading = under ?? "";
      State.set({ selected: Number(to) });
    }
    event.preventDefault();
  }

  /** Say where a link out of the page leads while it is pointed at or has the focus. */
  function sayTarget(event) {
    const link = event.target.closest ? event.target.closest("a[data-host]") : null;
    part("target").textContent = link ? `Opens ${link.dataset.host}` : "";
    part("target").hidden = !link;
  }

  State.on("selected", (i) => (i === null ? close() : open(i)));
  State.on("plan", (plan, before) => {
    const i = State.get("selected");
    if (before !== null && shown !== null && i !== null && plan.path[i] === path) open(i);
  });
  panel.addEventListener("click", walk);
  for (const event of ["mouseover", "focusin", "mouseout", "focusout"]) {
    panel.addEventListener(event, event.endsWith("out") ? () => sayTarget({ target: panel }) : sayTarget);
  }
  part("close").addEventListener("click", () => State.set({ selected: null }));
  addEventListener("beforeprint", () => { // all of a long text is printed
    for (let n = 0; n < MOST_PRINTED; n++) note.querySelector(".more")?.click();
  });

  return { focus: () => title.focus({ preventScroll: true }) };
})();
