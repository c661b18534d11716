// @ts-check
/**
 * The events of a thread, as a stream. `EventSource` cannot send the header with the token, so the stream is read with `fetch`.
 *
 * @typedef {import("./types.js").RunEvent} RunEvent
 * @typedef {"connecting" | "open" | "closed" | "retrying"} Connection
 */

import { addressOf, RequestError, send } from "./api.js";
import { parse } from "./json.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** A server sends a comment at least this often. */
const SILENCE_MS = 60_000;

/**
 * Reads the events until the server ends the stream, or says that none will follow. When the connection breaks, it connects
 * again, and names the last event that it has.
 *
 * @param {string} thread
 * @param {object} options
 * @param {number | null} options.after The number of the last event that the caller has. `null` for the first connection.
 * @param {(number: number, event: RunEvent) => void} options.onEvent
 * @param {(connection: Connection) => void} options.onConnection
 * @param {AbortSignal} options.signal
 * @returns {Promise<void>}
 */
export async function follow(thread, { after, onEvent, onConnection, signal }) {
  let last = after ?? 0;
  let wait = FIRST_WAIT_MS;
  let hasConnected = after !== null;
  while (!signal.aborted) {
    onConnection("connecting");
    try {
      /** @type {{[name: string]: string}} */
      const headers = { Accept: "text/event-stream" };
      if (hasConnected) headers["Last-Event-ID"] = String(last);
      const silence = new Silence(SILENCE_MS);
      try {
        const response = await send("GET", addressOf(["threads", thread, "events"]), {
          headers,
          signal: AbortSignal.any([signal, silence.signal]),
        });
        hasConnected = true;
        if (response.status === 204 || !response.body) {
          onConnection("closed");
          return;
        }
        onConnection("open");
        for await (const message of messages(response.body, () => silence.restart())) {
          wait = FIRST_WAIT_MS;
          const event = /** @type {RunEvent} */ (parsed(message.data));
          if (!event) continue;
          if (event.kind === "partial_output") {
            // It has no number: the log will have the whole answer.
            onEvent(last, event);
            continue;
          }
          const number = Number(message.id);
          if (number <= last) continue;
          last = number;
          onEvent(number, event);
        }
      } finally {
        silence.stop();
      }
      onConnection("closed");
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof RequestError && isFinal(error.status)) throw error;
    }
    if (signal.aborted) return;
    onConnection("retrying");
    // Not all clients connect again at the same time.
    await pause(wait * (0.5 + Math.random() / 2), signal);
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
}

/** @param {number} status */
function isFinal(status) {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

/** Aborts a request when nothing has come for a time: the connection is broken and nobody has said so. */
class Silence {
  /** @param {number} milliseconds */
  constructor(milliseconds) {
    this.milliseconds = milliseconds;
    this.controller = new AbortController();
    this.signal = this.controller.signal;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.restart();
  }

  restart() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.controller.abort(), this.milliseconds);
  }

  stop() {
    clearTimeout(this.timer);
  }
}

/**
 * The messages in a stream of server-sent events.
 *
 * @param {ReadableStream<Uint8Array>} body
 * @param {() => void} onBytes
 * @returns {AsyncGenerator<{id: string, data: string}>}
 */
async function* messages(body, onBytes) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let id = "";
  /** @type {string[]} */
  let data = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      rest += decoder.decode(value, { stream: true });
      // A line that ends with the last character may have a second character of its end in the next piece.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "") {
          if (data.length > 0) yield { id, data: data.join("\n") };
          data = [];
          continue;
        }
        const colon = line.indexOf(":");
        const field = colon < 0 ? line : line.slice(0, colon);
        const text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (field === "id") id = text;
        if (field === "data") data.push(text);
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** @param {string} text */
function parsed(text) {
  try {
    return parse(text);
  } catch {
    return null;
  }
}

/**
 * @param {number} milliseconds
 * @param {AbortSignal} signal
 */
function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve(null);
      },
      { once: true },
    );
  });
}
