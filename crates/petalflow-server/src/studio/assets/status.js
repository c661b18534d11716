// @ts-check
/** The status of a thread: a colour, a sign and a word, so that nobody depends on the colour. */

import { h } from "./dom.js";
import { icon } from "./icons.js";

/** @typedef {import("./types.js").Status} Status */

/** What each status means. @type {{[status: string]: string}} */
const MEANINGS = {
  running: "A run is in progress.",
  waiting: "It waits for answers, approvals, or results of calls.",
  sleeping: "It waits for a time, and for no person.",
  stopped: "Its process stopped. The next process continues it.",
  held: "A person holds it. Nothing continues it until it is resumed.",
  failed: "Its last run failed, or was rejected.",
  finished: "Its last run has finished.",
};

/** All statuses, in the order in which they are listed. */
export const ALL = Object.keys(MEANINGS);

/** @param {string} status */
export function meaning(status) {
  return MEANINGS[status] ?? "";
}

/**
 * @param {string} status
 * @param {string | null} [text] The text beside the sign. The name of the status if it is missing.
 */
export function badge(status, text = status) {
  return h("span", { class: "badge", "data-status": status, title: meaning(status) }, icon(status), text);
}
