// Stock falling, sales rising, the line of what was stocked, and the red area above it.
// A drawing of our own: what it needs of a chart library is a hundredth of one.

const NS = "http://www.w3.org/2000/svg";
const HEIGHT = 0.42; // of the width
const EDGE = { top: 16, right: 12, bottom: 34, left: 8 }; // px, beside the labels' own room

function make(parent, name, attributes) {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
}

/** As the page's language writes it, which may be another one than the browser's own. */
function written(units) {
  return units.toLocaleString(document.documentElement.lang);
}

/** "5.5 seconds", as the page's language says it. */
function seconds(at) {
  const unit = { style: "unit", unit: "second", unitDisplay: "long", maximumFractionDigits: 1 };
  return at.toLocaleString(document.documentElement.lang, unit);
}

/** A round number of steps, about `most` of them, that reach `end`. */
function steps(end, most) {
  const raw = end / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw);
  return Math.max(1, step);
}

export class Chart {
  constructor(figure, stock) {
    this.figure = figure;
    this.svg = figure.querySelector("svg");
    this.stock = stock;
    this.points = []; // {at, left, sold}
    this.grid = make(this.svg, "g", { class: "grid" });
    this.over = make(this.svg, "path", { class: "over" });
    this.left = make(this.svg, "polyline", { class: "left" });
    this.sold = make(this.svg, "polyline", { class: "sold" });
    this.mark = make(this.svg, "line", { class: "mark" });
    new ResizeObserver(() => this.draw()).observe(figure);
  }

  add({ at_s: at, left, sold, phase }) {
    if (phase === "starting" || left === null || left === undefined) return;
    if (!this.points.length) this.points.push({ at: 0, left: this.stock, sold: 0 });
    this.points.push({ at, left, sold });
    this.figure.hidden = false;
  }

  draw() {
    const width = this.figure.clientWidth;
    if (!this.points.length || !width) return;
    const font = parseFloat(getComputedStyle(this.svg).fontSize);
    const height = Math.max(220, Math.min(width * HEIGHT, innerHeight * 0.3));
    const last = Math.max(1, this.points.at(-1).at);
    const most = Math.max(this.stock, ...this.points.map(({ sold }) => sold)) * 1.05;
    const room = EDGE.left + font * 0.62 * written(Math.ceil(most)).length;
    const x = (at) => room + ((width - room - EDGE.right) * at) / last;
    const y = (units) =>
      EDGE.top + (height - EDGE.top - EDGE.bottom - font * 0.4) * (1 - units / most);
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", height);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.drawGrid(x, y, last, most, room, width, font);

    const line = (name) => this.points.map((each) => `${x(each.at)},${y(each[name])}`).join(" ");
    this.left.setAttribute("points", line("left"));
    this.sold.setAttribute("points", line("sold"));
    for (const [name, value] of Object.entries({ x1: room, x2: width - EDGE.right })) {
      this.mark.setAttribute(name, value);
    }
    this.mark.setAttribute("y1", y(this.stock));
    this.mark.setAttribute("y2", y(this.stock));
    this.over.setAttribute("d", this.above(x, y));
  }

  /** The area between what was stocked and what was sold beyond it. */
  above(x, y) {
    const crossed = this.points.findIndex(({ sold }) => sold > this.stock);
    if (crossed < 0) return "";
    const [before, after] = [this.points[crossed - 1], this.points[crossed]];
    const share = (this.stock - before.sold) / (after.sold - before.sold);
    const start = x(before.at + (after.at - before.at) * share);
    const edge = this.points.slice(crossed).map((each) => `L${x(each.at)},${y(each.sold)}`);
    const floor = y(this.stock);
    return `M${start},${floor}${edge.join("")}L${x(this.points.at(-1).at)},${floor}Z`;
  }

  drawGrid(x, y, last, most, room, width, font) {
    this.grid.replaceChildren();
    const unit = steps(most, 5);
    for (let units = 0; units <= most; units += unit) {
      make(this.grid, "line", { x1: room, x2: width - EDGE.right, y1: y(units), y2: y(units) });
      make(this.grid, "text", {
        x: room - 6, y: y(units) + font * 0.35, "text-anchor": "end",
      }).textContent = written(units);
    }
    const step = steps(last, width / (font * 5));
    const floor = y(0) + font * 1.3;
    const taken = x(last) - font * 0.6 * (seconds(last).length + 3);
    for (let at = 0; x(at) < taken; at += step) {
      make(this.grid, "text", { x: x(at), y: floor, "text-anchor": "middle" }).textContent = at;
    }
    make(this.grid, "text", { x: x(last), y: floor, "text-anchor": "end" }).textContent =
      seconds(last);
  }
}
