// A phone in the class: waits by its own clock, buys once, says in one sentence what came of it.

import { Opening } from "./opening.js";

const EVERY = 3000; // ms between two polls
const AFTER_FAILURE = 5000;
const ANSWER_MS = 8000; // for an answer to a poll
const PURCHASE_MS = 70_000; // for a purchase: the longest patience that a round may have, and some
const FIRST = 4; // polls in quick succession when a countdown begins: the fastest sets the clock
const BETWEEN_FIRST = 400; // ms
const SILENCE = 2000; // ms before the opening in which no phone asks: the shop is then idle
const SOON = 10_000; // ms before the opening from which on one should get ready
const HINT = 2500; // ms for which an early press is answered
// No press can change anything any more.
const FINAL = ["sold", "real", "missing", "the-missing", "gone", "over", "refused"];

const place = document.getElementById("class");
const said = document.getElementById("said");
const form = place.querySelector("form");
const button = form.querySelector("button");
const leftLine = place.querySelector(".left");
const lost = document.getElementById("lost");
const words = document.getElementById("words").content;
const since = place.dataset.since; // when this phone joined: in another class it joins anew

let round = 0; // 0: none was seen yet
let left = null; // units
let result = null; // {name, slots}: what came of this phone's wish in the round
let hint = null; // {slots, until}: an early press
let quick = 0; // polls still to be made in quick succession
let failures = 0;

const opening = new Opening(() => button, render);

function isBusy() {
  return button.ariaBusy === "true";
}

/** The sentence of this moment: [its name, what fills it]. */
function sentence() {
  if (isBusy()) return ["buying", {}];
  if (result) return [result.name, result.slots];
  if (!round) return ["none", {}];
  if (opening.left > 0) {
    if (hint && performance.now() < hint.until) return ["early", hint.slots];
    return [opening.left > SOON ? "waiting" : "soon", {}];
  }
  return [left === 0 ? "gone" : "open", {}];
}

function render() {
  const [name, slots] = sentence();
  const text = words.querySelector(`[data-for="${name}"]`).cloneNode(true);
  for (const slot of text.querySelectorAll("[data-slot]")) {
    slot.textContent = slots[slot.dataset.slot];
  }
  place.dataset.state = name;
  // A live region speaks at every write.
  if (said.textContent !== text.textContent) said.textContent = text.textContent;
  const hadFocus = document.activeElement === button;
  form.hidden = !round || FINAL.includes(name);
  if (form.hidden && hadFocus) said.focus(); // else the keyboard would begin at the top again
  leftLine.hidden = form.hidden || left === null; // a poll may be older than this phone's answer
  leftLine.querySelector("[data-slot]").textContent = left;
}

/** Remembered on the phone, so that neither a reload nor a second tab forgets it. */
function remember(name, slots = {}) {
  result = { name, slots };
  localStorage.setItem("class", JSON.stringify({ since, round, result }));
}

function remembered() {
  const kept = JSON.parse(localStorage.getItem("class"));
  return kept?.since === since ? kept : null;
}

/** What this phone knows of its round, perhaps from another tab. */
function recall() {
  const kept = remembered();
  if (kept?.round === round) result = kept.result;
}

function begin(number) {
  round = number;
  result = hint = null;
  recall();
}

function hear(state, received) {
  left = state.left;
  if (state.round) {
    const isNew = state.round !== round;
    if (isNew) begin(state.round);
    form.key.value = state.key;
    opening.hear(round, state.opens_in_ms, received);
    if (isNew && opening.left > 0) quick = FIRST;
  } else if (state.ending && [0, state.ending.round].includes(round)) {
    if (!round) begin(state.ending.round);
    if (result?.name !== state.ending.said) remember(state.ending.said, state.ending);
  } else if (round) {
    recall();
    // What was bought stays on the screen until the next countdown.
    if (!result || ["busy", "often"].includes(result.name)) remember("over");
  }
  render();
}

/** [the sentence's name, what fills it] of an answer to a purchase. */
function read(status, answer) {
  if (status === 201) return ["sold"];
  if (answer.outcome === "SOLD_OUT") return ["gone"];
  if (answer.outcome === "BUSY") return ["busy"];
  if (status === 429) return ["often", { detail: answer.detail }];
  if ("opens_in_ms" in answer) return ["early", answer];
  if (status === 409) return ["over"];
  return status >= 500 ? ["lost"] : ["refused", { detail: answer.detail ?? status }];
}

async function buy() {
  const of = round;
  let outcome = ["lost"];
  button.ariaBusy = "true"; // not `disabled`: it keeps the keyboard's focus
  render();
  try {
    const response = await fetch(form.action, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": form.key.value },
      body: JSON.stringify({ quantity: 1 }),
      signal: AbortSignal.timeout(PURCHASE_MS),
    });
    outcome = read(response.status, await response.json());
  } catch {
    // What became of the purchase is not known; pressed again, the same key will tell.
  }
  button.ariaBusy = "false";
  if (of === round) {
    const [name, slots] = outcome;
    if (name === "early") hint = { slots, until: performance.now() + HINT };
    else remember(name, slots);
  } // else the next countdown has begun meanwhile
  render();
}

async function ask() {
  const answer = await fetch("/class/state", { signal: AbortSignal.timeout(ANSWER_MS) });
  const received = performance.now();
  if (answer.status === 422) return location.reload(); // the phone has lost its cookie
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  hear(await answer.json(), received);
}

/** ms until the next poll. */
function pause() {
  let wait = failures ? AFTER_FAILURE : EVERY;
  if (!failures && quick > 0) {
    quick -= 1;
    wait = BETWEEN_FIRST;
  }
  wait *= 0.75 + 0.5 * Math.random(); // a class must not ask in the same instant
  const toGo = opening.left;
  return toGo > 0 && wait > toGo - SILENCE ? toGo + EVERY * (0.3 + Math.random()) : wait;
}

async function keepAsking() {
  if (!document.hidden) {
    await ask().then(
      () => (failures = 0),
      () => (failures += 1),
    );
    lost.hidden = failures < 2; // one lost answer is nothing to worry about
  }
  setTimeout(keepAsking, pause());
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!isBusy()) buy();
});

// This phone has bought in another tab: it is no stranger who was faster.
addEventListener("storage", () => {
  recall();
  render();
});

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) ask().catch(() => {}); // the next poll will tell
});

const now = JSON.parse(place.dataset.now);
if (!now.round && remembered()) begin(remembered().round); // loaded anew after the sale
hear(now, performance.now());
keepAsking();
