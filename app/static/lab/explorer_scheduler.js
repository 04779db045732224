// Makes a move without leaving the page. Without this script each move is a link.

import { lightAll } from "./explorer_lines.js";
import { search } from "./explorer_search.js";
import { AGAIN, pageNow, warn } from "./screen.js";

let asking = 0; // the newest question: an older one's answer is not shown any more
let busy = false;
let away = false; // the lab: what is pressed then is not a move for later
let pressed = []; // while busy: the next moves, whose addresses come with the answer
let timer = 0;

async function load(address, push) {
  const mine = (asking += 1);
  busy = true;
  const page = await answered(address, mine);
  if (!page) return;
  if (push) history.pushState(null, "", address);
  replace(page);
  busy = false;
  const next = document.getElementById(pressed.shift());
  if (next) load(next.href, true);
  else pressed = [];
}

/** The page there. While the lab is away this one stays, and asks until there is an answer. */
async function answered(address, mine) {
  while (mine === asking) {
    try {
      const page = await pageNow(address);
      if (mine !== asking) break;
      away = false;
      warn("");
      return page;
    } catch (error) {
      if (error.status < 500) {
        location.assign(address); // says what is wrong
        return null;
      }
      away = true;
      pressed = [];
      warn("away");
      await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
  }
  return null;
}

function replace(page) {
  const game = document.getElementById("game");
  const fresh = page.getElementById("game");
  const focus = game.contains(document.activeElement) ? document.activeElement.id : null;
  keepSpeaking("news", fresh);
  keepSpeaking("reward", fresh);
  game.replaceChildren(...fresh.childNodes);
  const moves = document.querySelector('.budget [name="moves"]');
  const kept = page.querySelector('.budget [name="moves"]');
  if (moves && kept) moves.value = kept.value;
  if (focus !== null) {
    const back = document.getElementById(focus) ?? document.querySelector(".moves a, #undo");
    back?.focus({ preventScroll: true });
  }
  settle();
}

/** The words that a screen reader hears must change in an element that stays. */
function keepSpeaking(id, fresh) {
  const speaks = document.getElementById(id);
  const told = fresh.querySelector(`#${id}`);
  if (speaks.textContent.trim() !== told.textContent.trim()) {
    speaks.replaceChildren(...told.childNodes);
  }
  told.replaceWith(speaks);
}

/** As long as the search goes on, ask again; only its own parts of the page change. */
async function askAgain() {
  const address = location.href;
  await search().catch(() => {});
  const page = await pageNow(address).catch(() => null);
  if (location.href !== address || busy) return;
  if (page) {
    document.getElementById("verdict").replaceWith(page.getElementById("verdict"));
    document.getElementById("reward").replaceChildren(...page.getElementById("reward").childNodes);
  }
  wait();
}

function wait() {
  clearTimeout(timer);
  const { again } = document.getElementById("verdict").dataset;
  if (again) timer = setTimeout(askAgain, 1000 * Number(again));
}

function settle() {
  lightAll(document);
  wait();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-move]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (busy && !away) pressed.push(link.id);
  if (!busy) load(link.href, true);
});

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.closest("input, select, summary")) return; // they have keys of their own
  const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  const link = document.querySelector(`[aria-keyshortcuts="${CSS.escape(key)}"]`);
  if (!link) return;
  event.preventDefault();
  link.click();
});

addEventListener("popstate", () => {
  pressed = [];
  load(location.href, false);
});
settle();
