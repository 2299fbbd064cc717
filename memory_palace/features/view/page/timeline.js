/** How many notes were written when, of those that say so, and a span that the plan keeps to. */
(() => {
  const MOST_BARS = 96;
  const STEPS = [1, 7, 30.4375, 91.3125, 365.25]; // days
  const LEAST_SHARE = 0.1; // of the notes that say their day; with fewer there is no timeline
  let days = []; // of the notes that say theirs
  let first = 0, step = 1, bars = 1;
  const part = (id) => document.getElementById(id);
  const [section, strip, from, to] = [part("timeline"), part("bars"), part("from"), part("to")];

  /** Choose the bars, and return how many notes each has. */
  function divide() {
    const sorted = Float64Array.from(days).sort();
    const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
    let last = at(1);
    first = at(0);
    // A year that was misread, such as 2193, must not push all others into one bar.
    if (last - first > 4 * (at(0.995) - at(0.005)) + 400) [first, last] = [at(0.005) - 15, at(0.995) + 15];
    step = STEPS.find((length) => (last - first + 1) / length <= MOST_BARS) ?? (last - first + 1) / MOST_BARS;
    bars = Math.max(Math.ceil((last - first + 1) / step), 1);
    const counts = new Array(bars).fill(0);
    for (const day of days) counts[Math.max(Math.min(Math.floor((day - first) / step), bars - 1), 0)] += 1;
    return counts;
  }

  const startOf = (bar) => Math.round(first + bar * step);
  const words = (day) => (step < 28 ? Colours.asDay(day) : Colours.asMonth(day));

  function drawBars(counts) {
    const most = Math.max(...counts);
    strip.replaceChildren(...counts.map((count) => {
      const bar = document.createElement("i");
      // Square roots: beside a month of a thousand notes, a month of three can still be seen.
      bar.style.height = count ? `${Math.max(100 * Math.sqrt(count / most), 6)}%` : "0";
      return bar;
    }));
    from.max = to.max = bars;
    part("early").textContent = words(startOf(0));
    part("late").textContent = words(startOf(bars) - 1);
  }

  /** Choose a span of bars, say it in words, and have the plan keep to it. */
  function setRange(start, end) {
    start = Math.min(start, bars - 1);
    end = Math.min(Math.max(end, start + 1), bars);
    [from.value, to.value] = [start, end];
    const isAll = start === 0 && end === bars;
    const span = isAll ? null : [start === 0 ? -Infinity : startOf(start), end === bars ? Infinity : startOf(end) - 1];
    [...strip.children].forEach((bar, n) => bar.classList.toggle("out", n < start || n >= end));
    from.setAttribute("aria-valuetext", `from ${words(startOf(start))}`);
    to.setAttribute("aria-valuetext", `to ${words(startOf(end) - 1)}`);
    const all = State.get("plan").count, undated = all - days.length;
    const said = isAll ? `all ${all} notes`
      : `${days.filter((day) => day >= span[0] && day <= span[1]).length} notes, ${words(startOf(start))} to ${words(startOf(end) - 1)}`;
    part("span").textContent = undated ? `${said} · ${undated} undated` : said;
    part("whole").hidden = isAll;
    State.set({ span });
  }

  from.addEventListener("input", () => setRange(Math.min(+from.value, +to.value - 1), +to.value));
  to.addEventListener("input", () => setRange(+from.value, +to.value));
  part("whole").addEventListener("click", () => {
    setRange(0, bars);
    from.focus();
  });

  /** Draw the bars of a plan; a span that is chosen stays. */
  State.on("plan", (plan) => {
    const isAll = State.get("span") === null;
    days = plan.day.filter((day) => day !== null);
    section.hidden = !days.length || days.length < LEAST_SHARE * plan.count;
    if (section.hidden) return State.set({ span: null });
    drawBars(divide());
    setRange(isAll ? 0 : +from.value, isAll ? bars : +to.value);
  });
})();
