/** How many notes were written when, and a span of it that the plan keeps to. */
const Timeline = (() => {
  const section = document.getElementById("timeline");
  const MOST_BARS = 96;
  const STEPS = [1, 7, 30.4375, 91.3125, 365.25]; // days
  let field = "day";
  let first = 0, step = 1, bars = 1;
  let parts = null; // the elements, once they are made

  function element(name, attributes = {}, text = "") {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  }

  function divide(days) {
    const sorted = Float64Array.from(days.length ? days : [State.get("plan").today]).sort();
    const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
    let last = at(1);
    first = at(0);
    // A year that was misread, such as 2193, must not push all others into one bar.
    if (last - first > 4 * (at(0.995) - at(0.005)) + 400) [first, last] = [at(0.005) - 15, at(0.995) + 15];
    step = STEPS.find((length) => (last - first + 1) / length <= MOST_BARS) ?? (last - first + 1) / MOST_BARS;
    bars = Math.max(Math.ceil((last - first + 1) / step), 1);
    const counts = new Array(bars).fill(0), undated = new Array(bars).fill(0);
    days.forEach((day, note) => {
      const bar = Math.max(Math.min(Math.floor((day - first) / step), bars - 1), 0);
      counts[bar] += 1;
      undated[bar] += State.get("plan").undated[note];
    });
    return { counts, undated };
  }

  const startOf = (bar) => Math.round(first + bar * step);
  const words = (day) => (step < 28 ? Colours.asDay(day) : Colours.asMonth(day));

  /** The colour of a bar; of notes that only their file dates, a part of it at the bottom is grey. */
  function colour(bar, kinds, day, share) {
    const grey = kinds.colours[kinds.apart];
    bar.style.backgroundColor = share === 1 ? grey : kinds.colours[kinds.classOfDay(day)];
    const end = `${Math.round(100 * share)}%`;
    if (share > 0 && share < 1) bar.style.backgroundImage = `linear-gradient(to top, ${grey} ${end}, transparent ${end})`;
  }

  function drawBars({ counts, undated }) {
    const most = Math.max(...counts), kinds = Notes.kinds();
    parts.bars.replaceChildren(...counts.map((count, n) => {
      const bar = element("i");
      // Square roots: beside a month of a thousand notes, a month of three can still be seen.
      if (kinds.classOfDay && field === "day") colour(bar, kinds, startOf(n) + step / 2, count ? undated[n] / count : 0);
      bar.style.height = count ? `${Math.max(100 * Math.sqrt(count / most), 6)}%` : "0";
      return bar;
    }));
    for (const range of [parts.from, parts.to]) range.max = bars;
    parts.from.value = 0;
    parts.to.value = bars;
    parts.early.textContent = words(startOf(0));
    parts.late.textContent = words(startOf(bars) - 1);
  }

  /** Say the span in words, and have the plan keep to it. */
  function choose() {
    const plan = State.get("plan");
    const from = Math.min(+parts.from.value, bars - 1), to = Math.max(+parts.to.value, from + 1);
    const isAll = from === 0 && to === bars;
    const span = isAll ? null : [from === 0 ? -Infinity : startOf(from), to === bars ? Infinity : startOf(to) - 1];
    [...parts.bars.children].forEach((bar, n) => bar.classList.toggle("out", n < from || n >= to));
    parts.from.setAttribute("aria-valuetext", `from ${words(startOf(from))}`);
    parts.to.setAttribute("aria-valuetext", `to ${words(startOf(to) - 1)}`);
    let within = 0;
    for (const day of plan[field]) within += !span || (day >= span[0] && day <= span[1]) ? 1 : 0;
    parts.said.textContent = isAll ? `all ${within} notes` : `${within} notes, ${words(startOf(from))} to ${words(startOf(to) - 1)}`;
    parts.all.hidden = isAll;
    State.set({ span });
  }

  function setRange(from, to) {
    parts.from.value = Math.min(from, bars - 1);
    parts.to.value = Math.max(to, +parts.from.value + 1);
    choose();
  }

  /** Drag over the bars to choose a span; a click on one chooses it. */
  function listenToDrag() {
    const barAt = (event) => {
      const box = parts.bars.getBoundingClientRect();
      return Math.min(Math.max(Math.floor(((event.clientX - box.left) / box.width) * bars), 0), bars - 1);
    };
    let began = null;
    parts.bars.addEventListener("pointerdown", (event) => {
      began = barAt(event);
      parts.bars.setPointerCapture(event.pointerId);
      setRange(began, began + 1);
    });
    parts.bars.addEventListener("pointermove", (event) => {
      if (began !== null) setRange(Math.min(began, barAt(event)), Math.max(began, barAt(event)) + 1);
    });
    for (const end of ["pointerup", "pointercancel"]) parts.bars.addEventListener(end, () => (began = null));
  }

  function make() {
    const slider = (label) => element("input", { type: "range", min: 0, step: 1, "aria-label": label });
    parts = {
      bars: element("div", { class: "bars", "aria-hidden": "true" }), from: slider("Notes from"), to: slider("Notes up to"),
      early: element("span"), late: element("span"), said: element("output", { class: "said" }), all: element("button", { type: "button", hidden: "" }, "Show all"),
    };
    const when = element("select", { "aria-label": "Which day of a note" });
    for (const [value, text] of [["day", "Written"], ["changed", "Changed"]]) when.append(element("option", { value }, text));
    when.addEventListener("change", () => {
      field = when.value;
      show();
    });
    parts.from.addEventListener("input", () => setRange(Math.min(+parts.from.value, +parts.to.value - 1), +parts.to.value));
    parts.to.addEventListener("input", () => setRange(+parts.from.value, Math.max(+parts.to.value, +parts.from.value + 1)));
    parts.all.addEventListener("click", () => {
      setRange(0, bars);
      parts.from.focus();
    });
    const head = element("div", { class: "head" }), track = element("div", { class: "track" }), ends = element("div", { class: "ends" });
    head.append(when, parts.said, parts.all);
    track.append(parts.bars, parts.from, parts.to);
    ends.append(parts.early, parts.late);
    section.replaceChildren(head, track, ends);
    listenToDrag();
  }

  function show() {
    drawBars(divide(State.get("plan")[field]));
    choose();
  }

  /** Draw the bars anew and keep the span. */
  function recolour() {
    const span = [parts.from.value, parts.to.value];
    drawBars(divide(State.get("plan")[field]));
    setRange(+span[0], +span[1]);
  }

  State.on("plan", (plan, before) => {
    if (before === null) {
      make();
      for (const key of ["colour", "theme"]) State.on(key, recolour);
      Colours.onChange(recolour);
    }
    if (State.get("span") === null) show();
    else recolour(); // a server's plan after a change: the span stays
  });

  return { field: () => field };
})();
