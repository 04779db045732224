// Stock falling, sales rising, the line of what was stocked, and the red area above it.
// A drawing of our own: what it needs of a chart library is a hundredth of one.

import { said } from "./screen.js";

const NS = "http://www.w3.org/2000/svg";
const HEIGHT = 0.42; // of the width, at the most
const LEAST = 190; // px
// Of the height, up to the line of what was stocked: 100 of 2,361 would else be a hairline.
const STOCKED = 0.5;
const EDGE = { top: 12, right: 12, bottom: 34, left: 8 }; // px, beside the labels' own room

function make(parent, name, attributes) {
  const element = document.createElementNS(NS, name);
  set(element, attributes);
  parent.append(element);
  return element;
}

function set(element, attributes) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
}

/** As the page's language writes it, which may be another one than the browser's own. */
function written(units) {
  return units.toLocaleString(document.documentElement.lang);
}

/** "5.5 s", in the page's own words: browsers write "5.5秒" or "5.5秒钟" in Chinese. */
function seconds(at) {
  const number = at.toLocaleString(document.documentElement.lang, { maximumFractionDigits: 1 });
  return said("seconds").replace("{n}", number);
}

/** A round number of steps, about `most` of them, that reach `end`. */
function steps(end, most) {
  const raw = end / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw);
  return Math.max(1, step);
}

/** Up to the last change: while the audit is waited for, nothing moves. */
function moving(points) {
  const same = (one, other) => one.left === other.left && one.sold === other.sold;
  let end = points.length;
  while (end > 2 && same(points[end - 1], points[end - 2])) end -= 1;
  return points.slice(0, end);
}

export class Chart {
  constructor(figure, stock) {
    this.figure = figure;
    this.svg = figure.querySelector("svg");
    this.stock = stock;
    this.points = []; // {at, left, sold}
    this.beyond = make(this.svg, "rect", { class: "beyond" });
    this.grid = make(this.svg, "g", { class: "grid" });
    this.over = make(this.svg, "path", { class: "over" });
    this.mark = make(this.svg, "line", { class: "mark" });
    this.left = make(this.svg, "polyline", { class: "left" });
    this.sold = make(this.svg, "polyline", { class: "sold" });
    this.crossing = make(this.svg, "circle", { class: "crossing", r: 8 });
    new ResizeObserver(() => this.draw()).observe(figure);
  }

  add({ at_s: at, left, sold, phase }) {
    if (!this.points.length) this.points.push({ at: 0, left: this.stock, sold: 0 });
    this.figure.hidden = false;
    if (phase === "starting" || left === null || left === undefined) return;
    this.points.push({ at, left, sold });
  }

  draw() {
    const width = this.figure.clientWidth;
    if (!this.points.length || !width) return;
    const points = moving(this.points);
    const font = parseFloat(getComputedStyle(this.svg).fontSize);
    const below = innerHeight - scrollY - this.svg.getBoundingClientRect().top - EDGE.top;
    const height = Math.max(LEAST, Math.min(width * HEIGHT, below));
    const last = Math.max(1, points.at(-1).at);
    const most = Math.max(this.stock, ...points.map(({ sold }) => sold)) * 1.05;
    const room = EDGE.left + font * 0.62 * written(Math.ceil(most)).length;
    const right = width - EDGE.right;
    if (right <= room) return; // narrower than its labels, as while the page is laid out
    const x = (at) => room + ((right - room) * at) / last;
    const floor = height - EDGE.bottom - font * 0.4;
    const y = (units) => floor - (floor - EDGE.top) * this.share(units, most);
    set(this.svg, { width, height, viewBox: `0 0 ${width} ${height}` });
    this.drawGrid(x, y, last, most, room, right, font);

    const broken = this.stock / most < STOCKED;
    const line = y(this.stock);
    this.figure.querySelector(".scale").hidden = !broken;
    set(this.beyond, { x: room, width: right - room, y: y(most), height: broken ? line - y(most) : 0 });
    set(this.mark, { x1: room, x2: right, y1: line, y2: line });

    const at = this.crossed(points);
    const sold = at === null ? points : [
      ...points.filter((each) => each.at < at),
      { at, sold: this.stock },
      ...points.filter((each) => each.at > at),
    ];
    const drawn = (all, name) => all.map((each) => `${x(each.at)},${y(each[name])}`).join(" ");
    set(this.left, { points: drawn(points, "left") });
    set(this.sold, { points: drawn(sold, "sold") });
    set(this.over, { d: at === null ? "" : this.above(sold.filter((each) => each.at >= at), x, y) });
    set(this.crossing, at === null ? { r: 0 } : { r: 8, cx: x(at), cy: line });
  }

  /** Of the height. Beyond the stock it is another scale, if it must be. */
  share(units, most) {
    const stocked = Math.max(STOCKED, this.stock / most);
    if (units <= this.stock) return (stocked * units) / this.stock;
    return stocked + ((1 - stocked) * (units - this.stock)) / (most - this.stock);
  }

  /** When the sales passed the stock; null: they did not. */
  crossed(points) {
    const after = points.findIndex(({ sold }) => sold > this.stock);
    if (after < 0) return null;
    const [from, to] = [points[after - 1], points[after]];
    return from.at + ((to.at - from.at) * (this.stock - from.sold)) / (to.sold - from.sold);
  }

  /** The area between what was stocked and what was sold beyond it. */
  above(beyond, x, y) {
    const edge = beyond.map((each) => `${x(each.at)},${y(each.sold)}`);
    return `M${edge.join("L")}L${x(beyond.at(-1).at)},${y(this.stock)}Z`;
  }

  /** The figures at the side: none, half and all of the stock, then round ones that have room. */
  ticks(y, most, font) {
    const unit = steps(most - this.stock, 3);
    const beyond = [];
    for (let units = (Math.floor(this.stock / unit) + 1) * unit; units <= most; units += unit) {
      if (y(this.stock) - y(units) > 1.5 * font) beyond.push(units);
    }
    return new Set([0, Math.round(this.stock / 2), this.stock, ...beyond]);
  }

  drawGrid(x, y, last, most, room, right, font) {
    this.grid.replaceChildren();
    for (const units of this.ticks(y, most, font)) {
      make(this.grid, "line", { x1: room, x2: right, y1: y(units), y2: y(units) });
      make(this.grid, "text", {
        x: room - 6, y: y(units) + font * 0.35, "text-anchor": "end",
      }).textContent = written(units);
    }
    const step = steps(last, right / (font * 5));
    const below = y(0) + font * 1.3;
    const taken = x(last) - font * 0.6 * (seconds(last).length + 3);
    for (let at = 0; x(at) < taken; at += step) {
      make(this.grid, "text", { x: x(at), y: below, "text-anchor": "middle" }).textContent = at;
    }
    make(this.grid, "text", { x: x(last), y: below, "text-anchor": "end" }).textContent =
      seconds(last);
  }
}
