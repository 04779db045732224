// The projector: who is there, the countdown, the sale, the verdict; all by the lab's stream.

import { AGAIN, hear, pageNow, said, write } from "./screen.js";

const stage = document.getElementById("stage");
const sentence = stage.querySelector(".sentence");
const count = stage.querySelector(".count");
const seconds = count.querySelector("[data-slot]");
const actions = document.getElementById("actions");
const names = document.getElementById("names");
const words = document.getElementById("words").content;

let opens = performance.now() + Number(stage.dataset.opensIn); // by this browser's clock
let timer = null;

function figure(name, value) {
  const text = value === null ? "–" : value.toLocaleString(document.documentElement.lang);
  write(document.querySelector(`[data-figure="${name}"]`), text);
}

function tick() {
  clearTimeout(timer);
  const waiting = stage.dataset.phase === "waiting";
  const left = Math.max(0, opens - performance.now());
  count.hidden = !waiting;
  if (!waiting) return;
  write(seconds, String(Math.ceil(left / 1000)));
  if (left > 0) timer = setTimeout(tick, left % 1000 || 1000);
  else showPhase("selling"); // the stream says so within half a second
}

function showPhase(phase, verdict = "") {
  stage.dataset.phase = phase;
  write(sentence, verdict || said(phase));
  tick();
}

/** The buttons are the server's: take them from the page. */
async function drawActions() {
  const page = await pageNow("/classroom"); // where we are may be a refused form
  const hadFocus = actions.contains(document.activeElement);
  actions.replaceChildren(...page.getElementById("actions").childNodes);
  if (hadFocus) actions.querySelector("button")?.focus();
}

function tryToDrawActions() {
  drawActions().catch(() => setTimeout(tryToDrawActions, AGAIN));
}

function showSale(sale) {
  const was = `${stage.dataset.round} ${stage.dataset.phase}`;
  opens = performance.now() + sale.opens_in_ms;
  stage.dataset.round = sale.round;
  stage.dataset.verdict = sale.verdict;
  showPhase(sale.phase, sale.phase === "over" ? sale.sentence : "");
  figure("left", sale.left);
  figure("sold", sale.sold);
  document.querySelector('[data-figure="sold"]').classList.toggle("wrong", sale.sold > sale.stock);
  if (was !== `${sale.round} ${sale.phase}`) tryToDrawActions();
}

function showNames(everybody) {
  const [shown, hidden] = words.querySelectorAll("li");
  const focused = names.contains(document.activeElement) && document.activeElement.value;
  names.replaceChildren(
    ...everybody.map(({ id, name, bought }) => {
      const chip = (name ? shown : hidden).cloneNode(true);
      chip.querySelector("button").value = id;
      if (name) chip.querySelector("bdi").textContent = name;
      chip.toggleAttribute("data-bought", bought);
      return chip;
    }),
  );
  if (focused) names.querySelector(`button[value="${CSS.escape(focused)}"]`)?.focus();
  figure("here", everybody.length);
}

function follow() {
  const events = hear(stage.dataset.events, () => setTimeout(follow, AGAIN));
  events.addEventListener("sale", (event) => showSale(JSON.parse(event.data)));
  events.addEventListener("names", (event) => showNames(JSON.parse(event.data)));
}

follow();
tick();
