// @ts-check
/** A value as a tree that opens and closes. What is closed has no elements. */

import { h } from "./dom.js";
import { count, preview } from "./format.js";
import { isLargeNumber } from "./json.js";

/** Children that are shown at once. */
const PAGE = 200;

/**
 * @param {unknown} value
 * @param {object} [options]
 * @param {string} [options.name]
 * @param {number} [options.open] How many levels are open.
 * @param {Map<string, boolean>} [options.opened] What a person has opened or closed, by path: so a new tree is open as the one before.
 * @param {string} [options.path]
 * @returns {HTMLElement}
 */
export function tree(value, { name, open = 1, opened = new Map(), path = "" } = {}) {
  const label = name === undefined ? null : h("span", { class: "tree-name" }, `${name}`);
  if (value === null || typeof value !== "object" || isLargeNumber(value)) {
    return h("div", { class: "tree-leaf" }, label, label ? ": " : null, leaf(value));
  }
  const entries = Array.isArray(value) ? value.map((item, index) => [String(index), item]) : Object.entries(value);
  const size = Array.isArray(value) ? count(entries.length, "item") : count(entries.length, "key");
  if (entries.length === 0) {
    return h(
      "div",
      { class: "tree-leaf" },
      label,
      label ? ": " : null,
      h("span", { class: "tree-none" }, Array.isArray(value) ? "empty list" : "empty object"),
    );
  }
  const children = h("div", { class: "tree-children" });
  const details = h(
    "details",
    { class: "tree" },
    h(
      "summary",
      null,
      label,
      " ",
      h("span", { class: "tree-size" }, size),
      " ",
      h("span", { class: "tree-preview" }, preview(value, 80)),
    ),
    children,
  );
  let shown = 0;
  const more = h("button", { type: "button", class: "plain", onclick: () => fill() });
  const fill = () => {
    more.remove();
    for (const [key, item] of entries.slice(shown, shown + PAGE)) {
      children.append(
        tree(item, { name: /** @type {string} */ (key), open: open - 1, opened, path: `${path}/${key}` }),
      );
    }
    shown += PAGE;
    if (shown < entries.length) {
      more.textContent = `Show ${count(Math.min(PAGE, entries.length - shown), "more item")}`;
      children.append(more);
    }
  };
  details.addEventListener("toggle", () => {
    opened.set(path, details.open);
    if (details.open && shown === 0) fill();
  });
  if (opened.get(path) ?? open > 0) {
    fill();
    details.open = true;
  }
  return details;
}

/** @param {unknown} value */
function leaf(value) {
  if (value === "") return h("span", { class: "tree-none" }, "empty text");
  if (typeof value === "string") {
    const isLong = value.length > 90 || value.includes("\n");
    return h(
      "span",
      { class: isLong ? "tree-text" : "tree-string" },
      value,
    );
  }
  const text = isLargeNumber(value) ? value.rawJSON : String(value);
  return h("span", { class: value === null ? "tree-none" : "tree-number" }, text);
}

/**
 * The keys of a state, each with its value.
 *
 * @param {{[key: string]: unknown}} state
 * @param {Set<string>} [changed] The keys to mark.
 * @param {Map<string, boolean>} [opened] What a person has opened or closed.
 */
export function stateTree(state, changed = new Set(), opened = new Map()) {
  const keys = Object.keys(state);
  if (keys.length === 0) return h("p", { class: "muted" }, "The state has no keys.");
  return h(
    "dl",
    { class: "state" },
    keys.map((key) => [
      h("dt", null, key, changed.has(key) ? h("span", { class: "change-mark" }, "changed") : null),
      h("dd", null, tree(state[key], { opened, path: key })),
    ]),
  );
}
