// @ts-check
/**
 * A picture that a person makes larger and moves: with buttons, with Ctrl and the wheel, with the keys + - 0 and the arrows, and by
 * dragging. It follows what is active, until the person moves it.
 */

import { h } from "./dom.js";

const SMALLEST = 0.1;
const LARGEST = 4;
const STEP = 1.25;
/** The space that stays around what is followed. */
const MARGIN = 24;

export class PanZoom {
  /** @param {string} label What the picture is. */
  constructor(label) {
    this.scale = 1;
    this.follows = true;
    /** The size of the picture at the scale 1. */
    this.size = { width: 0, height: 0 };
    /** Whether the scale is the one at which the whole width is seen. */
    this.isFitted = true;
    /** @type {SVGElement | null} */
    this.picture = null;
    /** @type {(() => Element | null)} */
    this.active = () => null;
    this.view = h("div", {
      class: "pan-zoom-view",
      tabindex: "0",
      role: "group",
      "aria-label": `${label}. Plus and minus change its size, the arrow keys move it.`,
    });
    this.shown = h("span", { class: "pan-zoom-scale", "aria-live": "polite" });
    this.followButton = h(
      "button",
      { type: "button", class: "small", hidden: true, "aria-pressed": "true", onclick: () => this.setFollows(!this.follows) },
      "Follow",
    );
    this.element = h(
      "div",
      { class: "pan-zoom" },
      this.view,
      h(
        "div",
        { class: "pan-zoom-buttons", role: "group", "aria-label": "The size of the graph" },
        button("−", "Smaller", () => this.zoom(1 / STEP)),
        this.shown,
        button("+", "Larger", () => this.zoom(STEP)),
        h("button", { type: "button", class: "small", onclick: () => this.fit() }, "Fit"),
        this.followButton,
      ),
    );
    this.view.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    this.view.addEventListener("keydown", (event) => this.onKey(event));
    this.view.addEventListener("pointerdown", (event) => this.onDrag(event));
    new ResizeObserver(() => {
      if (this.isFitted) this.fit();
    }).observe(this.view);
  }

  /**
   * @param {SVGElement} picture
   * @param {{width: number, height: number}} size
   * @param {() => Element | null} active What is followed now.
   */
  show(picture, size, active) {
    this.picture = picture;
    this.size = size;
    this.active = active;
    this.view.replaceChildren(picture);
    this.fit();
  }

  /** Makes the picture as large as its width allows, and no larger than it is drawn. */
  fit() {
    const width = this.view.clientWidth;
    const fitting = width > 0 && this.size.width > 0 ? Math.min(1, width / this.size.width) : 1;
    this.setScale(Math.max(SMALLEST, fitting));
    this.isFitted = true;
    this.follow();
  }

  /** @param {number} scale */
  setScale(scale) {
    this.scale = scale;
    this.isFitted = false;
    this.shown.textContent = `${Math.round(scale * 100)} %`;
    if (!this.picture) return;
    this.picture.style.width = `${this.size.width * scale}px`;
    this.picture.style.height = `${this.size.height * scale}px`;
  }

  /**
   * Changes the size. What is at this place of the view stays there.
   *
   * @param {number} factor
   * @param {{x: number, y: number}} [at] The middle of the view if it is missing.
   */
  zoom(factor, at = { x: this.view.clientWidth / 2, y: this.view.clientHeight / 2 }) {
    const before = this.scale;
    const scale = Math.min(LARGEST, Math.max(SMALLEST, before * factor));
    if (scale === before) return;
    const { scrollLeft, scrollTop } = this.view;
    this.setScale(scale);
    this.view.scrollLeft = ((scrollLeft + at.x) * scale) / before - at.x;
    this.view.scrollTop = ((scrollTop + at.y) * scale) / before - at.y;
  }

  /** @param {boolean} hasActive Whether there is something to follow. */
  setHasActive(hasActive) {
    this.followButton.hidden = !hasActive;
  }

  /** @param {boolean} follows */
  setFollows(follows) {
    this.follows = follows;
    this.followButton.setAttribute("aria-pressed", String(follows));
    this.follow();
  }

  /** Moves the view as little as is needed to show what is active. */
  follow() {
    const target = this.follows ? this.active() : null;
    if (!target) return;
    const inner = target.getBoundingClientRect();
    const outer = this.view.getBoundingClientRect();
    this.view.scrollLeft += needed(inner.left - outer.left, inner.right - outer.left, outer.width);
    this.view.scrollTop += needed(inner.top - outer.top, inner.bottom - outer.top, outer.height);
  }

  /** @param {WheelEvent} event */
  onWheel(event) {
    if (!event.ctrlKey && !event.metaKey) {
      this.setFollows(false);
      return;
    }
    event.preventDefault();
    const box = this.view.getBoundingClientRect();
    const at = { x: event.clientX - box.left, y: event.clientY - box.top };
    this.zoom(Math.exp(-event.deltaY / 300), at);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith("Arrow")) {
      // The browser moves the view.
      this.setFollows(false);
      return;
    }
    if (event.key === "+" || event.key === "=") this.zoom(STEP);
    else if (event.key === "-") this.zoom(1 / STEP);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }

  /** @param {PointerEvent} event */
  onDrag(event) {
    // A finger moves the view as it moves the page.
    if (event.button !== 0 || event.pointerType === "touch") return;
    const { clientX, clientY } = event;
    const { scrollLeft, scrollTop } = this.view;
    const move = (/** @type {PointerEvent} */ now) => {
      this.view.scrollLeft = scrollLeft - (now.clientX - clientX);
      this.view.scrollTop = scrollTop - (now.clientY - clientY);
      if (this.follows) this.setFollows(false);
    };
    const end = () => {
      this.view.removeEventListener("pointermove", move);
      this.view.removeAttribute("data-dragged");
    };
    this.view.setPointerCapture(event.pointerId);
    this.view.setAttribute("data-dragged", "");
    this.view.addEventListener("pointermove", move);
    this.view.addEventListener("pointerup", end, { once: true });
    this.view.addEventListener("pointercancel", end, { once: true });
  }
}

/**
 * How far the view has to move.
 *
 * @param {number} from The begin of what is to be seen, in the view.
 * @param {number} to Its end.
 * @param {number} size The size of the view.
 */
function needed(from, to, size) {
  const margin = Math.max(0, Math.min(MARGIN, (size - (to - from)) / 2));
  if (from < margin) return from - margin;
  if (to > size - margin) return to - size + margin;
  return 0;
}

/**
 * @param {string} text
 * @param {string} name
 * @param {() => void} onclick
 */
function button(text, name, onclick) {
  return h("button", { type: "button", class: "small", "aria-label": name, title: name, onclick }, text);
}
