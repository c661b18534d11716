// @ts-check
/** The status of a thread: a colour, a sign and a word, so that nobody depends on the colour. */

import { h } from "./dom.js";

/** @typedef {import("./types.js").Status} Status */

/** @type {{[status: string]: {sign: string, meaning: string}}} */
const STATUSES = {
  running: { sign: "▶", meaning: "A run is in progress." },
  waiting: { sign: "?", meaning: "It waits for answers, approvals, or results of calls." },
  sleeping: { sign: "z", meaning: "It waits for a time, and for no person." },
  stopped: { sign: "◼", meaning: "Its process stopped. The next process continues it." },
  held: { sign: "‖", meaning: "A person holds it. It continues when it is resumed." },
  failed: { sign: "✕", meaning: "Its last run failed, or was rejected." },
  finished: { sign: "✓", meaning: "Its last run has finished." },
};

/** All statuses, in the order in which they are listed. */
export const ALL = Object.keys(STATUSES);

/** @param {string} status */
export function meaning(status) {
  return STATUSES[status]?.meaning ?? "";
}

/**
 * @param {string} status
 * @param {string | null} [text] The text beside the sign. The name of the status if it is missing.
 */
export function badge(status, text = status) {
  const known = STATUSES[status];
  return h(
    "span",
    { class: "badge", "data-status": status, title: known?.meaning },
    h("span", { class: "badge-sign", "aria-hidden": "true" }, known?.sign ?? "•"),
    text,
  );
}
