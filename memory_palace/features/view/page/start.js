/** Open the plan, and tell all parts of it. */
async function start() {
  if (!("DecompressionStream" in window)) {
    document.getElementById("count").textContent = "This page needs Chrome 80, Firefox 113 or Safari 16.4, or one that is newer.";
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
