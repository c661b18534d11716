// @ts-check
/**
 * What differs between two values.
 *
 * @typedef {object} Change
 * @property {string} path
 * @property {"added" | "removed" | "changed"} kind
 * @property {unknown} [before]
 * @property {unknown} [after]
 */

import { h } from "./dom.js";
import { number } from "./format.js";
import { isLargeNumber } from "./json.js";
import { tree } from "./tree.js";

/** The most changes that are listed. */
const MOST = 500;

/**
 * @param {unknown} before
 * @param {unknown} after
 * @returns {Change[]}
 */
export function changes(before, after) {
  /** @type {Change[]} */
  const found = [];
  compare("", before, after, found);
  return found;
}

/**
 * @param {string} path
 * @param {unknown} before
 * @param {unknown} after
 * @param {Change[]} found
 */
function compare(path, before, after, found) {
  if (found.length >= MOST || equal(before, after)) return;
  if (Array.isArray(before) && Array.isArray(after)) {
    compareLists(path, before, after, found);
    return;
  }
  if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const inner = path ? `${path}.${key}` : key;
      if (!(key in before)) found.push({ path: inner, kind: "added", after: after[key] });
      else if (!(key in after)) found.push({ path: inner, kind: "removed", before: before[key] });
      else compare(inner, before[key], after[key], found);
    }
    return;
  }
  found.push({ path, kind: "changed", before, after });
}

/**
 * Lists: the items that are equal at the start and at the end are left out.
 *
 * @param {string} path
 * @param {unknown[]} before
 * @param {unknown[]} after
 * @param {Change[]} found
 */
function compareLists(path, before, after, found) {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && equal(before[start], after[start])) start++;
  let end = 0;
  while (end < shorter - start && equal(before[before.length - 1 - end], after[after.length - 1 - end])) end++;
  const removed = before.slice(start, before.length - end);
  const added = after.slice(start, after.length - end);
  const both = Math.min(removed.length, added.length);
  for (let index = 0; index < both; index++) compare(`${path}[${start + index}]`, removed[index], added[index], found);
  for (let index = both; index < removed.length; index++) {
    found.push({ path: `${path}[${start + index}]`, kind: "removed", before: removed[index] });
  }
  for (let index = both; index < added.length; index++) {
    found.push({ path: `${path}[${start + index}]`, kind: "added", after: added[index] });
  }
}

/**
 * @param {unknown} left
 * @param {unknown} right
 * @returns {boolean}
 */
export function equal(left, right) {
  if (left === right) return true;
  if (isLargeNumber(left) && isLargeNumber(right)) return left.rawJSON === right.rawJSON;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => equal(item, right[index]));
  }
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => key in right && equal(left[key], right[key]));
}

/**
 * @param {unknown} value
 * @returns {value is {[key: string]: unknown}}
 */
function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !isLargeNumber(value);
}

/** @type {{[kind: string]: string}} */
const SIGNS = { added: "+", removed: "−", changed: "≠" };

/** @param {Change[]} found */
export function changeList(found) {
  if (found.length === 0) return h("p", { class: "muted" }, "Nothing in the state has changed.");
  return h(
    "div",
    { class: "changes" },
    found
      .slice(0, MOST)
      .map((change) =>
        h(
          "section",
          { class: "change", "data-kind": change.kind },
          h(
            "h3",
            null,
            h("span", { class: "change-sign", "aria-hidden": "true" }, SIGNS[change.kind]),
            h("code", null, change.path || "the state"),
            h("span", { class: "change-mark" }, change.kind),
          ),
          "before" in change
            ? h(
                "div",
                { class: "change-before" },
                h("span", { class: "change-side" }, "Before"),
                tree(change.before, { open: 0 }),
              )
            : null,
          "after" in change
            ? h(
                "div",
                { class: "change-after" },
                h("span", { class: "change-side" }, "After"),
                tree(change.after, { open: 0 }),
              )
            : null,
        ),
      ),
    found.length >= MOST ? h("p", { class: "muted" }, `Only the first ${number(MOST)} changes are listed.`) : null,
  );
}
