// @ts-check
/** A value as a person reads it before a decision: all of it is open. */

import { h } from "./dom.js";
import { count } from "./format.js";
import { isLargeNumber } from "./json.js";
import { tree } from "./tree.js";

/** Values inside values: deeper ones are opened by hand. */
const DEEPEST = 5;
/** Items and names that are listed; all others are opened by hand. */
const MOST = 50;
/** A table has at most so many columns. */
const MOST_COLUMNS = 6;

/**
 * @param {unknown} value
 * @param {number} [depth]
 * @returns {HTMLElement}
 */
export function readable(value, depth = 0) {
  if (value === null || typeof value !== "object" || isLargeNumber(value)) return simple(value);
  if (depth >= DEEPEST) return tree(value);
  return Array.isArray(value) ? list(value, depth) : fields(/** @type {{[name: string]: unknown}} */ (value), depth);
}

/** @param {unknown} value */
function simple(value) {
  if (typeof value === "string") {
    return value === "" ? none("empty text") : h("span", { class: "readable-text" }, value);
  }
  if (value === null || value === undefined) return none("no value");
  if (typeof value === "boolean") return h("span", null, value ? "yes" : "no");
  return h("span", { class: "tree-number" }, isLargeNumber(value) ? value.rawJSON : String(value));
}

/** @param {string} text */
function none(text) {
  return h("span", { class: "tree-none" }, text);
}

/**
 * @param {{[name: string]: unknown}} value
 * @param {number} depth
 */
function fields(value, depth) {
  const entries = Object.entries(value);
  if (entries.length === 0) return none("nothing");
  return h(
    "dl",
    { class: "readable" },
    entries.slice(0, MOST).map(([name, inner]) => [h("dt", null, name), h("dd", null, readable(inner, depth + 1))]),
    entries.length > MOST
      ? [h("dt", null, count(entries.length - MOST, "more name")), h("dd", null, tree(Object.fromEntries(entries.slice(MOST))))]
      : null,
  );
}

/**
 * @param {unknown[]} items
 * @param {number} depth
 */
function list(items, depth) {
  if (items.length === 0) return none("empty list");
  const columns = columnsOf(items);
  if (columns) return table(columns, /** @type {{[name: string]: unknown}[]} */ (items), depth);
  return h(
    "ul",
    { class: "readable-list" },
    items.slice(0, MOST).map((item) => h("li", null, readable(item, depth + 1))),
    items.length > MOST ? h("li", null, tree(items.slice(MOST))) : null,
  );
}

/**
 * The names that all items have, if the items are alike and simple enough for a table.
 *
 * @param {unknown[]} items
 * @returns {string[] | null}
 */
function columnsOf(items) {
  const [first] = items;
  if (items.length < 2 || items.length > MOST || first === null || typeof first !== "object" || Array.isArray(first)) return null;
  const names = Object.keys(first);
  if (names.length === 0 || names.length > MOST_COLUMNS) return null;
  const isAlike = items.every((item) => {
    if (item === null || typeof item !== "object" || Object.keys(item).length !== names.length) return false;
    return names.every((name) => {
      const inner = /** @type {{[name: string]: unknown}} */ (item)[name];
      return Object.hasOwn(item, name) && (inner === null || typeof inner !== "object" || isLargeNumber(inner));
    });
  });
  return isAlike ? names : null;
}

/**
 * @param {string[]} columns
 * @param {{[name: string]: unknown}[]} items
 * @param {number} depth
 */
function table(columns, items, depth) {
  return h(
    "table",
    { class: "readable-table" },
    h("thead", null, h("tr", null, columns.map((name) => h("th", { scope: "col" }, name)))),
    h(
      "tbody",
      null,
      items.map((item) => h("tr", null, columns.map((name) => h("td", null, readable(item[name], depth + 1))))),
    ),
  );
}
