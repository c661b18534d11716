// @ts-check
/** The totals of a thread: time, tasks, tokens and cost, as far as its log has them. */

import { h } from "./dom.js";
import { cost, duration, number } from "./format.js";

/**
 * @param {import("./run-log.js").RunLog} log
 * @param {import("./waterfall-layout.js").Zone[]} zones
 * @param {import("./waterfall-layout.js").Row[]} rows
 */
export function totals({ usage, sections }, zones, rows) {
  const runMs = zones.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
  const own = rows.filter(({ task }) => !task.namespace);
  const inside = rows.length - own.length;
  const isWhole = sections[0]?.kind === "start";
  /** @type {[string, string, string][]} */
  const all = [
    ["Time in runs", duration(runMs), "The time between runs does not count."],
    ["Runs", number(zones.length), ""],
    ["Tasks", inside > 0 ? `${number(own.length)} + ${number(inside)} in sub-flows` : number(own.length), ""],
  ];
  if (usage.input || usage.output) {
    all.push(["Tokens in", number(usage.input), ""], ["Tokens out", number(usage.output), ""]);
  }
  if (usage.cost) all.push(["Cost", cost(usage.cost), ""]);
  if (!isWhole && sections[0]) all.push(["Counted from", `superstep ${number(sections[0].superstep)}`, "The log has no older events."]);
  return all.map(([name, text, title]) => h("div", { title: title || null }, h("dt", null, name), h("dd", null, text)));
}
