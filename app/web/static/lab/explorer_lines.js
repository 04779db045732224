// Lights the lines at which a buyer stands, and brings them into view within their own box.

/** `column` is a buyer's; `now` and `did` are lists of "module:line". */
export function light(column, now, did) {
  for (const source of column.querySelectorAll(".source")) {
    const { module } = source.dataset;
    const mine = (spots) =>
      spots.filter((spot) => spot.startsWith(`${module}:`)).map((spot) => spot.split(":")[1]);
    const [lit, past] = [mine(now), mine(did)];
    const own = source === column.querySelector(".source");
    source.hidden = !own && !lit.length && !past.length;
    for (const line of source.querySelectorAll(".now, .did")) line.classList.remove("now", "did");
    for (const number of past) lineOf(source, number).classList.add("did");
    for (const number of lit) {
      lineOf(source, number).classList.remove("did");
      lineOf(source, number).classList.add("now");
    }
    show(source, lit[0] ?? past[0]);
  }
}

function lineOf(source, number) {
  return source.querySelector(`[data-line="${number}"]`);
}

function show(source, number) {
  if (!number) return;
  const box = source.querySelector("pre");
  const line = lineOf(source, number);
  box.scrollTop = line.offsetTop - box.clientHeight / 2; // the box is its offsetParent
}

/** As the server has drawn it: only the scrolling is left to do. */
export function lightAll(root) {
  for (const column of root.querySelectorAll(".buyer")) {
    const { now, did } = column.querySelector("[data-now]:not([hidden])").dataset;
    light(column, words(now), words(did));
  }
}

export function words(text) {
  return text.split(" ").filter(Boolean);
}

// The style may come after the script, and a window changes its size: the lines then lie elsewhere.
for (const event of ["load", "resize"]) addEventListener(event, () => lightAll(document));
