/** How many notes were written when, and a span of it that the plan keeps to. */
const Timeline = (() => {
  const section = document.getElementById("timeline");
  const MOST_BARS = 96;
  const STEPS = [1, 7, 30.4375, 91.3125, 365.25]; // days
  let first = 0, step = 1, bars = 1;
  let parts = null; // the elements, once they are made

  function element(name, attributes = {}, text = "") {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  }

  /** Choose the bars, and return how many notes each has, and how many of them only their file dates. */
  function divide({ day: days, today, undated }) {
    const sorted = Float64Array.from(days.length ? days : [today]).sort();
    const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
    let last = at(1);
    first = at(0);
    // A year that was misread, such as 2193, must not push all others into one bar.
    if (last - first > 4 * (at(0.995) - at(0.005)) + 400) [first, last] = [at(0.005) - 15, at(0.995) + 15];
    step = STEPS.find((length) => (last - first + 1) / length <= MOST_BARS) ?? (last - first + 1) / MOST_BARS;
    bars = Math.max(Math.ceil((last - first + 1) / step), 1);
    const counts = new Array(bars).fill(0), apart = new Array(bars).fill(0);
    days.forEach((day, note) => {
      const bar = Math.max(Math.min(Math.floor((day - first) / step), bars - 1), 0);
      counts[bar] += 1;
      apart[bar] += undated[note];
    });
    return { counts, apart };
  }

  const startOf = (bar) => Math.round(first + bar * step);
  const words = (day) => (step < 28 ? Colours.asDay(day) : Colours.asMonth(day));

  /** Draw the bars in the colours of the plan; grey where only their files date the notes of one. */
  function drawBars({ counts, apart }) {
    const most = Math.max(...counts), kinds = Notes.kinds();
    parts.bars.replaceChildren(...counts.map((count, n) => {
      const bar = element("i");
      const kind = count && apart[n] === count ? kinds.apart : kinds.classOfDay(startOf(n) + step / 2);
      bar.style.backgroundColor = kinds.colours[kind];
      // Square roots: beside a month of a thousand notes, a month of three can still be seen.
      bar.style.height = count ? `${Math.max(100 * Math.sqrt(count / most), 6)}%` : "0";
      return bar;
    }));
    for (const range of [parts.from, parts.to]) range.max = bars;
    parts.early.textContent = words(startOf(0));
    parts.late.textContent = words(startOf(bars) - 1);
  }

  /** Choose a span of bars, say it in words, and have the plan keep to it. */
  function setRange(from, to) {
    from = Math.min(from, bars - 1);
    to = Math.min(Math.max(to, from + 1), bars);
    [parts.from.value, parts.to.value] = [from, to];
    const isAll = from === 0 && to === bars;
    const span = isAll ? null : [from === 0 ? -Infinity : startOf(from), to === bars ? Infinity : startOf(to) - 1];
    [...parts.bars.children].forEach((bar, n) => bar.classList.toggle("out", n < from || n >= to));
    parts.from.setAttribute("aria-valuetext", `from ${words(startOf(from))}`);
    parts.to.setAttribute("aria-valuetext", `to ${words(startOf(to) - 1)}`);
    const { day: days } = State.get("plan");
    const within = span ? days.filter((day) => day >= span[0] && day <= span[1]).length : days.length;
    parts.said.textContent = isAll ? `all ${within} notes` : `${within} notes, ${words(startOf(from))} to ${words(startOf(to) - 1)}`;
    parts.all.hidden = isAll;
    State.set({ span });
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
    parts.from.addEventListener("input", () => setRange(Math.min(+parts.from.value, +parts.to.value - 1), +parts.to.value));
    parts.to.addEventListener("input", () => setRange(+parts.from.value, +parts.to.value));
    parts.all.addEventListener("click", () => {
      setRange(0, bars);
      parts.from.focus();
    });
    const head = element("div", { class: "head" }), track = element("div", { class: "track" }), ends = element("div", { class: "ends" });
    head.append("Written", parts.said, parts.all);
    track.append(parts.bars, parts.from, parts.to);
    ends.append(parts.early, parts.late);
    section.replaceChildren(head, track, ends);
    listenToDrag();
  }

  /** Draw the bars of a plan; a span that is chosen stays. */
  function show() {
    const isAll = State.get("span") === null;
    drawBars(divide(State.get("plan")));
    setRange(isAll ? 0 : +parts.from.value, isAll ? bars : +parts.to.value);
  }

  State.on("plan", (plan, before) => {
    if (before === null) {
      make();
      Colours.onChange(show);
    }
    show();
  });
})();
