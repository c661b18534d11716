// @ts-check
/**
 * A long list of which only the visible rows are elements. All rows have the same height, which the style sheet sets with
 * `--row-height`.
 *
 * Each row has one link or button with the attribute `data-row-focus`. The Tab key reaches one of them, and the arrow keys move
 * to the others.
 */

import { h, oncePerFrame } from "./dom.js";

/** Rows above and below the visible ones. */
const EXTRA_ROWS = 8;

/** @template T */
export class VirtualList {
  /**
   * @param {object} options
   * @param {string} options.label
   * @param {string[]} [options.columns] The names of the columns.
   * @param {string} options.className
   * @param {(item: T, index: number) => import("./dom.js").Child[]} options.cells
   * @param {(item: T) => string} options.key
   * @param {(item: T) => boolean} [options.isSelected]
   * @param {() => void} [options.onEnd] The last rows are visible.
   */
  constructor({ label, columns = [], className, cells, key, isSelected, onEnd }) {
    /** @type {T[]} */
    this.items = [];
    this.hasMore = false;
    this.cells = cells;
    this.key = key;
    this.isSelected = isSelected ?? (() => false);
    this.onEnd = onEnd ?? (() => {});
    /** @type {Map<number, {element: HTMLElement, text: string}>} */
    this.rows = new Map();
    this.active = 0;
    this.height = 44;
    /** The row to scroll to as soon as the list has a size. @type {number | null} */
    this.wanted = null;
    this.body = h("div", { class: "list-body", role: "rowgroup" });
    this.header = h(
      "div",
      { class: "list-header", role: "rowgroup" },
      h(
        "div",
        { class: "list-row", role: "row", "aria-rowindex": 1 },
        columns.map((name) => h("span", { role: "columnheader" }, name)),
      ),
    );
    this.element = h("div", { class: `list ${className}`, role: "table", "aria-label": label }, this.header, this.body);
    if (columns.length === 0) this.header.hidden = true;
    const draw = oncePerFrame(() => this.draw());
    this.element.addEventListener("scroll", draw, { passive: true });
    this.element.addEventListener("keydown", (event) => this.onKey(event));
    this.body.addEventListener("focusin", (event) => this.onFocus(event));
    this.resizes = new ResizeObserver(() => {
      const height = Number.parseFloat(getComputedStyle(this.element).getPropertyValue("--row-height"));
      if (height && height !== this.height) {
        this.height = height;
        this.rows.forEach(({ element }) => element.remove());
        this.rows.clear();
      }
      if (this.wanted !== null) this.center(this.wanted);
      draw();
    });
    this.resizes.observe(this.element);
  }

  /**
   * @param {T[]} items
   * @param {boolean} hasMore
   */
  set(items, hasMore) {
    this.items = items;
    this.hasMore = hasMore;
    this.active = Math.min(this.active, Math.max(0, items.length - 1));
    this.draw();
  }

  /** The indexes of the visible rows: the first, and the one after the last. */
  visible() {
    const top = this.element.scrollTop;
    const first = Math.floor(top / this.height);
    const end = Math.ceil((top + this.element.clientHeight) / this.height);
    return { first: Math.max(0, first), end: Math.min(this.items.length, end) };
  }

  draw() {
    this.body.style.height = `${this.items.length * this.height}px`;
    const { first, end } = this.visible();
    const from = Math.max(0, first - EXTRA_ROWS);
    const to = Math.min(this.items.length, end + EXTRA_ROWS);
    this.element.setAttribute("aria-rowcount", this.hasMore ? "-1" : String(this.items.length + 1));
    for (const [index, { element }] of this.rows) {
      const hasFocus = element.contains(document.activeElement);
      if ((index < from || index >= to) && !(hasFocus && index < this.items.length)) {
        element.remove();
        this.rows.delete(index);
      }
    }
    for (let index = from; index < to; index++) this.drawRow(index);
    if (this.hasMore && end + EXTRA_ROWS >= this.items.length) this.onEnd();
  }

  /** @param {number} index */
  drawRow(index) {
    const item = /** @type {T} */ (this.items[index]);
    const selected = this.isSelected(item);
    const text = `${this.key(item)} ${selected} ${index === this.active}`;
    const drawn = this.rows.get(index);
    if (drawn?.text === text) return;
    const row = h(
      "div",
      { class: "list-row", role: "row", "aria-rowindex": index + 2, "data-selected": selected, "data-index": index },
      this.cells(item, index).map((cell) => h("span", { role: "cell" }, cell)),
    );
    row.style.transform = `translateY(${index * this.height}px)`;
    const target = row.querySelector("[data-row-focus]");
    target?.setAttribute("tabindex", index === this.active ? "0" : "-1");
    if (selected) target?.setAttribute("aria-current", "true");
    const hadFocus = drawn?.element.contains(document.activeElement);
    if (drawn) drawn.element.replaceWith(row);
    else this.insert(row, index);
    this.rows.set(index, { element: row, text });
    if (hadFocus && target instanceof HTMLElement) target.focus({ preventScroll: true });
  }

  /**
   * Inserts a row in the order of the items: screen readers read the elements in their order.
   *
   * @param {HTMLElement} row
   * @param {number} index
   */
  insert(row, index) {
    let next = null;
    for (let child = this.body.lastElementChild; child; child = child.previousElementSibling) {
      if (Number(child.getAttribute("data-index")) < index) break;
      next = child;
    }
    this.body.insertBefore(row, next);
  }

  /** @param {FocusEvent} event */
  onFocus(event) {
    const row = event.target instanceof Element ? event.target.closest(".list-row") : null;
    if (!row) return;
    const index = Number(row.getAttribute("data-index"));
    if (index === this.active) return;
    this.rows.get(this.active)?.element.querySelector("[data-row-focus]")?.setAttribute("tabindex", "-1");
    this.active = index;
    row.querySelector("[data-row-focus]")?.setAttribute("tabindex", "0");
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.height) - 1);
    /** @type {{[key: string]: number}} */
    const targets = {
      ArrowDown: this.active + 1,
      ArrowUp: this.active - 1,
      PageDown: this.active + page,
      PageUp: this.active - page,
      Home: 0,
      End: this.items.length - 1,
    };
    const target = targets[event.key];
    if (target === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.focus(Math.min(Math.max(0, target), this.items.length - 1));
  }

  /**
   * Scrolls to a row and gives it the focus.
   *
   * @param {number} index
   */
  focus(index) {
    this.scrollTo(index);
    this.draw();
    const target = this.rows.get(index)?.element.querySelector("[data-row-focus]");
    if (target instanceof HTMLElement) target.focus({ preventScroll: true });
  }

  /**
   * Scrolls so that a row is in the middle.
   *
   * @param {number} index
   */
  center(index) {
    this.wanted = this.element.clientHeight === 0 ? index : null;
    this.element.scrollTop = (index + 0.5) * this.height - this.element.clientHeight / 2;
    this.draw();
  }

  /**
   * Scrolls as little as is needed to show a row.
   *
   * @param {number} index
   */
  scrollTo(index) {
    const top = index * this.height;
    const header = this.header.offsetHeight;
    const shown = this.element.clientHeight - header;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top + this.height > this.element.scrollTop + shown) this.element.scrollTop = top + this.height - shown;
  }

  close() {
    this.resizes.disconnect();
  }
}
