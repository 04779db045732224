// Steps through a schedule that the page holds whole. Without this script each step is a link.

import { lightAll } from "./explorer_lines.js";

const PACE = 1800; // ms a step is looked at while it plays

const controls = document.getElementById("player");
const slider = document.getElementById("slider");
const button = document.getElementById("play");
const news = document.getElementById("news");
const last = Number(controls.dataset.last);
let at = Number(slider.value);
let timer = 0;

function go(step) {
  at = Math.min(Math.max(step, 0), last);
  for (const part of document.querySelectorAll("[data-at]")) {
    part.hidden = Number(part.dataset.at) !== at;
  }
  for (const row of document.querySelectorAll(".chart [data-step]")) {
    if (Number(row.dataset.step) === at) row.setAttribute("aria-current", "step");
    else row.removeAttribute("aria-current");
  }
  slider.value = at;
  lightAll(document);
  for (const link of controls.querySelectorAll("[data-go]")) {
    link.href = address(target(link.dataset.go));
  }
  history.replaceState(null, "", address(at));
  if (at === last) play(false);
}

function address(step) {
  const here = new URL(controls.querySelector("[data-go]").href);
  here.searchParams.set("step", step);
  return here.href;
}

function target(key) {
  return { Home: 0, End: last, ArrowLeft: Math.max(at - 1, 0),
    ArrowRight: Math.min(at + 1, last) }[key];
}

function play(on) {
  clearInterval(timer);
  timer = 0;
  if (on) {
    if (at === last) go(0);
    timer = setInterval(() => go(at + 1), PACE);
  }
  // One sentence after the other would drown each other out; the last one is read.
  news.setAttribute("aria-live", on ? "off" : "polite");
  button.ariaPressed = String(on);
  for (const words of button.children) words.hidden = words.dataset.playing !== String(on);
}

controls.addEventListener("click", (event) => {
  const link = event.target.closest("[data-go]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  play(false);
  go(target(link.dataset.go));
});

document.querySelector(".chart").addEventListener("click", (event) => {
  const row = event.target.closest("a.number")?.closest("[data-step]");
  if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  play(false);
  go(Number(row.dataset.step));
});

button.addEventListener("click", () => play(!timer));
slider.addEventListener("input", () => {
  play(false);
  go(slider.valueAsNumber);
});

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  // A slider and a list have arrows of their own; a button and a link have the space bar.
  if (event.target.closest("input, select, summary")) return;
  if (event.key === " ") {
    if (event.target.closest("button, a, pre")) return;
    event.preventDefault();
    play(!timer);
  } else if (target(event.key) !== undefined) {
    event.preventDefault();
    play(false);
    go(target(event.key));
  }
});

slider.hidden = button.hidden = false;
go(at);
