// @ts-check
/**
 * The events of a thread, put together as runs, supersteps, tasks and attempts.
 *
 * @typedef {import("./types.js").RunEvent} RunEvent
 * @typedef {import("./custom-event.js").Description} Description
 * @typedef {import("./custom-event.js").Usage} Usage
 * @typedef {"running" | "finished" | "cached" | "restored" | "skipped" | "retry" | "failed" | "stopped" | "waiting" | "sleeping"} Outcome
 *
 * @typedef {object} Attempt
 * @property {number} number
 * @property {Outcome} outcome
 * @property {string[]} keys The keys that it wrote.
 * @property {unknown} error
 * @property {number} waitMs
 * @property {Description[]} emitted
 * @property {number} left How many values were emitted before those in `emitted`.
 * @property {string} text The pieces of the text that it writes.
 * @property {boolean} isWhole Whether the text is complete.
 * @property {number | null} startedMs
 * @property {number | null} finishedMs
 * @property {Call[]} calls The calls of models and tools that it made and that have ended.
 * @property {{title: string, fromMs: number}[]} openCalls The calls of tools that have not ended.
 * @property {number | null} sinceMs When the last whole value was emitted: the next call of a model began after it.
 *
 * @typedef {object} Call
 * @property {"model" | "tool"} kind
 * @property {string} title
 * @property {number} fromMs
 * @property {number} toMs
 * @property {Usage | null} usage
 *
 * @typedef {object} Task
 * @property {string} key
 * @property {string} node
 * @property {string} namespace
 * @property {number} superstep
 * @property {number | null} index
 * @property {Attempt[]} attempts
 *
 * @typedef {object} Section A superstep, or the start or the end of a run.
 * @property {"start" | "superstep" | "end"} kind
 * @property {number} id
 * @property {number} version Another one after each change.
 * @property {number} superstep
 * @property {string[]} nodes
 * @property {Task[]} tasks
 * @property {boolean} isFinished
 * @property {number | null} checkpoint
 * @property {number | null} atMs
 * @property {string} outcome How a run has ended.
 * @property {string} error
 */

import { describe } from "./custom-event.js";
import { errorText } from "./format.js";

/** Older sections are dropped: the history has all checkpoints. */
const MOST_SECTIONS = 2000;
/** What an attempt with such an outcome has written does not count. @type {Set<Outcome>} */
const VOID = new Set(["stopped", "failed", "waiting", "sleeping"]);
const ENDS_ATTEMPT = new Set(["node_finished", "node_failed", "retry"]);
/** Older values of an attempt are dropped. */
const MOST_VALUES = 200;

export class RunLog {
  constructor() {
    /** @type {Section[]} */
    this.sections = [];
    /** The number of the newest event. */
    this.last = 0;
    this.dropped = 0;
    /** @type {Usage} */
    this.usage = { input: 0, output: 0, cost: 0 };
    this.nextId = 1;
    /** The typed answers that models write, by task: the log has their supersteps later. @type {Map<string, {node: string, text: string}>} */
    this.growing = new Map();
  }

  /**
   * @param {number} number
   * @param {RunEvent} event
   * @param {number | null} atMs When it happened, if that is known.
   */
  add(number, event, atMs) {
    this.last = number;
    const isTop = !event.namespace;
    switch (event.kind) {
      case "run_started":
        if (isTop) this.open("start", event, atMs);
        return;
      case "superstep_started":
        if (isTop) this.open("superstep", event, atMs).nodes = event.nodes ?? [];
        return;
      case "finished":
      case "interrupted":
      case "sleeping":
      case "failed":
        if (isTop) this.end(event, atMs);
        return;
      case "superstep_finished":
        if (isTop)
          this.change((section) => {
            section.isFinished = true;
          });
        return;
      case "checkpoint":
        // The input of a turn is a checkpoint as well.
        if (isTop && this.sections.at(-1)?.kind === "start") this.noteInput(event.checkpoint ?? null);
        if (isTop)
          this.change((section) => {
            section.checkpoint = event.checkpoint ?? null;
            section.atMs ??= atMs;
          });
        return;
      case "partial_output":
        if (event.task) {
          const text = JSON.stringify(event.value, null, 2);
          this.growing.set(keyOf(event, event.task), { node: event.task.node, text });
        }
        return;
      default:
        if (event.task) this.addToTask(event, event.task, atMs);
    }
  }

