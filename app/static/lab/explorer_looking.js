// Asks whether the search is over, and shows the page then. Without this script the page reloads.

import { search } from "./explorer_search.js";

const { again } = document.querySelector("[data-again]").dataset;

async function ask() {
  await search().catch(() => {}); // while the lab does not answer, it is asked again
  const answer = await fetch(location.href, { headers: { Accept: "application/json" } })
    .catch(() => null);
  if (!answer || answer.status === 202) wait();
  else location.reload();
}

function wait() {
  setTimeout(ask, 1000 * Number(again));
}

ask();
