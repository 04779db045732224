// Follows a comparison: at each step the server's page, in the reader's language, is taken anew.

import { AGAIN, hear, pageNow, warn, write } from "./screen.js";

const section = document.getElementById("comparison");
const stop = document.getElementById("stop");

/** Puts the new in the old one's place; the keyboard stays on the link where it was. */
function replace(id, page) {
  const old = document.getElementById(id);
  const focused = old.contains(document.activeElement) && document.activeElement;
  old.replaceChildren(...page.getElementById(id).childNodes);
  if (!focused) return;
  const links = [...old.querySelectorAll("a")];
  const same = links.find((link) => link.href === focused.href) ?? links[0];
  same?.focus({ preventScroll: true });
}

async function show() {
  const page = await pageNow();
  const now = page.getElementById("comparison");
  write(section.querySelector(".state"), now.querySelector(".state").textContent);
  section.querySelector("progress").value = now.querySelector("progress").value;
  replace("finding", page);
  replace("current", page);
  replace("result", page);
  stop.hidden = page.getElementById("stop").hidden;
  if (stop.hidden) delete section.dataset.events; // nothing comes any more: no room is kept for it
}

let showing = Promise.resolve();
let asked = 0;

/** Many steps that come at once are shown once. It is tried until it works. */
function soon() {
  const mine = ++asked;
  showing = showing.then(async () => {
    while (mine === asked) {
      try {
        await show();
        warn("");
        return;
      } catch {
        warn("cut");
        await new Promise((resolve) => setTimeout(resolve, AGAIN));
      }
    }
  });
}

function follow() {
  const events = hear(section.dataset.events, () => {
    soon();
    showing.then(() => stop.hidden || setTimeout(follow, AGAIN));
  });
  events.addEventListener("step", soon);
  events.addEventListener("end", () => {
    events.close();
    soon();
  });
}

follow();
