// Makes a move without leaving the page. Without this script each move is a link.

import { lightAll } from "./explorer_lines.js";
import { search } from "./explorer_search.js";
import { pageNow } from "./screen.js";

let asking = 0; // the newest question: an older one's answer is not shown any more
let busy = false;
let pressed = ""; // while busy: the next move, whose address comes with the answer
let timer = 0;

async function load(address, push, focus) {
  const mine = (asking += 1);
  busy = true;
  const page = await pageNow(address).catch(() => null);
  if (mine !== asking) return;
  if (!page) {
    location.assign(address); // says what is wrong
    return;
  }
  if (push) history.pushState(null, "", address);
  replace(page, focus);
  busy = false;
  const next = document.getElementById(pressed);
  pressed = "";
  if (next) load(next.href, true, next.id);
}

function replace(page, focus) {
  const game = document.getElementById("game");
  const fresh = page.getElementById("game");
  // The words that a screen reader hears must change in an element that stays.
  const news = document.getElementById("news");
  const told = fresh.querySelector("#news");
  if (news.textContent.trim() !== told.textContent.trim()) news.replaceChildren(...told.childNodes);
  told.replaceWith(news);
  game.replaceChildren(...fresh.childNodes);
  const moves = document.querySelector('.budget [name="moves"]');
  const kept = page.querySelector('.budget [name="moves"]');
  if (moves && kept) moves.value = kept.value;
  const back = document.getElementById(focus) ?? document.querySelector(".moves a, #undo");
  if (focus) back?.focus({ preventScroll: true });
  settle();
}

/** As long as the search goes on, ask again; only its own part of the page changes. */
async function askAgain() {
  const address = location.href;
  await search().catch(() => {});
  const page = await pageNow(address).catch(() => null);
  if (location.href !== address) return;
  if (page) document.getElementById("verdict").replaceWith(page.getElementById("verdict"));
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
  if (busy) pressed = link.id;
  else load(link.href, true, link.id);
});

addEventListener("popstate", () => load(location.href, false, ""));
settle();
