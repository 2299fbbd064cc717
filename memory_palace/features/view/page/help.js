/** What keys and mouse do, in a dialog. */
const Help = (() => {
  const { make } = Markdown;
  const dialog = document.getElementById("help");
  const ROWS = [
    ["/", "search titles, names, first lines and #tags"],
    ["↑ ↓ ← →", "on the plan: walk from note to note; in search: walk the results"],
    ["Enter", "open the note"],
    ["Escape", "close the note, the results or this help; leave a room"],
    ["+ - 0", "zoom in, zoom out, show the whole plan"],
    ["[ ]", "the room before, the next room"],
    ["Alt ←", "back to the note before, as in any browser"],
    ["?", "this help"],
    ["Tab", "from part to part: search, rooms, plan, note, timeline"],
  ];

  function makeTable() {
    const table = make("table");
    const body = make("tbody");
    for (const [keys, words] of ROWS) {
      const row = make("tr");
      const head = make("th");
      head.scope = "row";
      for (const key of keys.split(" ")) head.append(make("kbd", "", key), " ");
      row.append(head, make("td", "", words));
      body.append(row);
    }
    table.append(body);
    return table;
  }

  function makeSwitch() {
    const label = make("label");
    const box = make("input");
    box.type = "checkbox";
    box.checked = Keys.isOn();
    box.addEventListener("change", () => Keys.setOn(box.checked));
    label.append(box, " Keys of one letter or sign work (switch them off if you speak to your computer)");
    return label;
  }

  function show() {
    if (!dialog.childElementCount) {
      const close = make("button", "", "Close");
      close.type = "button";
      close.addEventListener("click", () => dialog.close());
      dialog.append(
        make("h2", "", "Walking the palace"),
        make("p", "", "Drag to move, turn the wheel or pinch to zoom, click a note to read it. Paper prints the note that is open, or else the plan."),
        makeTable(), makeSwitch(), close,
      );
    }
    dialog.showModal();
    dialog.lastElementChild.focus();
  }

  document.getElementById("help-button").addEventListener("click", show);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());

  return { show };
})();
