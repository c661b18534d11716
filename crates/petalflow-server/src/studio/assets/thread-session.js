// @ts-check
/**
 * What a page knows about one thread: its newest checkpoint, and the log of its runs, both kept up to date.
 *
 * @typedef {import("./types.js").View} View
 * @typedef {import("./types.js").Flow} Flow
 * @typedef {import("./types.js").RunEvent} RunEvent
 * @typedef {import("./events.js").Connection} Connection
 * @typedef {"view" | "events" | "connection"} Topic
 * @typedef {{before: View | null, after: View | null}} Values
 */

import * as api from "./api.js";
import { announce, messageOf } from "./announce.js";
import { follow } from "./events.js";
import { RunLog } from "./run-log.js";
import { storedMs } from "./stored-ms.js";

const POLL_MS = 4000;
/** A thread that rests is looked at so often: whether it has events, and each few times the thread itself. */
const LOOK_MS = 1000;
const LOOKS_PER_REFRESH = 4;
const REFRESH_MS = 150;
/** Of so many supersteps the values are kept. */
const MOST_LOADED = 50;
/** Events that come later than this after the start of a stream are new, and happen now. */
const REPLAY_MS = 600;
const CHANGES_VIEW = new Set(["checkpoint", "asked", "interrupted", "sleeping", "finished", "failed", "node_failed", "run_started"]);

/** @param {import("./run-log.js").Section} section */
function loadedKey({ id, superstep, checkpoint }) {
  return `${id} ${superstep} ${checkpoint}`;
}

export class ThreadSession {
  /**
   * @param {string} id
   * @param {Flow} flow
   * @param {View} view
   * @param {AbortSignal} signal
   */
  constructor(id, flow, view, signal) {
    this.id = id;
    this.flow = flow;
    this.view = view;
    this.signal = signal;
    this.log = new RunLog();
    /** Why the thread could not be read the last time. */
    this.problem = "";
    /** @type {Connection | "polling"} */
    this.connection = "connecting";
    /** When each checkpoint was stored. @type {Map<number, number>} */
    this.times = new Map([[view.checkpoint, storedMs(view)]]);
    /** @type {Set<(topic: Topic) => void>} */
    this.listeners = new Set();
    /** The values of supersteps, by their section and checkpoint. @type {Map<string, Values>} */
    this.loaded = new Map();
    /** Those that are being loaded. @type {Map<string, Promise<Values>>} */
    this.loading = new Map();
    this.openedMs = 0;
    this.hasConnected = false;
    /** @type {(() => void) | null} */
    this.wake = null;
    /** The number of the newest request for the checkpoint: an earlier one may come later. */
    this.requests = 0;
    // No event says that an engine repeats or has paused what it does.
    const timer = setInterval(() => {
      const isOfEngine = this.view.trouble !== undefined;
      if (isOfEngine && this.view.status === "running" && !document.hidden) this.refreshSoon();
    }, POLL_MS);
    signal.addEventListener("abort", () => {
      clearInterval(timer);
      this.wake?.();
    });
    document.addEventListener("visibilitychange", () => this.wake?.(), { signal });
    this.refreshIsPlanned = false;
    this.refreshAgain = false;
  }

  /**
   * Loads a thread and its flow.
   *
   * @param {string} id
   * @param {AbortSignal} signal
   */
  static async load(id, signal) {
    const view = await api.thread(id, signal);
    const flow = await api.flow(view.flow, signal);
    return new ThreadSession(id, flow, view, signal);
  }

  /** @param {(topic: Topic) => void} listener */
  onChange(listener) {
    this.listeners.add(listener);
  }

  /** @param {Topic} topic */
  tell(topic) {
    for (const listener of this.listeners) listener(topic);
  }

  /** Follows the thread until the signal is aborted. */
  async watch() {
    void this.loadTimes();
    let pauseMs = 500;
    let hasStream = true;
    for (let looks = 0; !this.signal.aborted; looks++) {
      const before = this.log.last;
      try {
        if (hasStream) await this.follow();
      } catch (error) {
        // The server has no events of this thread. Its checkpoints are enough to show where it is.
        if (error instanceof api.RequestError) hasStream = false;
      }
      if (this.signal.aborted) return;
      if (!hasStream) this.setConnection("polling");
      const isNews = this.log.last > before;
      // What stores no event, such as a hold, is seen by looking at the thread.
      if (isNews || !hasStream || looks % LOOKS_PER_REFRESH === 0) await this.refresh();
      // A thread that is listed as running may wait for a process that continues it.
      pauseMs = isNews ? 500 : Math.min(pauseMs * 2, POLL_MS);
      if (this.view.status === "running") await this.pause(hasStream ? pauseMs : POLL_MS);
      else await this.rest(hasStream ? LOOK_MS : POLL_MS);
    }
  }

  /**
   * Waits before the next look at a thread that rests. A page that nobody sees does not look.
   *
   * @param {number} milliseconds
   */
  async rest(milliseconds) {
    let wasWoken = await this.pause(milliseconds);
    while (document.hidden && !wasWoken && !this.signal.aborted) wasWoken = await this.pause(milliseconds);
  }

