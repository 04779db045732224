// Lights the lines at which buyers stand, each with their letters, and brings them into view.

/** Each buyer's card says where it stands: data-now and data-did are lists of "module:line". */
export function lightAll(root) {
  const marks = new Map();
  for (const kind of ["now", "did"]) {
    for (const stands of root.querySelectorAll(`[data-${kind}]:not([hidden])`)) {
      const { buyer } = stands.closest("[data-buyer]").dataset;
      for (const spot of words(stands.dataset[kind])) {
        const mark = marks.get(spot) ?? { kind, who: [] };
        if (mark.kind === kind) marks.set(spot, { kind, who: [...mark.who, buyer] });
      }
    }
  }
  const standing = [...marks.values()].some(({ kind }) => kind === "now");
  for (const source of root.querySelectorAll(".source")) light(source, marks, standing);
}

/** `standing`: does anybody stand anywhere? Then functions in which nobody does are not shown. */
function light(source, marks, standing) {
  for (const line of source.querySelectorAll(".now, .did")) {
    line.classList.remove("now", "did");
    delete line.dataset.on;
  }
  const lit = [];
  for (const line of source.querySelectorAll(".line")) {
    const mark = marks.get(`${source.dataset.module}:${line.dataset.line}`);
    if (!mark) continue;
    line.classList.add(mark.kind);
    line.dataset.on = mark.who.join(" ");
    lit.push(line);
  }
  const now = lit.filter((line) => line.classList.contains("now"));
  source.hidden = marks.size > 0 && !(standing ? now : lit).length;
  show(source.querySelector("pre"), now.length ? now : lit);
}

/** All of them, if there is room; else the first. */
function show(box, lines) {
  if (!lines.length) return;
  const [first, last] = [lines[0], lines.at(-1)];
  const height = last.offsetTop + last.offsetHeight - first.offsetTop;
  const middle = height < box.clientHeight ? first.offsetTop + height / 2 : first.offsetTop;
  box.scrollTop = middle - box.clientHeight / 2; // the box is their offsetParent
}

function words(text) {
  return text.split(" ").filter(Boolean);
}

// The style may come after the script, and a window changes its size: the lines then lie elsewhere.
for (const event of ["load", "resize"]) addEventListener(event, () => lightAll(document));