  /**
   * @param {Section["kind"]} kind
   * @param {RunEvent} event
   * @param {number | null} atMs
   */
  open(kind, event, atMs) {
    /** @type {Section} */
    const section = {
      kind,
      id: this.nextId++,
      version: 1,
      superstep: event.superstep,
      nodes: [],
      tasks: [],
      isFinished: kind !== "superstep",
      checkpoint: null,
      atMs,
      outcome: "",
      error: "",
    };
    this.sections.push(section);
    if (this.sections.length > MOST_SECTIONS) {
      this.sections.splice(0, MOST_SECTIONS / 4);
      this.dropped += MOST_SECTIONS / 4;
    }
    return section;
  }

  /**
   * @param {RunEvent} event
   * @param {number | null} atMs
   */
  end(event, atMs) {
    const asking = event.interrupts?.map(({ node, namespace }) => `${namespace}|${node}`) ?? [];
    this.stopAttempts(event.kind, new Set(asking));
    this.growing.clear();
    const section = this.open("end", event, atMs);
    section.outcome = event.kind;
    if (event.error !== undefined) section.error = errorText(event.error);
  }

  /** @param {number | null} checkpoint */
  noteInput(checkpoint) {
    const start = this.sections.at(-1);
    if (start) start.checkpoint = checkpoint;
  }

  /**
   * The checkpoint that a superstep began with, as far as the log says.
   *
   * @param {Section} section
   */
  baseOf(section) {
    const index = this.sections.indexOf(section);
    // The superstep that runs now is not in the log.
    const earlier = index < 0 ? this.sections : this.sections.slice(0, index);
    return earlier.findLast(({ checkpoint }) => checkpoint !== null)?.checkpoint ?? null;
  }

  /**
   * The attempts that have not finished do not run any more: their run has ended.
   *
   * @param {string} end How the run has ended.
   * @param {Set<string>} asking The nodes that wait for a person.
   */
  stopAttempts(end, asking) {
    const section = this.current();
    if (!section) return;
    for (const { node, namespace, attempts } of section.tasks) {
      for (const attempt of attempts) {
        if (attempt.outcome !== "running") continue;
        const isAsking = asking.has(`${namespace}|${node}`);
        attempt.outcome = isAsking ? "waiting" : end === "sleeping" ? "sleeping" : "stopped";
      }
    }
    section.isFinished = true;
    section.version++;
  }

  /** The number of the newest superstep of the newest run. */
  superstep() {
    const newest = this.sections.at(-1);
    return newest?.kind === "superstep" ? newest.superstep : 0;
  }

  /** The superstep that the next event belongs to. */
  current() {
    const last = this.sections.at(-1);
    return last?.kind === "superstep" ? last : null;
  }

  /** @param {(section: Section) => void} apply */
  change(apply) {
    const section = this.current();
    if (!section) return;
    apply(section);
    section.version++;
  }

  /**
   * @param {RunEvent} event
   * @param {NonNullable<RunEvent["task"]>} info
   * @param {number | null} atMs
   */
  addToTask(event, info, atMs) {
    // The log may begin in the middle of a superstep.
    const section = this.current() ?? this.open("superstep", { ...event, superstep: event.superstep }, atMs);
    const key = keyOf(event, info);
    if (ENDS_ATTEMPT.has(event.kind)) this.growing.delete(key);
    let task = section.tasks.find((task) => task.key === key);
    if (!task) {
      task = {
        key,
        node: info.node,
        namespace: event.namespace,
        superstep: event.superstep,
        index: info.index,
        attempts: [],
      };
      section.tasks.push(task);
    }
    let attempt = task.attempts.find((attempt) => attempt.number === info.attempt);
    if (!attempt) {
      attempt = newAttempt(info.attempt, atMs);
      task.attempts.push(attempt);
    }
    this.addToAttempt(event, attempt, atMs);
    section.version++;
  }

  /**
   * @param {RunEvent} event
   * @param {Attempt} attempt
   * @param {number | null} atMs
   */
  addToAttempt(event, attempt, atMs) {
    attempt.keys = event.keys ?? attempt.keys;
    switch (event.kind) {
      case "node_started":
        attempt.startedMs = atMs;
        return;
      case "node_finished":
        attempt.outcome = event.cached ? "cached" : "finished";
        break;
      case "node_restored":
        attempt.outcome = "restored";
        break;
      case "node_skipped":
        attempt.outcome = "skipped";
        break;
      case "retry":
        attempt.outcome = "retry";
        attempt.error = event.error;
        attempt.waitMs = event.wait_ms ?? 0;
        break;
      case "node_failed":
        attempt.outcome = "failed";
        attempt.error = event.error;
        break;
      case "custom":
        this.emit(attempt, describe(event.value), atMs);
        return;
      default:
        return;
    }
    attempt.finishedMs = atMs;
  }

