// When a round opens, by this browser's own clock; until then its button counts the seconds.

const KEPT = 8; // answers: clocks drift, and a phone's stops while it sleeps

/**
 * The shop says how many ms are left. When its answer is here that is too much by the answer's own
 * way: `received + left` comes after the true moment, never before it. So of several answers the
 * earliest moment is the best, and nobody is let in before the shop sells.
 */
export class Opening {
  #round = null;
  #moments = [];
  #timer = null;
  #waiting = false;

  /**
   * `button()` finds the button, which may be drawn anew. `changed(opened)` is called about each
   * second until it opens, and then once with true.
   */
  constructor(button, changed) {
    this.button = button;
    this.changed = changed;
  }

  /** `received` is performance.now() when the answer was there. Another round begins anew. */
  hear(round, left, received) {
    if (round !== this.#round) {
      this.#round = round;
      this.#moments = [];
    }
    this.#moments = [...this.#moments, received + left].slice(-KEPT);
    this.draw();
  }

  /** ms until it opens; 0 when it is open, or nothing was heard. */
  get left() {
    if (!this.#moments.length) return 0;
    return Math.max(0, Math.min(...this.#moments) - performance.now());
  }

  draw() {
    clearTimeout(this.#timer);
    const left = this.left;
    const button = this.button();
    if (button) {
      // Not `disabled`: it keeps the keyboard's focus, and the shop tells whoever presses early.
      button.ariaDisabled = left > 0 ? "true" : null;
      const slot = button.querySelector('[data-slot="seconds"]');
      if (left > 0) slot.textContent = Math.ceil(left / 1000);
    }
    const opened = this.#waiting && left === 0;
    this.#waiting = left > 0;
    if (opened || left > 0) this.changed(opened);
    // Due when the number on the button changes, the last time at the opening itself.
    if (left > 0) this.#timer = setTimeout(() => this.draw(), left % 1000 || 1000);
  }
}
