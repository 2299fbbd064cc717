/** Search over titles, aliases, first lines and tags while one types. */
const Search = (() => {
  const { make } = Markdown;
  const part = (id) => document.getElementById(id);
  const [field, list] = [part("search"), part("results")];
  const MOST_SHOWN = 50;
  const BEFORE = 40; // characters of a line before the first word found
  const SPOKEN_AFTER = 500; // ms without a key, so that a screen reader is not interrupted
  const MIDDLE = 2 ** 20; // beyond all ranks
  const AT_ONCE = 250; // notes that are folded without a pause
  let index = null; // { plan, all, titleEnd, namesEnd }: a folded string per note, where its fields end
  let active = -1; // place of the option that the arrow keys are at
  let speaking = 0;

  /** Fold `notes` more notes, which takes about 30 ms for a thousand. */
  function build(notes) {
    const { plan, all, titleEnd, namesEnd } = index;
    const end = Math.min(all.length + notes, plan.count);
    for (let i = all.length; i < end; i++) {
      const title = Folding.fold(plan.title[i]);
      const names = `${title}\n${Folding.fold([Data.stem(plan.path[i]), ...plan.aliases[i]].join(" "))}`;
      const tags = plan.tags[i].map((tag) => ` ${Folding.split(`#${tag}`).join("")}`).join("");
      all.push(`${names}\n${Folding.fold(plan.first(i))}${tags}`);
      titleEnd[i] = title.length;
      namesEnd[i] = names.length;
    }
  }

  /** Fold the notes of a plan after it has been painted, a few at a time so that it stays smooth. */
  function begin(plan) {
    const mine = { plan, all: [], titleEnd: new Uint32Array(plan.count), namesEnd: new Uint32Array(plan.count) };
    index = mine;
    const step = () => {
      if (index !== mine || mine.all.length === plan.count) return;
      build(AT_ONCE);
      setTimeout(step, 10);
    };
    setTimeout(step, 100);
  }

  // In a title 0 at the beginning of a word and 2 within, in another name 1 and 4, in the first line 3
  // and 5. A letter of a script with spaces counts at the beginning of words only.
  function rankWord(i, { word, opening, isLetter }) {
    const text = index.all[i];
    const within = text.indexOf(word);
    if (within < 0) return -1;
    const start = text.indexOf(opening, Math.max(within - 1, 0));
    if (start >= 0 && start < index.titleEnd[i]) return 0;
    if (start >= 0 && start < index.namesEnd[i]) return 1;
    if (isLetter) return start < 0 ? -1 : 3;
    if (within < index.titleEnd[i]) return 2;
    if (start >= 0) return 3;
    return within < index.namesEnd[i] ? 4 : 5;
  }

  const LETTER = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]$/u;

  /** Indices of the notes that have all words, the best first. */
  function find(query) {
    const words = Folding.split(query).map((word) => ({ word, opening: ` ${word}`, isLetter: LETTER.test(word) }));
    if (!words.length) return null;
    build(Infinity);
    const whole = words.map(({ opening }) => opening).join("");
    const keys = new Float64Array(index.all.length);
    let found = 0;
    for (let i = 0; i < keys.length; i++) {
      let rank = 0;
      for (let w = 0; w < words.length && rank >= 0; w++) {
        const one = rankWord(i, words[w]);
        rank = one < 0 ? -1 : rank + one + 1;
      }
      if (rank < 0) continue;
      const length = Math.min(index.titleEnd[i], 255);
      const start = index.all[i].startsWith(whole) ? (length === whole.length ? 0 : 1) : 2;
      keys[found++] = (((start * 64 + Math.min(rank, 63)) * 256 + length) * MIDDLE) + i;
    }
    return Array.from(keys.subarray(0, found).sort(), (key) => key % MIDDLE);
  }

  /** Append `text` with what begins with, or holds, one of the words marked. */
  function appendMarked(element, text, words) {
    const pieces = text.split(/([\p{L}\p{N}\p{M}]+)/u);
    for (const piece of pieces) {
      const folded = Folding.fold(piece).slice(1);
      const isFound = folded && words.some((word) => folded.includes(word) && (word.length > 1 || folded.startsWith(word)));
      element.append(isFound ? make("mark", "", piece) : piece);
    }
  }

  /** The part of a line that holds the first of the words. */
  function cut(line, words) {
    const plain = Folding.plain(line);
    const folded = plain.toLowerCase();
    const at = Math.min(...words.map((word) => folded.indexOf(word)).filter((place) => place >= 0), plain.length);
    const from = at > BEFORE && at < plain.length ? plain.indexOf(" ", at - BEFORE) + 1 : 0;
    return (from > 0 ? "… " : "") + plain.slice(from, from + 160);
  }

  function makeOption(i, place, words, snippet) {
    const { plan } = index;
    const option = make("li");
    option.id = `result-${place}`;
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", "false");
    option.dataset.note = i;
    const name = make("span", "name"), where = make("span", "where", plan.rooms[plan.room[i]].title);
    const line = make("span", "first");
    for (const element of [name, where, line]) element.dir = "auto";
    appendMarked(name, plan.title[i], words);
    appendMarked(line, cut(snippet ?? plan.first(i), words), words);
    option.append(name, where, line);
    return option;
  }

  function activate(place) {
    const options = list.querySelectorAll("[role=option]");
    if (active >= 0 && options[active]) options[active].setAttribute("aria-selected", "false");
    active = options.length ? (place + options.length) % options.length : -1;
    const option = options[active];
    if (!option) return field.removeAttribute("aria-activedescendant");
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", option.id);
    State.set({ hovered: Number(option.dataset.note) });
  }

  function setOpen(isOpen) {
    list.hidden = !isOpen;
    field.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) return;
    active = -1;
    field.removeAttribute("aria-activedescendant");
  }

  /** Close the list of results; on a phone it is a page that one comes back to. */
  const rest = () => State.phone.matches || setOpen(false);

  function say(matches, query) {
    clearTimeout(speaking);
    const words = matches === null ? "" : matches.length === 0 ? `No note matches ${query}`
      : matches.length === 1 ? "1 note matches" : `${matches.length.toLocaleString("en")} notes match`;
    speaking = setTimeout(() => { part("status").textContent = words; }, SPOKEN_AFTER);
  }

  function show(matches, query) {
    const words = Folding.split(query);
    active = -1;
    field.removeAttribute("aria-activedescendant");
    list.replaceChildren(...(matches ?? []).slice(0, MOST_SHOWN).map((i, n) => makeOption(i, n, words)));
    list.dataset.count = matches === null ? "" : matches.length === 0 ? "No note has these words in its title, names or first line"
      : matches.length > MOST_SHOWN ? `The best ${MOST_SHOWN} of ${matches.length.toLocaleString("en")}` : "";
    setOpen(matches !== null && (State.phone.matches || document.activeElement === field));
  }

  /** In a page that a server gives, add what is near by meaning once it answers, and show it on the plan. */
  async function addByMeaning(query, matches) {
    if (!index.plan.live || !query.trim()) return;
    const answer = await Live.search(query);
    if (!answer || field.value !== query) return;
    const known = new Set(matches);
    const hits = answer.hits.filter(({ note }) => !known.has(note));
    if (!hits.length) return;
    const group = make("li", "group");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", answer.answered ? "By meaning" : "Nothing here answers that; nearest by meaning");
    const start = list.querySelectorAll("[role=option]").length;
    const words = Folding.split(query);
    const options = make("ul");
    options.setAttribute("role", "presentation");
    options.append(...hits.map(({ note, text, confidence }, n) => {
      const option = makeOption(note, start + n, words, text);
      if (confidence) option.querySelector(".where").append(` · ${Math.round(100 * confidence)} %`);
      return option;
    }));
    group.append(options);
    list.append(group);
    if (!matches.length) list.dataset.count = "";
    State.set({ matches: [...matches, ...hits.map(({ note }) => note)] });
    say(State.get("matches"), query);
    setOpen(State.phone.matches || document.activeElement === field);
  }

  function run() {
    if (!index) return;
    const query = field.value;
    const matches = find(query);
    show(matches, query);
    State.set({ query, matches });
    say(matches, query);
    addByMeaning(query, matches ?? []);
  }

  /** Find what is typed; on a phone the list of it takes the place of a note. */
  function type() {
    run();
    if (State.phone.matches && field.value.trim()) State.set({ selected: null });
  }

  function choose(option) {
    if (!option) return;
    State.set({ hovered: null, selected: Number(option.dataset.note) });
    Panel.focus();
    rest();
  }

  function press(event) {
    if (event.isComposing) return;
    const { key } = event;
    const step = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (step && list.childElementCount) {
      if (list.hidden) setOpen(true);
      activate(active < 0 && step < 0 ? -1 : active + step);
    } else if (key === "Enter") {
      choose(list.querySelectorAll("[role=option]")[Math.max(active, 0)]);
    } else if (key === "Escape") {
      if (list.hidden || State.phone.matches) State.set({ query: "" });
      else setOpen(false);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Ask a question as if it had been typed. */
  function ask(query) {
    field.value = query;
    field.focus();
    type();
  }

  State.on("plan", (plan) => {
    begin(plan);
    if (field.value) run();
  });
  State.on("query", (query) => {
    if (query === field.value) return;
    field.value = query;
    run();
  });
  field.addEventListener("input", type);
  field.addEventListener("keydown", press);
  field.addEventListener("focus", () => list.childElementCount && setOpen(true));
  field.addEventListener("blur", rest);
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => choose(event.target.closest("[role=option]")));
  part("finder").addEventListener("submit", (event) => event.preventDefault());

  return { ask };
})();
