// @ts-check
/** How many threads wait, for the link in the head line. */

import * as api from "./api.js";
import { number } from "./format.js";

const REFRESH_MS = 15_000;

/** How many threads wait. `null` until the server has said so. @type {number | null} */
let waiting = null;
/** @type {() => void} */
let onChange = () => {};

/** The text of the link. */
export function inboxText() {
  return waiting ? `Inbox (${number(waiting)})` : "Inbox";
}

/**
 * Asks the server how many threads wait.
 *
 * @param {AbortSignal} [signal]
 */
export async function lookAtInbox(signal) {
  try {
    const { threads } = await api.inbox({ limit: 1 }, signal);
    if (threads === waiting) return;
    waiting = threads;
    onChange();
  } catch {
    // The next look tries again.
  }
}

/**
 * Looks from time to time, and calls the function when the number changes.
 *
 * @param {() => void} listener
 */
export function watchInbox(listener) {
  onChange = listener;
  setInterval(() => {
    // Without a number, the server has not accepted the token yet.
    if (!document.hidden && waiting !== null) void lookAtInbox();
  }, REFRESH_MS);
}
