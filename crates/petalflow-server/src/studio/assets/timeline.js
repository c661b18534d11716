// @ts-check
/** The log of a thread as a list: runs, supersteps, tasks and attempts, the newest first. */

/** @typedef {import("./run-log.js").Section} Section */
/** @typedef {import("./run-log.js").Task} Task */
/** @typedef {import("./run-log.js").Attempt} Attempt */

import { link } from "./address.js";
import { h, replace } from "./dom.js";
import { clock, cost, count, date, duration, number } from "./format.js";
import { icon } from "./icons.js";
import { outcomeBadge, taskBody, usageOfTask } from "./task-detail.js";

const PAGE = 60;

/** @type {{[outcome: string]: string}} */
const ENDS = {
  finished: "The run has finished.",
  interrupted: "The run waits for people.",
  sleeping: "The run sleeps.",
  failed: "The run has failed.",
};

export class Timeline {
  /** @param {import("./thread-session.js").ThreadSession} session */
  constructor(session) {
    this.session = session;
    this.shown = PAGE;
    /** @type {Map<number, {element: HTMLElement, drawn: string}>} */
    this.drawn = new Map();
    /** What the person has opened or closed. @type {Map<string, boolean>} */
    this.opened = new Map();
    this.list = h("ol", { class: "timeline", reversed: true });
    this.more = h(
      "button",
      { type: "button", class: "small", onclick: () => this.showMore() },
      "Show older supersteps",
    );
    this.rest = h("p", { class: "muted" });
    this.element = h("div", null, this.list, this.more, this.rest);
    this.update();
  }

  showMore() {
    this.shown += PAGE * 3;
    this.update();
  }

  update() {
    const { log, times } = this.session;
    const { sections } = log;
    const visible = sections.slice(-this.shown);
    const ids = new Set(visible.map((section) => section.id));
    for (const [id, { element }] of this.drawn) {
      if (ids.has(id)) continue;
      element.remove();
      this.drawn.delete(id);
    }
    /** @type {Element | null} */
    let next = null;
    visible.forEach((section, index) => {
      const endMs = (section.checkpoint !== null ? times.get(section.checkpoint) : undefined) ?? section.atMs;
      const startMs = this.startOf(visible[index - 1]) ?? null;
      const isFinished = this.isFinished(section);
      const state = `${section.version} ${endMs} ${startMs} ${isFinished}`;
      const drawn = this.drawn.get(section.id);
      if (drawn?.drawn === state) {
        next = drawn.element;
        return;
      }
      const element = this.section(section, endMs, startMs);
      if (drawn) {
        const focused = drawn.element.contains(document.activeElement)
          ? document.activeElement?.closest("[data-key]")?.getAttribute("data-key")
          : null;
        drawn.element.replaceWith(element);
        if (focused) focusKey(element, focused);
      } else {
        this.list.insertBefore(element, next ?? this.list.firstElementChild);
      }
      this.drawn.set(section.id, { element, drawn: state });
      next = element;
    });
    this.more.hidden = sections.length <= this.shown;
    this.rest.hidden = log.dropped === 0 || !this.more.hidden;
    this.rest.textContent = "Older supersteps are in the history.";
    this.list.hidden = sections.length === 0;
  }

  /**
   * Whether a superstep has ended. The event of its end comes with those of the next one, and the checkpoint before.
   *
   * @param {Section} section
   */
  isFinished(section) {
    return section.isFinished || this.session.view.superstep >= section.superstep;
  }

  /** @param {Section | undefined} section */
  startOf(section) {
    if (!section) return null;
    return (section.checkpoint !== null ? this.session.times.get(section.checkpoint) : undefined) ?? section.atMs;
  }

  /**
   * @param {Section} section
   * @param {number | null} endMs
   * @param {number | null} startMs
   */
  section(section, endMs, startMs) {
    if (section.kind === "start") {
      return h("li", { class: "run-mark" }, h("span", null, "A run has begun."), time(section.atMs));
    }
    if (section.kind === "end") {
      return h(
        "li",
        { class: "run-mark", "data-outcome": section.outcome },
        h("span", null, ENDS[section.outcome] ?? section.outcome),
        section.error ? h("pre", { class: "error-text" }, section.error) : null,
        time(section.atMs),
      );
    }
    const isFinished = this.isFinished(section);
    const took = endMs !== null && startMs !== null && endMs >= startMs && isFinished ? duration(endMs - startMs) : null;
    const { id } = this.session;
    return h(
      "li",
      { class: "superstep", "data-running": !isFinished },
      h(
        "div",
        { class: "superstep-head" },
        h("h3", null, `Superstep ${section.superstep}`),
        isFinished ? null : h("span", { class: "muted" }, "in progress"),
        h("span", { class: "spacer" }),
        took ? h("span", { class: "muted" }, took) : null,
        time(endMs),
        section.checkpoint === null
          ? null
          : h(
              "a",
              {
                href: link(["thread", id, "history"], { checkpoint: section.checkpoint }),
                "data-key": `c${section.checkpoint}`,
              },
              `checkpoint ${section.checkpoint}`,
            ),
      ),
      h(
        "ul",
        { class: "tasks" },
        section.tasks.map((task) => this.task(section, task)),
        missing(section),
      ),
    );
  }

