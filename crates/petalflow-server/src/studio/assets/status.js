// @ts-check
/** The status of a thread: a colour, a sign and a word, so that nobody depends on the colour. */

import { h } from "./dom.js";
import { age } from "./format.js";
import { icon } from "./icons.js";

/** @typedef {import("./types.js").Status} Status */
/** @typedef {import("./types.js").Trouble} Trouble */

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

/** What keeps a running thread from going on. @type {{[state: string]: string}} */
const TROUBLES = {
  retrying: "A process of its engine is away or fails, and is tried again.",
  paused: "A process of its engine is away or has failed. It is tried again when the thread is resumed.",
};

/** All statuses, in the order in which they are listed. */
export const ALL = Object.keys(MEANINGS);

/** @param {string} status */
export function meaning(status) {
  return MEANINGS[status] ?? TROUBLES[status] ?? "";
}

/**
 * Why a thread does not go on that is running, in words.
 *
 * @param {Trouble} trouble
 */
export function troubleText({ state, service, attempts, error, next_ms }) {
  const times = attempts > 1 ? ` ${attempts} times` : "";
  const next = state === "retrying" && next_ms ? ` The next try is ${age(next_ms)}.` : "";
  return `${meaning(state)} ${service} has failed${times}: ${error}${/[.!?]$/.test(error) ? "" : "."}${next} A resume tries it now.`;
}

/**
 * What is known of a thread: its status, and what keeps it from going on.
 *
 * @param {Status} status
 * @param {Trouble | null} [trouble]
 */
export function badges(status, trouble) {
  return [badge(status), trouble ? badge(trouble.state) : null];
}

/**
 * @param {string} status
 * @param {string | null} [text] The text beside the sign. The name of the status if it is missing.
 */
export function badge(status, text = status) {
  return h("span", { class: "badge", "data-status": status, title: meaning(status) }, icon(status), text);
}
