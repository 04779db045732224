// Waits on the order page until the sale is in the books. Without it the page reloads itself.

const EVERY = 1000; // ms
const AT_MOST = 60; // then the books are slow, and the page says so instead of asking for ever

const steps = document.querySelector(".steps");
const [, confirmed] = steps.querySelectorAll("li");

function show(state) {
  for (const words of confirmed.querySelectorAll("[data-when]")) {
    words.hidden = words.dataset.when !== state;
  }
  if (state !== "confirmed") return;
  confirmed.classList.add("done");
  confirmed.removeAttribute("aria-current");
}

async function state() {
  const answer = await fetch(`/orders/${steps.dataset.order}`, {
    headers: { Accept: "application/json" },
  });
  if (answer.status === 410) location.reload(); // it could not be booked
  return answer.ok ? (await answer.json()).state : "recorded";
}

async function wait() {
  for (let asked = 0; asked < AT_MOST; asked += 1) {
    await new Promise((resolve) => setTimeout(resolve, EVERY));
    if ((await state().catch(() => "recorded")) === "confirmed") return show("confirmed");
  }
  show("late");
}

wait();
