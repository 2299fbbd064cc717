/** The note that is selected: its text, what is known of it, and where it leads. */
const Panel = (() => {
  const { make } = Markdown;
  const part = (id) => document.getElementById(id);
  const [panel, title, note] = [part("panel"), part("panel-title"), part("note")];
  const PRIORITIES = ["none", "low", "medium", "high"];
  const MOST_LISTED = 40; // links of a section before a button shows the rest
  const MOST_PRINTED = 40; // pieces of a text that are printed
  let shown = null; // the note on show
  let path = null; // by which it is known again in another plan
  let text = null; // its Markdown, once it is here
  let heading = ""; // where to scroll when the text is here
  let opener = null; // what had the focus before the panel was opened

  const sayDay = (day) => new Date(day * 86_400_000)
    .toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

  function addFact(list, name, ...values) {
    const value = make("dd");
    value.append(...values);
    list.append(make("dt", "", name), value);
  }

  function makeRoomButton(plan, i) {
    const room = plan.rooms[plan.room[i]];
    const button = make("button", "room", room.title);
    button.type = "button";
    button.addEventListener("click", () => {
      Camera.show(room);
      State.set({ room: plan.room[i] });
    });
    return button;
  }

  function makeTags(tags) {
    return tags.flatMap((tag) => {
      const button = make("button", "tag", `#${tag}`);
      button.type = "button";
      button.dataset.query = `#${tag}`;
      return [button, " "];
    });
  }

  function showFacts(plan, i) {
    const dates = make("p", "dates", `${plan.undated[i] ? "File of" : "Written"} ${sayDay(plan.day[i])}`);
    if (plan.changed[i] > plan.day[i]) dates.append(`, changed ${sayDay(plan.changed[i])}`);
    const path = make("p", "path");
    path.append(make("code", "", plan.path[i]));
    if (plan.vault) {
      const link = make("a", "obsidian", "Open in Obsidian");
      link.href = plan.vault + encodeURIComponent(plan.path[i]);
      link.dataset.host = "Obsidian";
      path.append(" ", link);
    }
    const facts = make("dl");
    addFact(facts, "Room", makeRoomButton(plan, i), plan.cold[i] ? " cold storage" : "");
    if (plan.aliases[i].length) addFact(facts, "Also called", plan.aliases[i].join(", "));
    if (plan.tags[i].length) addFact(facts, "Tags", ...makeTags(plan.tags[i]));
    if (plan.priority[i]) addFact(facts, "Priority", PRIORITIES[plan.priority[i]]);
    part("dates").replaceChildren(path, dates, facts);
  }

  function makeEntry(plan, j) {
    const entry = make("li");
    const link = Markdown.makeWalk(j);
    link.textContent = plan.title[j];
    link.dataset.path = plan.path[j]; // for paper
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
    list.append(...notes.slice(0, MOST_LISTED).map((j) => makeEntry(plan, j)));
    section.replaceChildren(make("h3", "", `${name} (${notes.length})`), list);
    if (notes.length <= MOST_LISTED) return;
    const more = make("button", "more", `Show all ${notes.length}`);
    more.type = "button";
    more.addEventListener("click", () => {
      list.append(...notes.slice(MOST_LISTED).map((j) => makeEntry(plan, j)));
      list.children[MOST_LISTED].querySelector("a").focus();
      more.remove();
    });
    section.append(more);
  }

  /** What finds the note that a link as written leads to; of several names the first counts. */
  function makeFinder(links) {
    const known = new Map();
    for (const [written, j] of links) known.set(written, j).set(written.toLowerCase(), j);
    return (...names) => {
      for (const name of names) {
        const j = known.get(name) ?? known.get(name.toLowerCase());
        if (j !== undefined) return j;
      }
      return null;
    };
  }

  /** What is wider than the panel scrolls by itself, and takes the focus so that keys scroll it. */
  function letScroll(root) {
    for (const wide of root.querySelectorAll("pre, .wide")) {
      if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
    }
  }

  function showText(plan, i) {
    const content = make("div", "words");
    Markdown.append(text, content, makeFinder(plan.links[i]), 0);
    // The title is said above already.
    const first = content.firstElementChild;
    if (first && first.classList.contains("level-1") && first.textContent === plan.title[i]) first.remove();
    if (!content.hasChildNodes()) content.append(make("p", "quiet", "This note is empty."));
    note.replaceChildren(content);
    letScroll(note);
  }

  const plain = (words) => words.normalize("NFC").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim();

  function scrollTo(target) {
    if (!target) return;
    target.tabIndex = -1;
    target.scrollIntoView({ block: "start" });
    target.focus({ preventScroll: true });
  }

  function scrollToHeading(wanted) {
    const all = [...note.querySelectorAll("h3, h4, h5, h6")];
    scrollTo(all.find((element) => plain(element.textContent) === plain(wanted)));
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

  /** Show the same note in another plan: the panel stays as it is where nothing has changed. */
  function follow(plan, i) {
    shown = i;
    fill(plan, i);
    return refresh();
  }

  /** Show the place of a note once the plan has the width that the panel leaves it. */
  function reveal(plan, i) {
    const box = { x: plan.x[i], y: plan.y[i], w: plan.w[i], h: plan.h[i] };
    requestAnimationFrame(() => requestAnimationFrame(() => shown === i && Camera.reveal(box)));
  }

  function open(i) {
    const [plan, active] = [State.get("plan"), document.activeElement];
    const isInside = panel.contains(active);
    if (!panel.hidden && plan.path[i] === path) return follow(plan, i);
    if (panel.hidden) opener = active;
    shown = i;
    path = plan.path[i];
    text = null;
    delete panel.dataset.path;
    panel.hidden = false;
    document.documentElement.dataset.note = "open";
    fill(plan, i);
    note.replaceChildren();
    panel.scrollTop = 0;
    // Who walks the plan by keys, or looks around with a mouse, stays there.
    if (isInside || active.closest("#finder, #rooms")) title.focus({ preventScroll: true });
    reveal(plan, i);
    return refresh();
  }

  function close() {
    const hadFocus = panel.contains(document.activeElement);
    shown = null;
    panel.hidden = true;
    delete panel.dataset.path;
    delete document.documentElement.dataset.note;
    document.title = State.get("plan").title_;
    note.replaceChildren();
    const isThere = opener && opener.isConnected && opener !== document.body && opener.offsetParent !== null;
    if (hadFocus) (isThere ? opener : part("canvas")).focus({ preventScroll: true });
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
    else {
      heading = under || "";
      if (Number(to) === shown) {
        scrollToHeading(heading);
        heading = "";
      } else State.set({ selected: Number(to) });
    }
    event.preventDefault();
  }

  /** Say where a link out of the page leads while it is pointed at or has the focus. */
  function sayTarget(event) {
    const link = event.target.closest ? event.target.closest("a[data-host]") : null;
    part("target").textContent = link ? `Opens ${link.dataset.host}` : "";
    part("target").hidden = !link;
  }

  /** Have all of a long text printed. */
  function showAll() {
    for (let n = 0; n < MOST_PRINTED; n++) {
      const more = note.querySelector(".more");
      if (!more) return;
      more.click();
    }
  }

  State.on("selected", (i) => (i === null ? close() : open(i)));
  State.on("plan", (plan, before) => {
    const i = State.get("selected");
    if (before !== null && shown !== null && i !== null && plan.path[i] === path) follow(plan, i);
  });
  panel.addEventListener("click", walk);
  for (const event of ["mouseover", "focusin", "mouseout", "focusout"]) {
    panel.addEventListener(event, event.endsWith("out") ? () => sayTarget({ target: panel }) : sayTarget);
  }
  part("close").addEventListener("click", () => State.set({ selected: null }));
  addEventListener("beforeprint", showAll);

  return { focus: () => title.focus({ preventScroll: true }) };
})();