  follow() {
    this.openedMs = performance.now();
    return follow(this.id, {
      after: this.hasConnected ? this.log.last : null,
      signal: this.signal,
      onConnection: (connection) => {
        this.openedMs = performance.now();
        // A look at a thread that rests is no change for the person.
        if (connection === "connecting" && this.connection === "closed") return;
        if (connection === "open") {
          this.hasConnected = true;
          // Somebody has continued it.
          if (this.view.status !== "running") this.refreshSoon();
        }
        this.setConnection(connection);
      },
      onEvent: (number, event) => this.receive(number, event),
    });
  }

  /**
   * @param {number} number
   * @param {RunEvent} event
   */
  receive(number, event) {
    const isNew = performance.now() - this.openedMs > REPLAY_MS;
    const atMs = event.recorded_ms ?? (isNew ? Date.now() : null);
    this.log.add(number, event, atMs);
    this.tell("events");
    if (!event.namespace && CHANGES_VIEW.has(event.kind)) this.refreshSoon();
  }

  /** @param {Connection | "polling"} connection */
  setConnection(connection) {
    if (this.connection === connection) return;
    this.connection = connection;
    this.tell("connection");
  }

  /** Loads the newest checkpoint in a moment. While events come quickly, it is loaded a few times per second. */
  refreshSoon() {
    if (this.refreshIsPlanned) {
      this.refreshAgain = true;
      return;
    }
    this.refreshIsPlanned = true;
    setTimeout(async () => {
      this.refreshAgain = false;
      await this.refresh();
      this.refreshIsPlanned = false;
      if (this.refreshAgain) this.refreshSoon();
    }, REFRESH_MS);
  }

  /** Loads the newest checkpoint. */
  async refresh() {
    if (this.signal.aborted) return;
    this.requests += 1;
    const request = this.requests;
    try {
      const view = await api.thread(this.id, this.signal);
      if (request !== this.requests) return;
      const before = this.view;
      this.view = view;
      this.problem = "";
      this.times.set(view.checkpoint, storedMs(view));
      if (view.status !== before.status) announce(`The thread is ${view.status}.`);
      const known = new Set(before.questions.map((question) => question.id));
      const asked = view.questions.filter((question) => !known.has(question.id)).length;
      if (asked > 0) announce(`There is a new question. ${view.questions.length} open.`);
      this.tell("view");
    } catch (error) {
      if (this.signal.aborted) return;
      this.problem = messageOf(error);
      this.tell("view");
    }
  }

  /** Looks at the thread again at once: somebody has changed it. */
  lookAgain() {
    this.wake?.();
    return this.refresh();
  }

  /**
   * The checkpoint that a superstep began with, and the one that it has stored, if they are loaded.
   *
   * @param {import("./run-log.js").Section} section
   * @returns {Values | null}
   */
  knownValues(section) {
    return this.loaded.get(loadedKey(section)) ?? null;
  }

  /**
   * Loads them. A card that is drawn again while they are loaded sends no further request.
   *
   * @param {import("./run-log.js").Section} section
   * @returns {Promise<Values>}
   */
  values(section) {
    const key = loadedKey(section);
    const known = this.loading.get(key);
    if (known) return known;
    const loading = this.loadValues(section).finally(() => this.loading.delete(key));
    this.loading.set(key, loading);
    return loading;
  }

  /**
   * @param {import("./run-log.js").Section} section
   * @returns {Promise<Values>}
   */
  async loadValues(section) {
    const after = section.checkpoint === null ? null : await api.checkpoint(this.id, section.checkpoint, this.signal);
    const base = after ? after.parent : this.log.baseOf(section);
    const before = base === null ? null : await this.stored(base);
    const found = { before, after };
    this.loaded.set(loadedKey(section), found);
    const oldest = this.loaded.keys().next().value;
    if (this.loaded.size > MOST_LOADED && oldest !== undefined) this.loaded.delete(oldest);
    return found;
  }

  /**
   * A checkpoint. `null` if it is not stored any more.
   *
   * @param {number} number
   */
  async stored(number) {
    try {
      return await api.checkpoint(this.id, number, this.signal);
    } catch (error) {
      if (error instanceof api.RequestError && error.status === 404) return null;
      throw error;
    }
  }

  async loadTimes() {
    try {
      const { checkpoints } = await api.history(this.id, { limit: 200 }, this.signal);
      for (const { checkpoint, created_ms } of checkpoints) this.times.set(checkpoint, created_ms);
      this.tell("events");
    } catch {
      // The timeline has no times then.
    }
  }

  /**
   * Waits, and returns whether somebody has woken it.
   *
   * @param {number} milliseconds
   * @returns {Promise<boolean>}
   */
  pause(milliseconds) {
    return new Promise((resolve) => {
      const end = (/** @type {boolean} */ woken) => {
        clearTimeout(timer);
        this.wake = null;
        resolve(woken);
      };
      const timer = setTimeout(() => end(false), milliseconds);
      this.wake = () => end(true);
    });
  }
}
