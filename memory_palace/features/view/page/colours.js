/** Colours of the plan: each room has one, and its notes with it. */
const Colours = (() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  // Made in OKLCH with one lightness and near chroma, so that no room outshines another, then darker
  // again; each has a contrast of 3 : 1 or more with the floor. tests/view/test_colours.py measures them.
  const LIGHT = {
    ground: "#f4f0e7", floor: "#fffdf8", ink: "#24272c", quiet: "#5d6066", line: "#d9d3c7",
    card: "#ffffff", mark: "#b3261e", halo: "#fffdf8", link: "#b3261e", back: "#1d5fa8", cold: "#7b828b",
    rooms: ["#0386b1", "#bb5752", "#418e47", "#8c64b7", "#a36e09", "#018d87", "#af578c", "#5477c7", "#7f8006", "#b66028",
      "#02536e", "#743633", "#28582c", "#573e71", "#654406", "#015754", "#6c3657", "#344a7b", "#4f4f04", "#713c19"],
  };
  const DARK = {
    ground: "#0f151e", floor: "#18212d", ink: "#ebe7de", quiet: "#a9b2be", line: "#2c3848",
    card: "#1f2a38", mark: "#ffb59e", halo: "#18212d", link: "#ffb59e", back: "#8cc4ff", cold: "#8a929c",
    rooms: ["#57b8e3", "#e88f87", "#7dbd7f", "#bb99e3", "#d3a056", "#41c1ba", "#dc8ebb", "#89a9f1", "#afb15b", "#e3966a",
      "#3d819f", "#a2645e", "#588459", "#836b9f", "#94703c", "#2e8782", "#9a6383", "#6076a9", "#7a7c40", "#9f694a"],
  };
  const month = new Intl.DateTimeFormat("en", { month: "short", year: "numeric", timeZone: "UTC" });
  const asMonth = (days) => month.format(days * 864e5);
  const asDay = (days) => new Date(days * 864e5).toISOString().slice(0, 10);

  let isPaper = false;
  /** Draw in light colours whatever the system has, or no longer. */
  const setPaper = (value) => {
    isPaper = value;
  };

  const theme = () => (dark.matches && !isPaper ? DARK : LIGHT);

  /** The colour of a room of the plan, by its number. */
  const ofRoom = (room) => (State.get("plan").rooms[room].cold ? theme().cold : theme().rooms[room % theme().rooms.length]);

  return { theme, setPaper, ofRoom, asMonth, asDay, onChange: (listen) => dark.addEventListener("change", listen) };
})();
