/** Say in words what colour and size mean, and let people choose them. */
const Legend = (() => {
  const SIZES = { length: "length", use: "use", links: "links" };
  const COLOURS = { age: "age", priority: "priority", confidence: "confidence", decay: "decay", room: "room" };
  const legend = document.getElementById("legend");

  function element(name, className, text = "") {
    const made = document.createElement(name);
    made.className = className;
    made.textContent = text;
    return made;
  }

  function fillSelect(id, options) {
    const select = document.getElementById(id);
    for (const [value, words] of Object.entries(options)) {
      const option = element("option", "", words);
      option.value = value;
      select.append(option);
    }
    select.value = State.get(id);
    select.addEventListener("change", () => State.set({ [id]: select.value }));
    State.on(id, (value) => (select.value = value));
  }

  function bytes(value) {
    if (value < 1000) return `${value} bytes`;
    return value < 1e6 ? `${Math.round(value / 1000)} kB` : `${(value / 1e6).toFixed(1)} MB`;
  }

  function sizeWords({ least, full, most }) {
    const size = State.get("size");
    const words = size === "length" ? bytes : size === "use" ? (n) => `${n} times used` : (n) => (n === 1 ? "1 link" : `${n} links`);
    if (least === most) return [words(least)];
    return [words(least), full < most ? `${words(full)} or more` : words(most)];
  }

  function colourPart(plan) {
    const kinds = Notes.kinds();
    const part = element("div", "key");
    const isNamed = !kinds.ends.length; // each class has a name of its own, and they have no order
    const swatches = element("ul", isNamed ? "swatches named" : "swatches");
    const counts = new Array(kinds.colours.length).fill(0);
    for (const kind of kinds.classes) counts[kind] += 1;
    kinds.colours.forEach((colour, n) => {
      if (n === kinds.apart) return;
      const swatch = element("li", "");
      const words = `${kinds.words[n]}: ${counts[n]} notes`;
      swatch.append(element("i", ""), element("span", isNamed ? "" : "hidden-words", isNamed ? kinds.words[n] : words));
      swatch.firstChild.style.backgroundColor = colour;
      swatch.title = words;
      swatches.append(swatch);
    });
    const ends = element("div", "ends");
    for (const end of kinds.ends) ends.append(element("span", "", end));
    part.append(element("strong", "", kinds.title));
    if (swatches.hasChildNodes()) part.append(swatches, ends);
    if ((kinds.apart ?? null) !== null) part.append(apartLine(kinds, counts[kinds.apart]));
    return part;
  }

  /** What the class means that is not in the range of the others. */
  function apartLine({ colours, words, apart }, count) {
    const line = element("div", "apart"), swatch = element("i", "");
    swatch.style.backgroundColor = colours[apart];
    line.append(swatch, `${words[apart]}: ${count} ${count === 1 ? "note" : "notes"}`);
    return line;
  }

  function sizePart(plan) {
    const part = element("div", "key sizes");
    const steps = element("div", "steps");
    for (const share of [0.5, 0.75, 1]) {
      const step = element("i", "");
      step.style.width = `${20 * share}px`;
      step.style.height = `${15 * share}px`;
      steps.append(step);
    }
    const ends = element("div", "ends");
    for (const words of sizeWords(Places.resize(plan))) ends.append(element("span", "", words));
    part.append(element("strong", "", { length: "Length of the note", use: "How often it was used", links: "Links to and from it" }[State.get("size")]), steps, ends);
    return part;
  }

  function linePart() {
    const part = element("div", "key lines");
    for (const [kind, words] of [["to", "links to"], ["from", "is linked from"]]) {
      const line = element("span", "line");
      line.append(element("i", kind), words);
      part.append(line);
    }
    return part;
  }

  function show(plan) {
    const details = legend.firstElementChild ?? element("details", "");
    if (!legend.firstElementChild) {
      details.open = innerWidth >= 700;
      legend.append(details);
    }
    const parts = [element("summary", "", "Legend"), colourPart(plan), sizePart(plan)];
    if (plan.links.some((links) => links.length)) parts.push(linePart());
    details.replaceChildren(...parts);
  }

  State.on("plan", (plan, before) => {
    if (before === null) {
      const uses = plan.uses.some((count) => count !== null);
      fillSelect("size", uses ? SIZES : { length: "length", links: "links" });
      fillSelect("colour", COLOURS);
      for (const key of ["size", "colour", "theme"]) State.on(key, () => show(State.get("plan")));
      Colours.onChange(() => show(State.get("plan")));
    }
    show(plan);
  });

  return {};
})();