  /**
   * @param {Attempt} attempt
   * @param {Description} description
   * @param {number | null} atMs
   */
  emit(attempt, description, atMs) {
    if (atMs !== null) noteCalls(attempt, description, atMs);
    for (const part of description.parts) {
      if (part.kind !== "piece") continue;
      attempt.text = (attempt.isWhole ? "" : attempt.text) + (part.text ?? "");
      attempt.isWhole = false;
    }
    const { usage } = description;
    if (usage) {
      this.usage.input += usage.input;
      this.usage.output += usage.output;
      this.usage.cost += usage.cost;
    }
    const parts = description.parts.filter((part) => part.kind !== "piece");
    if (parts.length === 0 && !usage) return;
    // The whole text follows its pieces.
    const whole = parts.filter((part) => part.kind === "text").map((part) => part.text);
    if (whole.length > 0) {
      attempt.text = whole.join("\n");
      attempt.isWhole = true;
    }
    attempt.emitted.push({ parts, usage });
    if (attempt.emitted.length > MOST_VALUES) {
      attempt.emitted.shift();
      attempt.left++;
    }
  }

  /**
   * The nodes of the flow itself, each with what it does in the newest run.
   *
   * @returns {Map<string, Outcome>}
   */
  marks() {
    /** @type {Map<string, Outcome>} */
    const marks = new Map();
    const start = this.sections.findLastIndex((section) => section.kind === "start");
    for (const section of this.sections.slice(start + 1)) {
      for (const task of section.tasks) {
        // A node of a sub-flow marks nothing in the drawing of this flow.
        if (task.namespace) continue;
        const outcome = task.attempts.at(-1)?.outcome ?? "running";
        const before = marks.get(task.node);
        const isSame = section.tasks.some((other) => other !== task && other.node === task.node);
        if (isSame && before && rank(before) > rank(outcome)) continue;
        marks.set(task.node, outcome);
      }
    }
    return marks;
  }

  /**
   * The texts that attempts write, as long as they are not in the state of the checkpoint.
   *
   * @param {number} checkpoint
   */
  streamed(checkpoint) {
    const recent = this.sections.filter((section) => section.kind === "superstep").slice(-2);
    const open = recent.filter((section) => section.checkpoint === null || section.checkpoint > checkpoint);
    const logged = open.flatMap(({ tasks }) =>
      tasks.flatMap((task) => {
        const attempt = task.attempts.at(-1);
        const isVoid = !attempt || VOID.has(attempt.outcome);
        return isVoid || !attempt.text ? [] : [{ node: task.node, text: attempt.text }];
      }),
    );
    return [...logged, ...this.growing.values()];
  }
}

/**
 * @param {RunEvent} event
 * @param {NonNullable<RunEvent["task"]>} task
 */
function keyOf(event, task) {
  return `${event.namespace}|${event.superstep}|${task.id}`;
}

/**
 * Notes the calls that have begun or ended with a value. A value with the usage of tokens ends a call of a model.
 *
 * @param {Attempt} attempt
 * @param {Description} description
 * @param {number} atMs
 */
function noteCalls(attempt, { parts, usage }, atMs) {
  // A piece is a part of an answer that a call still gives.
  const isPiece = parts.length > 0 && parts.every((part) => part.kind === "piece");
  if (isPiece && !usage) return;
  if (usage) {
    const fromMs = attempt.sinceMs ?? attempt.startedMs ?? atMs;
    attempt.calls.push({ kind: "model", title: "", fromMs, toMs: atMs, usage });
  }
  for (const { kind, title = "" } of parts) {
    if (kind === "call") attempt.openCalls.push({ title, fromMs: atMs });
    if (kind !== "result" && kind !== "failure") continue;
    const index = attempt.openCalls.findIndex((call) => call.title === title);
    const [call] = index < 0 ? [] : attempt.openCalls.splice(index, 1);
    if (call) attempt.calls.push({ kind: "tool", ...call, toMs: atMs, usage: null });
  }
  attempt.sinceMs = atMs;
}

/**
 * Of several tasks of one node, the one that matters most is shown.
 *
 * @param {Outcome} outcome
 */
function rank(outcome) {
  return ["finished", "stopped", "sleeping", "waiting", "retry", "running", "failed"].indexOf(outcome);
}

/**
 * @param {number} number
 * @param {number | null} startedMs
 * @returns {Attempt}
 */
export function newAttempt(number, startedMs) {
  return {
    number,
    outcome: "running",
    keys: [],
    error: null,
    waitMs: 0,
    emitted: [],
    left: 0,
    text: "",
    isWhole: false,
    startedMs,
    finishedMs: null,
    calls: [],
    openCalls: [],
    sinceMs: null,
  };
}
