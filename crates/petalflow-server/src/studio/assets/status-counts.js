// @ts-check
/** How many threads of a flow need attention, and how many run. */

import { link } from "./address.js";
import * as api from "./api.js";
import { h, replace } from "./dom.js";
import { number } from "./format.js";
import { ALL, badge } from "./status.js";

/** Without counts from the server, threads are listed up to this number. */
const MOST = 100;
const COUNTED = ["running", "waiting", "failed"];

/**
 * @param {HTMLElement} place
 * @param {import("./types.js").Flow} flow
 * @param {AbortSignal} signal
 */
export async function statusCounts(place, flow, signal) {
  /** @type {[string, string][]} */
  let counts;
  if (flow.threads) {
    const { threads } = flow;
    counts = ALL.filter((status) => threads[status]).map((status) => [status, number(threads[status] ?? 0)]);
  } else {
    try {
      const pages = await Promise.all(
        COUNTED.map((status) => api.threads({ flow: flow.name, status, limit: MOST }, signal)),
      );
      counts = COUNTED.map((status, index) => {
        const page = pages[index];
        return /** @type {[string, string]} */ ([status, page?.next ? `${MOST}+` : String(page?.threads.length ?? 0)]);
      }).filter(([, text]) => text !== "0");
    } catch {
      return;
    }
  }
  replace(
    place,
    counts.map(([status, text]) =>
      h("a", { href: link(["threads"], { flow: flow.name, status }) }, badge(status, `${text} ${status}`)),
    ),
    counts.length === 0 ? h("span", { class: "muted" }, "No thread runs, waits or has failed.") : null,
  );
}
