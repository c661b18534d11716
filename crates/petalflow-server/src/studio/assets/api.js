// @ts-check
/** The requests to the server. Each is one function. */

import { parse } from "./json.js";
import { current } from "./token.js";

/** @typedef {import("./types.js").Flow} Flow */
/** @typedef {import("./types.js").Info} Info */
/** @typedef {import("./types.js").View} View */
/** @typedef {import("./types.js").Checkpoint} Checkpoint */
/** @typedef {import("./types.js").Schedule} Schedule */
/** @typedef {import("./types.js").InboxItem} InboxItem */

/** The server has refused a request, or cannot be reached (status 0). */
export class RequestError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.name = "RequestError";
    this.status = status;
  }
}

/**
 * The address of a request. The studio is one folder below the routes of the server.
 *
 * @param {string[]} path
 * @param {{[name: string]: string | number | null | undefined}} [query]
 */
export function addressOf(path, query = {}) {
  const address = new URL(`../${path.map(encodeURIComponent).join("/")}`, document.baseURI);
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") address.searchParams.set(name, String(value));
  }
  return address;
}

/** @type {(() => void) | null} */
let onRefusedToken = null;

/**
 * Sets what happens when the token is missing or wrong.
 *
 * @param {() => void} listener
 */
export function whenTokenIsRefused(listener) {
  onRefusedToken = listener;
}

/**
 * Sends a request, and returns the response if its status is a success.
 *
 * @param {string} method
 * @param {URL} address
 * @param {{body?: unknown, headers?: {[name: string]: string}, signal?: AbortSignal}} [options]
 */
export async function send(method, address, { body, headers = {}, signal } = {}) {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(address, {
      method,
      signal: signal ?? null,
      cache: "no-store",
      headers: {
        "X-PetalFlow-Token": current(),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new RequestError(0, "The server cannot be reached. Check that it runs, then try again.");
  }
  if (response.ok) return response;
  if (response.status === 401) onRefusedToken?.();
  throw new RequestError(response.status, await reason(response));
}

/** @param {Response} response */
async function reason(response) {
  try {
    const body = await response.json();
    if (typeof body.error === "string") return body.error;
  } catch {
    // The response is not JSON, for example that of a proxy.
  }
  return `The server answered with the status ${response.status}.`;
}

/**
 * @param {string[]} path
 * @param {{[name: string]: string | number | null | undefined}} [query]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
async function get(path, query, signal) {
  const response = await send("GET", addressOf(path, query), signal ? { signal } : {});
  return parse(await response.text());
}

/**
 * @param {string} method
 * @param {string[]} path
 * @param {unknown} body
 * @returns {Promise<any>}
 */
async function write(method, path, body) {
  const response = await send(method, addressOf(path), { body });
  const text = await response.text();
  return text ? parse(text) : null;
}

/**
 * @param {AbortSignal} [signal]
 * @returns {Promise<Flow[]>}
 */
export async function flows(signal) {
  return (await get(["flows"], {}, signal)).flows;
}

/**
 * @param {string} name
 * @param {AbortSignal} [signal]
 * @returns {Promise<Flow>}
 */
export function flow(name, signal) {
  return get(["flows", name], {}, signal);
}

/**
 * The drawing of a flow, as the text of an SVG.
 *
 * @param {string} name
 * @param {AbortSignal} [signal]
 */
export async function graphSvg(name, signal) {
  const response = await send("GET", addressOf(["flows", name, "graph.svg"]), signal ? { signal } : {});
  return response.text();
}

/**
 * @param {string} flow
 * @param {{id?: string, input: unknown, labels?: {[name: string]: string}}} body
 * @returns {Promise<{thread: string}>}
 */
export function start(flow, body) {
  return write("POST", ["flows", flow, "threads"], body);
}

/**
 * @param {{flow?: string, status?: string, label?: string, where?: string, prefix?: string, order?: string, after?: string | null, limit?: number}} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<{threads: Info[], next: string | null}>}
 */
export function threads(query, signal) {
  return get(["threads"], query, signal);
}

/**
 * How many threads meet the conditions.
 *
 * @param {{[name: string]: string}} conditions
 * @param {AbortSignal} [signal]
 * @returns {Promise<number>}
 */
export async function countThreads(conditions, signal) {
  /** @type {{threads: number}[]} */
  const counts = (await get(["thread-counts"], conditions, signal)).counts;
  return counts.reduce((sum, { threads }) => sum + threads, 0);
}

/**
 * Gives a command to all threads that meet the conditions. A repetition with the same key starts nothing.
 *
 * @param {{[name: string]: string}} conditions
 * @param {{command: string, labels?: {[name: string]: string | null}}} command
 * @param {string} key
 * @returns {Promise<{thread: string}>}
 */
export async function commandThreads(conditions, command, key) {
  const isForAll = Object.keys(conditions).length === 0;
  const body = isForAll ? { ...command, all: true } : command;
  const address = addressOf(["thread-commands"], conditions);
  const response = await send("POST", address, { body, headers: { "Idempotency-Key": key } });
  return parse(await response.text());
}

/**
 * What threads wait for, oldest first.
 *
 * @param {{flow?: string, label?: string, after?: string | null, limit?: number}} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<{items: InboxItem[], next: string | null, threads: number}>}
 */
export function inbox(query, signal) {
  return get(["inbox"], query, signal);
}

/**
 * @param {string} id
 * @param {AbortSignal} [signal]
 * @returns {Promise<View>}
 */
export function thread(id, signal) {
  return get(["threads", id], {}, signal);
}

/**
 * @param {string} id
 * @param {{before?: number | null, limit?: number}} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<{checkpoints: Checkpoint[], next: number | null}>}
 */
export function history(id, query, signal) {
  return get(["threads", id, "history"], query, signal);
}

/**
 * The thread as a file, and the name that the server gives to it.
 *
 * @param {string} id
 * @returns {Promise<{name: string, blob: Blob}>}
 */
export async function exported(id) {
  const response = await send("GET", addressOf(["threads", id, "export"]));
  const disposition = response.headers.get("Content-Disposition") ?? "";
  const name = /filename="([^"]+)"/.exec(disposition)?.[1] ?? "thread.json";
  return { name, blob: await response.blob() };
}

