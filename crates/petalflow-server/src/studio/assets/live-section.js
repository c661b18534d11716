// @ts-check
/**
 * The superstep that runs now. Its events are stored when it ends, and until then the checkpoint says which tasks it has.
 *
 * @typedef {import("./run-log.js").Section} Section
 */

import { newAttempt } from "./run-log.js";
import { storedMs } from "./stored-ms.js";

/**
 * @param {import("./thread-session.js").ThreadSession} session
 * @returns {Section | null} `null` if no run is in progress, or the log has the superstep.
 */
export function liveSection({ view, log }) {
  if (view.status !== "running" || view.superstep < log.superstep()) return null;
  const startedMs = storedMs(view);
  const known = view.tasks.length > 0 ? view.tasks : view.next.map((node) => ({ node, index: null, finished: false }));
  const tasks = known.map(({ node, index, finished }, number) => ({
    key: `live ${number}`,
    node,
    namespace: "",
    superstep: view.superstep + 1,
    index,
    attempts: [
      // When a task of the superstep has finished is stored with its end.
      finished ? { ...newAttempt(1, null), outcome: /** @type {"finished"} */ ("finished") } : newAttempt(1, startedMs),
    ],
  }));
  return {
    kind: "superstep",
    id: 0,
    version: view.checkpoint,
    superstep: view.superstep + 1,
    nodes: view.next,
    tasks,
    isFinished: false,
    checkpoint: null,
    atMs: startedMs,
    outcome: "",
    error: "",
  };
}
