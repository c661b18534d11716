// @ts-check
/** Short messages: for screen readers, and at the corner of the page. */

import { h } from "./dom.js";
import { icon } from "./icons.js";

/**
 * Tells people who use a screen reader what has changed.
 *
 * @param {string} text
 */
export function announce(text) {
  const region = document.getElementById("announcer");
  if (!region) return;
  region.textContent = "";
  // A region whose text stays the same is not read again.
  setTimeout(() => {
    region.textContent = text;
  }, 50);
}

/**
 * Shows a message for some seconds. An error stays until it is closed.
 *
 * @param {string} text
 * @param {"info" | "error"} [kind]
 */
export function toast(text, kind = "info") {
  const toasts = document.getElementById("toasts");
  if (!toasts) return;
  const close = h(
    "button",
    { class: "plain", type: "button", "aria-label": "Close the message", onclick: () => box.remove() },
    icon("failed"),
  );
  const box = h(
    "div",
    { class: "toast", "data-kind": kind, role: kind === "error" ? "alert" : null },
    h("p", null, text),
    close,
  );
  toasts.append(box);
  if (kind === "info") {
    announce(text);
    setTimeout(() => box.remove(), 6000);
  }
}

/** @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * What a view shows in place of its content when something is wrong, or there is nothing.
 *
 * @param {string} title
 * @param {string} text What the person can do.
 * @param {...import("./dom.js").Child} more
 */
export function emptyState(title, text, ...more) {
  return h("div", { class: "empty" }, h("h2", null, title), h("p", null, text), more);
}

/**
 * @param {unknown} error
 * @param {() => void} retry
 */
export function errorState(error, retry) {
  return h(
    "div",
    { class: "empty", role: "alert" },
    h("h2", null, "This could not be loaded"),
    h("p", null, messageOf(error)),
    h("button", { type: "button", onclick: retry }, "Try again"),
  );
}
