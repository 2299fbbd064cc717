/** Colours of the plan, and which of them each note has. */
const Colours = (() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  // Sequences made in OKLCH: lightness runs one way, so that they can be told apart without hue; every
  // colour has a contrast of 3 : 1 or more with the floor. tests/view/test_colours.py measures them.
  const LIGHT = {
    ground: "#f4f0e7", corridor: "#e2dacb", floor: "#fffdf8", cold: "#eef1f3", wall: "#57514a", ink: "#24272c", quiet: "#5d6066", line: "#d9d3c7", path: "#b08d57",
    card: "#ffffff", mark: "#b3261e", halo: "#fffdf8", link: "#b3261e", back: "#1d5fa8", none: "#8b877f",
    age: ["#7397a6", "#6787ab", "#6d72aa", "#7b599c", "#883f7d", "#90224f", "#8b0005"],
  };
  const DARK = {
    ground: "#0f151e", corridor: "#070b11", floor: "#17202c", cold: "#131920", wall: "#8a9bb0", ink: "#ebe7de", quiet: "#a9b2be", line: "#2c3848", path: "#8f7a4f",
    card: "#1f2a38", mark: "#ffb59e", halo: "#17202c", link: "#ffb59e", back: "#8cc4ff", none: "#76808e",
    age: ["#547389", "#737da6", "#9d84b4", "#c98bb1", "#ee989c", "#feb184", "#ffd16b"],
  };
  const month = new Intl.DateTimeFormat("en", { month: "short", year: "numeric", timeZone: "UTC" });
  const asMonth = (days) => month.format(days * 864e5);
  const asDay = (days) => new Date(days * 864e5).toISOString().slice(0, 10);
  const dayOf = (plan, note) => `${plan.undated[note] ? "file of " : ""}${asDay(plan.day[note])}`;

  let isPaper = false;
  /** Draw in light colours whatever the system has, or no longer. */
  const setPaper = (value) => {
    isPaper = value;
  };

  const theme = () => (dark.matches && !isPaper ? DARK : LIGHT);

  /** Bounds that divide values into at most `most` classes of about the same number of notes. */
  function evenBounds(values, most) {
    const sorted = Float64Array.from(values).sort();
    const bounds = [];
    for (let part = 1; part < most; part++) {
      const bound = sorted[Math.floor((part * sorted.length) / most)];
      if (bound > (bounds.at(-1) ?? sorted[0])) bounds.push(bound);
    }
    return bounds;
  }

  const classIn = (bounds, value) => {
    let found = 0;
    while (found < bounds.length && value >= bounds[found]) found += 1;
    return found;
  };

  /** Some colours of a sequence, evenly chosen, its ends among them. */
  const choose = (count, colours) =>
    Array.from({ length: count }, (_, k) => colours[count < 2 ? colours.length - 1 : Math.round((k * (colours.length - 1)) / (count - 1))]);

  /** The class of each note by its age, the colour of each class and what it means in words. */
  function ofNotes(plan) {
    const dated = plan.day.filter((_, note) => !plan.undated[note]);
    const bounds = evenBounds(dated, 7);
    const oldest = dated.reduce((least, day) => Math.min(least, day), plan.today);
    const starts = dated.length ? [oldest, ...bounds] : [];
    const apart = dated.length < plan.count ? starts.length : null; // the class of those that only their file dates
    const ends = [...bounds.map((bound) => bound - 1), dated.reduce((most, day) => Math.max(most, day), oldest)];
    return {
      classes: plan.day.map((day, note) => (plan.undated[note] ? apart : classIn(bounds, day))),
      classOfDay: (day) => classIn(bounds, day), apart,
      colours: [...choose(starts.length, theme().age), ...(apart === null ? [] : [theme().none])],
      words: [
        ...starts.map((start, k) => (asMonth(start) === asMonth(ends[k]) ? asMonth(start) : `${asMonth(start)} to ${asMonth(ends[k])}`)),
        "dated by its file alone",
      ],
      ends: dated.length ? [asMonth(oldest), asMonth(ends.at(-1))] : [],
    };
  }

  return { theme, setPaper, ofNotes, asMonth, asDay, dayOf, onChange: (listen) => dark.addEventListener("change", listen) };
})();
