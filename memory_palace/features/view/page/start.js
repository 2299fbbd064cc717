/** Open the plan, tell all parts of it, and say when it can be seen. */
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

start();
