// Keeps the verdict and the figures of a round true while somebody looks at them.

import { write } from "./screen.js";

const EVERY = 1000; // ms

const verdict = document.getElementById("audit");
const sentence = verdict.querySelector(".sentence");
const bar = document.querySelector(".bar svg");
const stocked = Number(bar.dataset.stocked);

function showVerdict(name, words) {
  verdict.dataset.verdict = name;
  write(sentence, words);
}

function drawBar(sold, held) {
  const span = Math.max(stocked, sold);
  const percent = (units) => `${(100 * units) / span}%`;
  bar.querySelector(".left").setAttribute("width", percent(stocked));
  bar.querySelector(".sold").setAttribute("width", percent(Math.min(stocked, sold)));
  const fair = Math.min(sold, stocked);
  bar.querySelector(".held").setAttribute("x", percent(fair));
  bar.querySelector(".held").setAttribute("width", percent(Math.min(held, stocked - fair)));
  bar.querySelector(".over").setAttribute("width", percent(Math.max(0, sold - stocked)));
  for (const name of [".over", ".mark"]) {
    bar.querySelector(name).setAttribute("x", percent(stocked));
  }
}

function show(audit) {
  showVerdict(audit.verdict, audit.sentence);
  const within = Math.min(audit.sold, stocked);
  const figures = { ...audit, ...audit.answers, within };
  for (const cell of document.querySelectorAll("[data-figure]")) {
    write(cell, figures[cell.dataset.figure].toLocaleString(document.documentElement.lang));
  }
  for (const cell of document.querySelectorAll(".zero td")) {
    cell.classList.toggle("wrong", cell.textContent !== "0");
  }
  for (const part of document.querySelectorAll("[data-running]")) {
    part.hidden = part.dataset.running !== String(audit.running);
  }
  drawBar(audit.sold, audit.held);
}

/** Asks once. Returns whether there is anything more to wait for. */
async function refresh() {
  const answer = await fetch(verdict.dataset.url, { headers: { Accept: "application/json" } });
  const audit = await answer.json();
  if (answer.ok) show(audit);
  else showVerdict("away", audit.detail);
  return !answer.ok || audit.running || !audit.settled;
}

async function keepFresh() {
  let more = true;
  if (!document.hidden) {
    more = await refresh().catch(() => {
      showVerdict("away", document.getElementById("lost").content.textContent);
      return true;
    });
  }
  if (more) setTimeout(keepFresh, EVERY);
}

keepFresh();
