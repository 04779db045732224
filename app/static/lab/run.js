// Follows one run: its events into figures, sentence and chart.

import { Chart } from "./chart.js";
import { AGAIN, hear, pageNow, said, warn, write } from "./screen.js";

const run = document.getElementById("run");
const verdict = document.getElementById("verdict");
const sentence = verdict.querySelector(".sentence");
const progress = run.querySelector("progress");
const cells = [...document.querySelectorAll("[data-figure]")];
const stock = Number(run.dataset.stock);
const chart = new Chart(document.getElementById("chart"), stock);
const EVERY = 250; // ms between two drawings, when many events come at once

let newest = null;
let drawing = null;

/** As a person reads it from the last row: no more digits than mean something. */
function shown(value) {
  if (value === null || value === undefined) return "–";
  const digits = value < 10 ? 1 : 0;
  return value.toLocaleString(document.documentElement.lang, { maximumFractionDigits: digits });
}

function draw() {
  drawing = null;
  const figures = { SOLD_OUT: 0, BUSY: 0, ERROR: 0, ...newest, ...newest.answers };
  for (const cell of cells) {
    const value = figures[cell.dataset.figure];
    write(cell, shown(value));
    if (cell.dataset.figure === "ERROR") cell.classList.toggle("wrong", value > 0);
    if (cell.dataset.figure === "sold") cell.classList.toggle("wrong", value > stock);
  }
  if ("on" in run.dataset) {
    write(sentence, said(newest.phase));
    if (newest.phase === "selling") progress.value = newest.at_s;
    else progress.removeAttribute("value"); // nobody knows how long this takes
  }
  chart.draw();
}

/** All that came within a moment is drawn once: a late screen gets the whole run at once. */
function soon() {
  drawing ??= setTimeout(draw, EVERY);
}

/** The verdict's sentence is the server's, in the reader's language: take it from the page. */
async function showEnd() {
  delete run.dataset.on;
  document.getElementById("stop").hidden = true;
  progress.hidden = true;
  const ended = (await pageNow()).getElementById("verdict");
  verdict.dataset.verdict = ended.dataset.verdict;
  write(sentence, ended.querySelector(".sentence").textContent);
  verdict.querySelector(".how").replaceChildren(...ended.querySelector(".how").childNodes);
  chart.draw(); // in the room that is left to it now
}

async function tryToShowEnd() {
  try {
    await showEnd();
    warn("");
  } catch {
    warn("cut");
    setTimeout(tryToShowEnd, AGAIN);
  }
}

function follow() {
  chart.points = []; // all are told again
  const events = hear(run.dataset.events, () => setTimeout(follow, AGAIN));
  events.addEventListener("sample", (event) => {
    newest = JSON.parse(event.data);
    chart.add(newest);
    soon();
  });
  events.addEventListener("end", (event) => {
    events.close();
    const { figures } = JSON.parse(event.data);
    if (figures.phase) {
      newest = figures;
      chart.add(newest);
      soon();
    }
    if ("on" in run.dataset) tryToShowEnd();
  });
}

follow();
