/** Say in words what colour, size and lines mean. */
const Legend = (() => {
  const legend = document.getElementById("legend");

  function element(name, className, text = "") {
    const made = document.createElement(name);
    made.className = className;
    made.textContent = text;
    return made;
  }

  function bytes(value) {
    if (value < 1000) return `${value} bytes`;
    return value < 1e6 ? `${Math.round(value / 1000)} kB` : `${(value / 1e6).toFixed(1)} MB`;
  }

  function endsOf(...words) {
    const ends = element("div", "ends");
    for (const end of words) ends.append(element("span", "", end));
    return ends;
  }

  function colourPart({ classes, colours, words, ends, apart }) {
    const part = element("div", "key");
    part.append(element("strong", "", "When it was written"));
    const counts = new Array(colours.length).fill(0);
    for (const kind of classes) counts[kind] += 1;
    const swatches = element("ul", "swatches");
    colours.forEach((colour, n) => {
      const line = element(n === apart ? "div" : "li", n === apart ? "apart" : ""), swatch = element("i", "");
      swatch.style.backgroundColor = colour;
      line.title = `${words[n]}: ${counts[n]} ${counts[n] === 1 ? "note" : "notes"}`;
      line.append(swatch, element("span", n === apart ? "" : "hidden-words", line.title));
      (n === apart ? part : swatches).append(line);
    });
    if (swatches.hasChildNodes()) part.firstChild.after(swatches, endsOf(...ends));
    return part;
  }

  function sizePart({ least, full, most }) {
    const part = element("div", "key sizes");
    const steps = element("div", "steps");
    for (const share of [0.5, 0.75, 1]) {
      const step = element("i", "");
      step.style.width = `${20 * share}px`;
      step.style.height = `${15 * share}px`;
      steps.append(step);
    }
    const largest = full < most ? `${bytes(full)} or more` : bytes(most);
    part.append(element("strong", "", "Length of the note"), steps, endsOf(bytes(least), ...(least === most ? [] : [largest])));
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
    const parts = [element("summary", "", "Legend"), colourPart(Notes.kinds()), sizePart(Places.resize(plan))];
    if (plan.links.some((links) => links.length)) parts.push(linePart());
    details.replaceChildren(...parts);
  }

  State.on("plan", (plan, before) => {
    if (before === null) Colours.onChange(() => show(State.get("plan")));
    show(plan);
  });
})();