/**
 * @param {string} id
 * @param {number} number
 * @param {AbortSignal} [signal]
 * @returns {Promise<View>}
 */
export function checkpoint(id, number, signal) {
  return get(["threads", id, "checkpoints", String(number)], {}, signal);
}

/**
 * @param {string} id
 * @param {unknown} input
 * @param {boolean} discardPending
 * @param {string} [strategy] What happens if a run has the thread.
 */
export function turn(id, input, discardPending, strategy) {
  return write("POST", ["threads", id, "turns"], {
    input,
    ...(discardPending ? { discard_pending: true } : {}),
    ...(strategy ? { multitask_strategy: strategy } : {}),
  });
}

/**
 * @param {string} id
 * @param {string} question
 * @param {{answer: unknown} | {decision: string, by?: string, reason?: string}} body
 */
export function answer(id, question, body) {
  return write("POST", ["threads", id, "answers", question], body);
}

/** @param {string} id */
export function resume(id) {
  return write("POST", ["threads", id, "resume"], {});
}

/** @param {string} id */
export function cancel(id) {
  return write("POST", ["threads", id, "cancel"], {});
}

/** @param {string} id */
export function hold(id) {
  return write("POST", ["threads", id, "hold"], {});
}

/**
 * @param {string} id
 * @param {{[key: string]: unknown}} keys
 * @param {string} node
 * @returns {Promise<{checkpoint: number}>}
 */
export function edit(id, keys, node) {
  return write("POST", ["threads", id, "edit"], node ? { keys, node } : { keys });
}

/**
 * @param {string} id
 * @param {number} checkpoint
 * @param {string} [newId]
 * @returns {Promise<{thread: string, checkpoint: number}>}
 */
export function fork(id, checkpoint, newId) {
  return write("POST", ["threads", id, "fork"], newId ? { checkpoint, id: newId } : { checkpoint });
}

/**
 * @param {string} id
 * @param {string} newId
 * @returns {Promise<{thread: string}>}
 */
export function copy(id, newId) {
  return write("POST", ["threads", id, "copy"], { id: newId });
}

/**
 * @param {string} id
 * @param {{[name: string]: string}} labels
 */
export function setLabels(id, labels) {
  return write("PUT", ["threads", id, "labels"], labels);
}

/** @param {string} id */
export async function remove(id) {
  await send("DELETE", addressOf(["threads", id]));
}

/**
 * @param {AbortSignal} [signal]
 * @returns {Promise<Schedule[]>}
 */
export async function schedules(signal) {
  return (await get(["schedules"], {}, signal)).schedules;
}

/** @param {string} name */
export function pauseSchedule(name) {
  return write("POST", ["schedules", name, "pause"], {});
}

/** @param {string} name */
export function unpauseSchedule(name) {
  return write("POST", ["schedules", name, "unpause"], {});
}

/**
 * Begins a thread of a schedule now.
 *
 * @param {string} name
 * @returns {Promise<{thread: string}>}
 */
export function runSchedule(name) {
  return write("POST", ["schedules", name, "run"], {});
}

/**
 * Creates a schedule, or changes one that a client has created.
 *
 * @param {string} name
 * @param {{flow: string, cron: string, zone: string, missed: string, input: unknown}} definition
 * @returns {Promise<Schedule>}
 */
export function defineSchedule(name, definition) {
  return write("PUT", ["schedules", name], definition);
}

/** @param {string} name */
export async function deleteSchedule(name) {
  await send("DELETE", addressOf(["schedules", name]));
}

/**
 * Begins the threads of the planned times of a range that has passed.
 *
 * @param {string} name
 * @param {{from: string, to: string}} range
 * @returns {Promise<{threads: string[], times: number}>}
 */
export function backfillSchedule(name, range) {
  return write("POST", ["schedules", name, "backfill"], range);
}
