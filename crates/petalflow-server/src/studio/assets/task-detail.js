// @ts-check
/** What is shown of a task that a person has opened: its attempts with what they emitted, its calls, and its values. */

/** @typedef {import("./run-log.js").Section} Section */
/** @typedef {import("./run-log.js").Task} Task */
/** @typedef {import("./run-log.js").Attempt} Attempt */
/** @typedef {import("./types.js").View} View */

import { link } from "./address.js";
import { messageOf } from "./announce.js";
import { changeList, changes } from "./diff.js";
import { h, replace } from "./dom.js";
import { cost, count, duration, errorText, number } from "./format.js";
import { icon } from "./icons.js";
import { messageElement, messagesOf } from "./messages.js";
import { partElement } from "./parts.js";
import { stateTree } from "./tree.js";

/** @type {{[outcome: string]: string}} */
const OUTCOMES = {
  running: "runs",
  finished: "finished",
  cached: "from the cache",
  restored: "restored",
  skipped: "skipped",
  retry: "failed, tried again",
  failed: "failed",
  stopped: "stopped",
  waiting: "waits for a person",
  sleeping: "sleeps",
};

/** @param {string} outcome */
export function outcomeText(outcome) {
  return OUTCOMES[outcome] ?? outcome;
}

/** @param {string} outcome */
export function outcomeBadge(outcome) {
  return h("span", { class: "outcome", "data-outcome": outcome }, icon(outcome), ` ${outcomeText(outcome)}`);
}

/**
 * The tokens and the cost of a task.
 *
 * @param {Task} task
 */
export function usageOfTask(task) {
  const sum = { input: 0, output: 0, cost: 0 };
  for (const { usage } of task.attempts.flatMap((attempt) => attempt.emitted)) {
    sum.input += usage?.input ?? 0;
    sum.output += usage?.output ?? 0;
    sum.cost += usage?.cost ?? 0;
  }
  return sum;
}

/**
 * @param {import("./custom-event.js").Usage} usage
 */
export function usageText({ input, output, cost: dollars }) {
  return `${number(input)} tokens in, ${number(output)} out${dollars ? `, ${cost(dollars)}` : ""}`;
}

/**
 * The attempts of a task, and its values.
 *
 * @param {import("./thread-session.js").ThreadSession} session
 * @param {Section} section
 * @param {Task} task
 */
export function taskBody(session, section, task) {
  return [
    task.attempts.map((attempt) => attemptBody(attempt, task.attempts.length > 1)),
    values(session, section, task),
  ];
}

/**
 * @param {Attempt} attempt
 * @param {boolean} isOneOfSeveral
 */
function attemptBody(attempt, isOneOfSeveral) {
  return h(
    "div",
    { class: "attempt" },
    isOneOfSeveral ? h("h4", null, `Attempt ${attempt.number} `, outcomeBadge(attempt.outcome)) : null,
    attempt.left > 0 ? h("p", { class: "muted" }, `${count(attempt.left, "earlier event")} are not shown.`) : null,
    callList(attempt),
    attempt.emitted.map(({ parts, usage }) => [
      parts.map(partElement),
      usage ? h("p", { class: "muted small-text" }, usageText(usage)) : null,
    ]),
    attempt.text && !attempt.isWhole
      ? h("p", { class: attempt.outcome === "running" ? "streamed" : "part-text" }, attempt.text)
      : null,
    attempt.error === null ? null : errorElement(attempt.error),
    attempt.outcome === "retry"
      ? h("p", { class: "muted" }, `The next attempt began after ${duration(attempt.waitMs)}.`)
      : null,
  );
}

/**
 * The calls of models and tools, with their times.
 *
 * @param {Attempt} attempt
 */
function callList({ calls }) {
  if (calls.length === 0) return null;
  return h(
    "ul",
    { class: "calls" },
    calls.map(({ kind, title, fromMs, toMs, usage }) =>
      h(
        "li",
        { "data-kind": kind },
        h("strong", null, kind === "model" ? "Model" : "Tool"),
        title ? h("code", null, title) : null,
        toMs > fromMs ? h("span", { class: "muted" }, duration(toMs - fromMs)) : null,
        usage ? h("span", { class: "muted" }, usageText(usage)) : null,
      ),
    ),
  );
}

