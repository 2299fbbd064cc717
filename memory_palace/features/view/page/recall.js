/** A field to say something in, as to a friend: what comes to mind of the notes is shown below it. */
const Recall = (() => {
  const HINT = "Say something, a whole sentence: what the notes have on it appears here.";
  const SILENCE = "Nothing comes to mind.";
  const make = (name, values = {}, ...children) => {
    const element = Object.assign(document.createElement(name), values);
    element.append(...children);
    return element;
  };
  const field = make("textarea", { id: "said", rows: 3, maxLength: 1000, placeholder: "The rain gauge is stuck again …" });
  const answer = make("div", { id: "recalled" });
  const button = make("button", { id: "recall-button", type: "button", textContent: "Recall", title: "What comes to mind" });
  const shut = make("button", { type: "button", textContent: "×", title: "Close" });
  const drawer = make("section", { id: "recall", hidden: true },
    make("div", { className: "bar" }, make("h2", { textContent: "What comes to mind" }), shut),
    make("label", { htmlFor: "said", textContent: "Something that was just said" }), field, answer);
  const narrow = matchMedia("(max-width: 640px)");
  let asking = null;

  /** Let the plan show where what came to mind is, unless it shows what was searched. */
  function mark(notes) {
    if (!State.get("query")) State.set({ matches: notes });
  }

  function say(sentence) {
    mark(null);
    answer.replaceChildren(make("p", { className: "quiet", textContent: sentence }));
  }

  function show({ problem, spoken, hits }) {
    if (problem) return say(problem);
    if (!spoken || hits.length === 0) return say(SILENCE);
    const { title } = State.get("plan");
    mark(hits.map(({ note }) => note));
    answer.replaceChildren(...hits.map(({ note, date, date_source: source, text }) => {
      const way = make("button", { type: "button", className: "way", textContent: title[note], dir: "auto" });
      way.addEventListener("click", () => {
        if (narrow.matches) open(false); // the note comes up in its place
        State.set({ selected: note });
      });
      return make("article", {}, way, make("time", { dateTime: date, textContent: source ? `file of ${date}` : date }),
        make("p", { textContent: text.split("\n").map(Folding.plain).join("\n"), dir: "auto" }));
    }));
    return undefined;
  }

  /** Ask what comes to mind of what stands in the field; an older answer never comes after a newer one. */
  async function ask() {
    asking?.abort();
    asking = new AbortController();
    const text = field.value.trim();
    if (!text) return say(HINT);
    const found = await Live.question("recall", { text }, asking.signal);
    if (found) show(found);
    return undefined;
  }

  function open(isOpen) {
    drawer.hidden = !isOpen;
    document.documentElement.toggleAttribute("data-recall", isOpen);
    button.setAttribute("aria-expanded", String(isOpen));
    (isOpen ? field : button).focus();
    if (isOpen) ask();
    else mark(null);
  }

  /** Put the button into the header, or on the plan where the header of a phone has no room. */
  function placeButton({ matches: isNarrow }) {
    if (isNarrow) document.getElementById("plan").append(button);
    else document.querySelector("#tools .buttons").before(button);
  }

  State.on("plan", (plan, before) => {
    if (!plan.live) return;
    if (before !== null) return void (drawer.hidden || ask()); // what is shown names notes by their places
    button.setAttribute("aria-controls", "recall");
    button.setAttribute("aria-expanded", "false");
    drawer.setAttribute("aria-label", "What comes to mind");
    shut.setAttribute("aria-label", "Close what comes to mind");
    answer.setAttribute("aria-live", "polite");
    narrow.addEventListener("change", placeButton);
    placeButton(narrow);
    document.querySelector("main").append(drawer);
    say(HINT);
    button.addEventListener("click", () => open(drawer.hidden));
    shut.addEventListener("click", () => open(false));
    field.addEventListener("input", ask);
    drawer.addEventListener("keydown", (event) => {
      event.stopPropagation(); // what is typed here is no key of the plan
      if (event.key === "Escape") open(false);
    });
  });

  return { open };
})();
