// Steps through a case that the page holds whole. Without this script each step is a link.

const controls = document.getElementById("player");
const last = Number(controls.dataset.last);
let at = Number(controls.dataset.at);

function go(step) {
  at = Math.min(Math.max(step, 0), last);
  for (const part of document.querySelectorAll("[data-at]:not(#player)")) {
    part.hidden = Number(part.dataset.at) !== at;
  }
  for (const steps of document.querySelectorAll(".said")) {
    const reached = Math.min(at, steps.children.length);
    for (const step of steps.children) {
      const number = Number(step.dataset.step);
      step.hidden = number > at;
      if (number === reached) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    }
  }
  for (const link of controls.querySelectorAll("[data-go]")) {
    link.href = address(target(link.dataset.go));
  }
  history.replaceState(null, "", address(at));
}

function address(step) {
  const here = new URL(controls.querySelector("[data-go]").href);
  if (step) here.searchParams.set("step", step);
  else here.searchParams.delete("step");
  return here.href;
}

function target(key) {
  return { Home: 0, End: last, ArrowLeft: Math.max(at - 1, 0),
    ArrowRight: Math.min(at + 1, last) }[key];
}

// Beyond its end lies the next case, before its beginning the one before.
function beyond(key) {
  const rel = key === "ArrowRight" && at === last ? "next" : key === "ArrowLeft" && !at ? "prev" : "";
  return rel && document.querySelector(`.cases [rel=${rel}]`);
}

controls.addEventListener("click", (event) => {
  const link = event.target.closest("[data-go]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  move(link.dataset.go);
});

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  if (target(event.key) === undefined) return;
  event.preventDefault();
  move(event.key);
});

function move(key) {
  const link = beyond(key);
  if (link) link.click();
  else go(target(key));
}

go(at);
