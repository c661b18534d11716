// @ts-check
/**
 * Where the bars of a waterfall are. Pure functions.
 *
 * A thread may wait for days between its runs. So the time of the waterfall is that of the runs, one after another, with a short
 * pause between two.
 *
 * @typedef {import("./run-log.js").Section} Section
 * @typedef {import("./run-log.js").Task} Task
 *
 * @typedef {object} Zone The time of one run.
 * @property {number} startMs since 1970
 * @property {number} endMs since 1970
 * @property {number} at Where it begins, in milliseconds of the waterfall.
 * @property {string} outcome How the run has ended; empty if it has not.
 *
 * @typedef {object} Row
 * @property {string} key
 * @property {Section} section
 * @property {Task} task
 * @property {number} depth How many flows it is inside.
 *
 * @typedef {{from: number, to: number}} Span In milliseconds of the waterfall.
 */

/** The pause between two runs, as a part of the time of all. */
const PAUSE = 0.03;
/** The steps of a scale. */
const STEPS = [1, 2, 5];

/**
 * The times of the runs.
 *
 * @param {Section[]} sections
 * @param {number | null} nowMs The time now, if a run is in progress.
 * @returns {Zone[]}
 */
export function zonesOf(sections, nowMs) {
  /** @type {Zone[]} */
  const zones = [];
  /** @type {Zone | null} */
  let open = null;
  for (const section of sections) {
    const times = timesOf(section);
    const first = times[0];
    if (first === undefined) continue;
    if (!open || section.kind === "start") {
      open = { startMs: first, endMs: first, at: 0, outcome: "" };
      zones.push(open);
    }
    // The clocks of two processes may differ.
    open.endMs = Math.max(open.endMs, ...times);
    if (section.kind !== "end") continue;
    open.outcome = section.outcome;
    open = null;
  }
  if (open && nowMs !== null) open.endMs = Math.max(open.endMs, nowMs);
  const active = zones.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
  const pause = Math.max(1, active * PAUSE);
  let at = 0;
  for (const zone of zones) {
    zone.at = at;
    at += zone.endMs - zone.startMs + pause;
  }
  return zones;
}

/**
 * The times that are known of a section, the earliest first.
 *
 * @param {Section} section
 */
function timesOf(section) {
  const attempts = section.tasks.flatMap((task) => task.attempts);
  const times = [section.atMs, ...attempts.flatMap(({ startedMs, finishedMs }) => [startedMs, finishedMs])];
  return times.filter((time) => time !== null).sort((a, b) => a - b);
}

/**
 * All of the time of the waterfall.
 *
 * @param {Zone[]} zones
 * @returns {Span}
 */
export function wholeOf(zones) {
  const last = zones.at(-1);
  return { from: 0, to: last ? Math.max(1, last.at + last.endMs - last.startMs) : 1 };
}

/**
 * A time since 1970 as one of the waterfall.
 *
 * @param {Zone[]} zones
 * @param {number} ms
 */
export function placeOf(zones, ms) {
  const zone = zones.findLast(({ startMs }) => startMs <= ms) ?? zones[0];
  if (!zone) return 0;
  return zone.at + Math.min(Math.max(0, ms - zone.startMs), zone.endMs - zone.startMs);
}

/**
 * The tasks as rows: those of a sub-flow follow the task that runs it.
 *
 * @param {Section[]} sections
 * @returns {Row[]}
 */
export function rowsOf(sections) {
  /** @type {Row[]} */
  const rows = [];
  for (const section of sections) {
    /** @type {Map<string, Task[]>} */
    const byNamespace = new Map();
    for (const task of section.tasks) {
      byNamespace.set(task.namespace, [...(byNamespace.get(task.namespace) ?? []), task]);
    }
    /** @param {string} namespace @param {number} depth */
    const add = (namespace, depth) => {
      const tasks = byNamespace.get(namespace) ?? [];
      byNamespace.delete(namespace);
      for (const task of tasks) {
        rows.push({ key: `${section.id} ${task.key}`, section, task, depth });
        add(pathOf(task), depth + 1);
      }
    };
    add("", 0);
    // A part of the log may be missing.
    for (const namespace of [...byNamespace.keys()]) add(namespace, namespace.split("/").length);
  }
  return rows;
}

/** @param {Task} task */
function pathOf({ namespace, node, index }) {
  return `${namespace ? `${namespace}/` : ""}${node}${index === null ? "" : `[${index}]`}`;
}

/**
 * When a task began and ended. What has not ended lasts until its run has.
 *
 * @param {Zone[]} zones
 * @param {Task} task
 * @returns {Span | null}
 */
export function spanOf(zones, task) {
  const spans = task.attempts.map((attempt) => attemptSpan(zones, attempt)).filter((span) => span !== null);
  if (spans.length === 0) return null;
  return { from: Math.min(...spans.map(({ from }) => from)), to: Math.max(...spans.map(({ to }) => to)) };
}

/**
 * @param {Zone[]} zones
 * @param {import("./run-log.js").Attempt} attempt
 * @returns {Span | null}
 */
export function attemptSpan(zones, { startedMs, finishedMs }) {
  const begin = startedMs ?? finishedMs;
  if (begin === null) return null;
  const zone = zones.findLast(({ startMs }) => startMs <= begin) ?? zones[0];
  const end = finishedMs ?? zone?.endMs ?? begin;
  return { from: placeOf(zones, begin), to: Math.max(placeOf(zones, begin), placeOf(zones, end)) };
}

/**
 * The lines of the scale in a part of the time, each with how long after the begin of its run it is.
 *
 * @param {Zone[]} zones
 * @param {Span} shown
 * @param {number} most How many there may be.
 * @returns {{at: number, ms: number, zone: Zone}[]}
 */
export function ticksOf(zones, shown, most) {
  const step = stepOf((shown.to - shown.from) / Math.max(1, most));
  /** @type {{at: number, ms: number, zone: Zone}[]} */
  const ticks = [];
  for (const zone of zones) {
    const last = Math.min(zone.endMs - zone.startMs, shown.to - zone.at);
    const first = Math.max(0, Math.ceil((shown.from - zone.at) / step) * step);
    for (let ms = first; ms <= last; ms += step) {
      const at = zone.at + ms;
      const before = ticks.at(-1);
      // The begin of a run counts more than the last line of the run before.
      if (before && at - before.at < step * 0.6) {
        if (ms !== 0) continue;
        ticks.pop();
      }
      ticks.push({ at, ms, zone });
    }
  }
  return ticks;
}

/**
 * The smallest round number of milliseconds that is not below this one.
 *
 * @param {number} least
 */
function stepOf(least) {
  // Minutes and hours are round in their own way.
  for (const unit of [60_000, 3_600_000, 86_400_000]) {
    for (const many of [1, 2, 5, 10, 30]) if (least > 30_000 && unit * many >= least) return unit * many;
  }
  let power = 1;
  while (power * 5 < least) power *= 10;
  return power * (STEPS.find((step) => step * power >= least) ?? 10);
}