/** @param {unknown} error */
function errorElement(error) {
  const kind = error && typeof error === "object" && "kind" in error ? String(error.kind) : "";
  return h(
    "div",
    { class: "error-box" },
    h("strong", null, kind && kind !== "error" ? `Failure (${kind})` : "Failure"),
    h("pre", { class: "error-text" }, errorText(error)),
  );
}

/**
 * The state that the task began with, and the keys that it has written. They are loaded when somebody looks.
 *
 * @param {import("./thread-session.js").ThreadSession} session
 * @param {Section} section
 * @param {Task} task
 */
function values(session, section, task) {
  const place = h("div", { class: "values" });
  // A sub-flow has a state of its own, which is in no checkpoint of the thread.
  if (task.namespace) return place;
  const show = (/** @type {{before: View | null, after: View | null}} */ found) =>
    replace(place, valuesIn(found.before), valuesOut(section, task, found));
  const known = session.knownValues(section);
  if (known) {
    show(known);
    return place;
  }
  replace(place, h("p", { class: "muted small-text" }, "The values are being loaded."));
  session
    .values(section)
    .then(show)
    .catch((error) => {
      if (session.signal.aborted) return;
      replace(place, h("p", { class: "problem" }, `The values could not be loaded: ${messageOf(error)}`));
    });
  return place;
}

/** @param {View | null} before */
function valuesIn(before) {
  if (!before) return null;
  const messages = messagesOf(before.state);
  return h(
    "section",
    { class: "values-in" },
    h("h4", null, "Values in ", checkpointLink(before)),
    messages.length > 0
      ? h(
          "details",
          { class: "part" },
          h("summary", null, h("strong", null, "Prompt"), " ", count(messages.length, "message")),
          h("ol", { class: "messages" }, messages.map(messageElement)),
        )
      : null,
    scrolling("Values in", stateTree(messages.length > 0 ? withoutMessages(before.state) : before.state)),
  );
}

/** @param {{[key: string]: unknown}} state */
function withoutMessages(state) {
  return Object.fromEntries(Object.entries(state).filter(([key]) => key !== "events" && key !== "messages"));
}

/**
 * @param {Section} section
 * @param {Task} task
 * @param {{before: View | null, after: View | null}} found
 */
function valuesOut(section, task, { before, after }) {
  const keys = task.attempts.at(-1)?.keys ?? [];
  if (keys.length === 0) {
    const isOver = task.attempts.at(-1)?.finishedMs !== null;
    return isOver ? h("section", null, h("h4", null, "Values out"), h("p", { class: "muted" }, "It wrote nothing.")) : null;
  }
  if (!after) {
    return h(
      "section",
      null,
      h("h4", null, "Values out"),
      h("p", { class: "muted" }, "It wrote ", h("code", null, keys.join(", ")), ". They are applied when the superstep ends."),
    );
  }
  const written = (/** @type {View | null} */ view) =>
    Object.fromEntries(keys.filter((key) => view && key in view.state).map((key) => [key, view?.state[key]]));
  const others = section.tasks.filter(
    (other) => other !== task && !other.namespace && other.attempts.at(-1)?.keys.some((key) => keys.includes(key)),
  );
  return h(
    "section",
    { class: "values-out" },
    h("h4", null, "Values out ", checkpointLink(after)),
    others.length > 0
      ? h("p", { class: "muted small-text" }, `${count(others.length, "other task")} of the superstep wrote the same keys.`)
      : null,
    scrolling("Values out", changeList(changes(written(before), written(after)))),
  );
}

/** @param {View} view */
function checkpointLink({ thread, checkpoint }) {
  return h("a", { href: link(["thread", thread, "history"], { checkpoint }) }, `checkpoint ${checkpoint}`);
}

/**
 * @param {string} label
 * @param {HTMLElement} content
 */
function scrolling(label, content) {
  return h("div", { class: "values-box", tabindex: "0", role: "group", "aria-label": label }, content);
}
