// Keeps the shelf true: asks GET /items every two seconds while somebody looks at it.

import { Opening } from "./opening.js";

const EVERY = 2000; // ms
const AFTER_FAILURE = 8000; // a shop in trouble is not helped by being asked more often

const words = document.getElementById("stock-words");
const few = Number(words.dataset.few);
const answers = document.getElementById("answers");

/** Fills the words that the page keeps in a <template> for `name` and returns them. */
export function say(template, name, slots) {
  const words = template.content.querySelector(`[data-for="${name}"]`).cloneNode(true);
  for (const slot of words.querySelectorAll("[data-slot]")) {
    slot.textContent = slots[slot.dataset.slot];
  }
  return words;
}

/** Says how many units are left. `item` is a row of GET /items. Returns the state's name. */
export function showStock(card, item) {
  const { left, on_sale } = item;
  const state =
    !on_sale || left === null ? "off" : left === 0 ? "none" : left <= few ? "few" : "plenty";
  const line = card.querySelector(".stock");
  line.dataset.state = state;
  line.replaceChildren(...say(words, state, { left }).childNodes);
  return state;
}

/** A purchase is under way. */
export function isBusy(form) {
  return form.querySelector("button").ariaBusy === "true";
}

const openings = new Map(); // slug -> when its round opens

for (const card of document.querySelectorAll("[data-slug]")) {
  const button = () => card.querySelector(".buy form button");
  const opening = new Opening(button, (opened) => {
    if (opened && button()) card.querySelector(".said").replaceChildren(say(answers, "open", {}));
  });
  opening.hear(card.dataset.round, Number(card.dataset.opensIn), performance.now());
  openings.set(card.dataset.slug, opening);
}

function offerQuantities(select, most) {
  while (select.length > most) select.remove(select.length - 1);
  while (select.length < most) select.add(new Option(select.length + 1));
}

/** A form has to come or go: the server draws both, so the page is asked for its own new self. */
async function redraw(slugs) {
  const answer = await fetch("/", { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const slug of slugs) {
    const place = `[data-slug="${slug}"] .buy`;
    const old = document.querySelector(place);
    const hadFocus = old.contains(document.activeElement);
    old.replaceChildren(...page.querySelector(place).childNodes);
    if (hadFocus) old.focus();
    openings.get(slug).draw();
  }
}

async function refresh() {
  const answer = await fetch("/items", { signal: AbortSignal.timeout(AFTER_FAILURE) });
  const received = performance.now();
  if (!answer.ok) return AFTER_FAILURE;
  const stale = [];
  for (const item of await answer.json()) {
    const card = document.querySelector(`[data-slug="${item.slug}"]`);
    if (!card) continue;
    openings.get(item.slug).hear(String(item.round), item.opens_in_ms, received);
    const state = showStock(card, item);
    const form = card.querySelector("form");
    // A purchase without an answer keeps its form, even when the stock is gone: asking again
    // with the same key is how the buyer learns that the last apple was theirs.
    if (form && (form.dataset.open || isBusy(form))) continue;
    const some = state === "few" || state === "plenty";
    const buyable = some && !item.tickets;
    const drawn = card.querySelector(".buy [data-state]")?.dataset.state;
    const told = Number(card.querySelector("[data-per-buyer]")?.dataset.perBuyer ?? 0);
    if (buyable && form && told === item.per_buyer) offerQuantities(form.quantity, Math.min(item.limit, item.left));
    else if (buyable || drawn !== (some ? "class" : state)) stale.push(item.slug);
  }
  if (stale.length) await redraw(stale);
  return EVERY;
}

async function keepFresh() {
  let wait = EVERY;
  if (!document.hidden) wait = await refresh().catch(() => AFTER_FAILURE);
  // Jitter: a hundred open pages must not ask in the same instant.
  setTimeout(keepFresh, wait * (0.75 + 0.5 * Math.random()));
}

setTimeout(keepFresh, EVERY * Math.random());