  /**
   * @param {Section} section
   * @param {Task} task
   */
  task(section, task) {
    const last = /** @type {Attempt} */ (task.attempts.at(-1));
    const usage = usageOfTask(task);
    const tokens = usage.input + usage.output;
    const key = `${section.id} ${task.key}`;
    const values = task.attempts.reduce((sum, attempt) => sum + attempt.emitted.length + attempt.left, 0);
    const head = [
      outcomeBadge(last.outcome),
      h(
        "span",
        { class: "task-name" },
        task.namespace ? h("span", { class: "muted" }, `${task.namespace} / `) : null,
        task.node,
        task.index === null ? null : h("span", { class: "muted" }, ` #${task.index}`),
      ),
      task.attempts.length > 1 ? h("span", { class: "chip" }, `attempt ${last.number}`) : null,
      // Events that were recorded together do not say how long it took.
      last.startedMs !== null && last.finishedMs !== null && last.finishedMs > last.startedMs
        ? h("span", { class: "muted" }, duration(last.finishedMs - last.startedMs))
        : null,
      last.keys.length > 0 ? h("span", { class: "muted" }, "wrote ", h("code", null, last.keys.join(", "))) : null,
      values > 0 ? h("span", { class: "chip" }, count(values, "event")) : null,
      tokens ? h("span", { class: "chip" }, `${number(tokens)} tokens`) : null,
      usage.cost ? h("span", { class: "chip" }, cost(usage.cost)) : null,
    ];
    const isOpen =
      this.opened.get(key) ??
      (last.outcome === "failed" || (last.outcome === "running" && last.text !== "") || task.attempts.length > 1);
    const details = h(
      "details",
      { class: "task-details" },
      h("summary", { "data-key": key }, h("span", { class: "task-head" }, head)),
    );
    const body = h("div", { class: "task-body" });
    // What is closed has no elements, and its values are not loaded.
    const fill = () => {
      if (details.open && !body.isConnected) {
        replace(body, taskBody(this.session, section, task));
        details.append(body);
      }
    };
    details.addEventListener("toggle", fill);
    details.open = isOpen;
    fill();
    details.querySelector("summary")?.addEventListener("click", () => this.opened.set(key, !details.open));
    return h("li", { class: "task", "data-nested": task.namespace !== "" }, details);
  }
}

/**
 * The nodes of a superstep without any event.
 *
 * @param {Section} section
 */
function missing(section) {
  const seen = section.tasks.filter((task) => !task.namespace).map((task) => task.node);
  const nodes = [...section.nodes];
  for (const node of seen) {
    const index = nodes.indexOf(node);
    if (index >= 0) nodes.splice(index, 1);
  }
  return nodes.map((node) =>
    h(
      "li",
      { class: "task" },
      h(
        "div",
        { class: "task-head" },
        h("span", { class: "outcome" }, icon("dot"), " not started"),
        h("span", { class: "task-name" }, node),
      ),
    ),
  );
}

/** @param {number | null} ms */
function time(ms) {
  return ms === null
    ? null
    : h("time", { class: "muted", datetime: new Date(ms).toISOString(), title: date(ms) }, clock(ms));
}

/**
 * @param {Element} element
 * @param {string} key
 */
function focusKey(element, key) {
  for (const candidate of element.querySelectorAll("[data-key]")) {
    if (candidate.getAttribute("data-key") === key && candidate instanceof HTMLElement)
      candidate.focus({ preventScroll: true });
  }
}

/**
 * What a timeline without events shows.
 *
 * @param {Element} place
 * @param {boolean} hasSections
 * @param {string} connection
 */
export function explainNothing(place, hasSections, connection) {
  const text =
    connection === "connecting" || connection === "open"
      ? "The events are being loaded."
      : "The server has no events of this thread. Its checkpoints are in the history.";
  replace(place, hasSections ? null : h("p", { class: "muted" }, text));
}
