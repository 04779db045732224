// Buys without leaving the page. Without this script the same forms are posted by the browser.

import { isBusy, say, showStock } from "./stock.js";

const answers = document.getElementById("answers");

/**
 * A key as a program would make one: JSON needs none that the server has signed. Its moment comes
 * first, as in a UUIDv7: the books write keys of one time into one place.
 * Not randomUUID(): that is missing on plain http in a local network, and random throughout.
 */
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  const random = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return Date.now().toString(16).padStart(12, "0") + random;
}

function setBusy(form, busy) {
  // Not `disabled`: the button would lose the keyboard's focus just when it matters.
  form.querySelector("button").ariaBusy = busy;
}

/** Decides what an answer means to the customer: [the words' name, their slots, is it final]. */
function read(status, answer) {
  if (answer.outcome === "SOLD_OUT") {
    const name = answer.left > 0 ? "short" : answer.yours ? "yours" : "gone";
    return [name, { left: answer.left }, true];
  }
  if (answer.outcome === "BUSY") return ["busy", {}, false];
  if (status === 429) return ["often", { detail: answer.detail }, false];
  return ["refused", { detail: answer.detail ?? answer.title ?? status }, status < 500];
}

async function buy(form) {
  const card = form.closest("[data-slug]");
  const said = card.querySelector(".said");
  said.replaceChildren();
  setBusy(form, true);
  // Until an answer is final the next press sends the same key: if the sale was made and only
  // its answer was lost, the shop finds it by that key and does not sell a second time.
  let [name, slots, final] = ["lost", {}, false];
  try {
    const response = await fetch(form.action, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": form.key.value },
      body: JSON.stringify({ quantity: Number(form.quantity.value) }),
    });
    const answer = await response.json();
    if (response.status === 201) {
      settle(form);
      location.assign(`/orders/${answer.order}`);
      return;
    }
    [name, slots, final] = read(response.status, answer);
    if (answer.outcome === "SOLD_OUT") showStock(card, { left: answer.left, on_sale: true });
  } catch {
    // No answer, or none that can be read: what became of the purchase is not known.
  }
  if (final) settle(form);
  else keepOpen(form, name === "often" ? form.quantity.disabled : name !== "busy");
  setBusy(form, false);
  said.replaceChildren(say(answers, name, slots));
}

/** What happened is known: whatever is bought next is another purchase. */
function settle(form) {
  delete form.dataset.open;
  form.key.value = newKey();
  form.quantity.disabled = false;
}

/** The same purchase may be asked for again. If it may have been made, it stays as it was. */
function keepOpen(form, unknown) {
  form.dataset.open = "true";
  form.quantity.disabled = unknown;
}

document.addEventListener("submit", (event) => {
  const form = event.target.closest(".buy form");
  if (!form) return;
  event.preventDefault();
  if (!isBusy(form)) buy(form);
});

// Back from the order page: the browser may show this page as it was when it was left.
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const form of document.querySelectorAll(".buy form")) setBusy(form, false);
});
