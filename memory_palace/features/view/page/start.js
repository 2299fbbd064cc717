/** Open the plan, tell all parts of it, and say when it can be seen. */
const THEMES = ["auto", "light", "dark"];

function showTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  button.setAttribute("aria-label", `Theme: ${theme}`);
}

function say(sentence) {
  const words = document.createElement("p");
  words.className = "sentence";
  words.textContent = sentence;
  document.getElementById("plan").replaceChildren(words);
}

async function start() {
  if (!("DecompressionStream" in window)) {
    say("This browser cannot unpack the plan: it needs DecompressionStream, which Chrome 80, Firefox 113 and Safari 16.4 have.");
    return;
  }
  const plan = await Data.open();
  State.set({ plan });
  Plan.draw();
  performance.mark("plan-painted");
  document.documentElement.dataset.ready = "plan";
  State.follow();
}

State.on("theme", showTheme);
document.getElementById("theme").addEventListener("click", () => {
  State.set({ theme: THEMES[(THEMES.indexOf(State.get("theme")) + 1) % THEMES.length] });
});
start();
