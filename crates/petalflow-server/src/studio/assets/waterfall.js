// @ts-check
/** The tasks of a thread as bars over the time, with the totals of the thread, and the task that a person has opened. */

/** @typedef {import("./run-log.js").Section} Section */
/** @typedef {import("./run-log.js").Attempt} Attempt */
/** @typedef {import("./waterfall-layout.js").Row} Row */
/** @typedef {import("./waterfall-layout.js").Span} Span */
/** @typedef {import("./waterfall-layout.js").Zone} Zone */

import { h, replace, replaceKeepingFocus } from "./dom.js";
import { clock, count, date, duration } from "./format.js";
import { icon } from "./icons.js";
import { liveSection } from "./live-section.js";
import { outcomeBadge, outcomeText, taskBody, usageOfTask, usageText } from "./task-detail.js";
import { totals } from "./totals.js";
import { VirtualList } from "./virtual-list.js";
import { attemptSpan, placeOf, rowsOf, spanOf, ticksOf, wholeOf, zonesOf } from "./waterfall-layout.js";

/** While a run is in progress, its bars grow. */
const GROW_MS = 1000;
/** The space around a task that is zoomed to, as a part of its time. */
const AROUND = 0.4;
const STEP = 1.6;
/** A text of the scale needs so many pixels. */
const TICK_PX = 84;
/** A text of the scale would leave it behind this part. */
const LAST_TICK = 0.94;
/** The text of a bar is at its left where the space at its right has fewer pixels. */
const TEXT_PX = 62;

export class Waterfall {
  /** @param {import("./thread-session.js").ThreadSession} session */
  constructor(session) {
    this.session = session;
    /** @type {Zone[]} */
    this.zones = [];
    /** @type {Row[]} */
    this.rows = [];
    /** What is seen of the time; all of it if it is null. @type {Span | null} */
    this.shown = null;
    /** @type {{at: number, ms: number, zone: Zone}[]} */
    this.ticks = [];
    /** The key of the opened task. */
    this.chosen = "";
    this.drawnDetail = "";
    this.totals = h("dl", { class: "totals" });
    this.scale = h("div", { class: "waterfall-scale", "aria-hidden": "true" });
    this.whole = h("button", { type: "button", class: "small", onclick: () => this.show(null) }, "Whole thread");
    this.tools = h(
      "div",
      { class: "waterfall-tools", role: "group", "aria-label": "The part of the time" },
      this.button("−", "More time", () => this.zoom(STEP)),
      this.button("+", "Less time", () => this.zoom(1 / STEP)),
      this.whole,
    );
    /** @type {VirtualList<Row>} */
    this.list = new VirtualList({
      label: "Tasks by time, the first one on top",
      className: "waterfall-list",
      key: (row) => `${row.key} ${row.section.version} ${this.drawnScale}`,
      isSelected: (row) => row.key === this.chosen,
      cells: (row) => [this.row(row)],
    });
    this.drawnScale = "";
    this.detail = h("section", { class: "task-detail", hidden: true, "aria-label": "The opened task" });
    this.element = h("div", { class: "waterfall" }, this.totals, this.tools, this.scale, this.list.element, this.detail);
    this.element.addEventListener("keydown", (event) => this.onKey(event));
    this.list.element.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    const resizes = new ResizeObserver(() => this.draw());
    resizes.observe(this.scale);
    session.signal.addEventListener("abort", () => {
      this.list.close();
      resizes.disconnect();
    });
    this.growing = setInterval(() => {
      if (!document.hidden && session.view.status === "running") this.update();
    }, GROW_MS);
    session.signal.addEventListener("abort", () => clearInterval(this.growing));
  }

  /**
   * @param {string} text
   * @param {string} name
   * @param {() => void} onclick
   */
  button(text, name, onclick) {
    return h("button", { type: "button", class: "small", "aria-label": name, title: name, onclick }, text);
  }

  update() {
    const { view, log } = this.session;
    const nowMs = view.status === "running" ? Date.now() : null;
    const live = liveSection(this.session);
    const sections = live ? [...log.sections, live] : log.sections;
    this.zones = zonesOf(sections, nowMs);
    this.rows = rowsOf(sections);
    this.element.hidden = this.rows.length === 0;
    replace(this.totals, totals(log, this.zones, this.rows));
    this.draw();
  }

  draw() {
    const whole = wholeOf(this.zones);
    const shown = this.shown ?? whole;
    this.whole.hidden = this.shown === null;
    this.drawnScale = `${shown.from} ${shown.to} ${this.zones.length} ${this.mostTicks()}`;
    this.ticks = ticksOf(this.zones, shown, this.mostTicks());
    const length = shown.to - shown.from;
    replace(
      this.scale,
      h("span", null),
      h(
        "span",
        { class: "waterfall-track" },
        this.ticks.filter(({ at }) => (at - shown.from) / length < LAST_TICK).map(({ at, ms, zone }) => {
          const text = ms === 0 && this.zones.length > 1 ? clock(zone.startMs) : ms === 0 ? "0" : duration(ms);
          const line = h("span", { class: "waterfall-tick", title: date(zone.startMs + ms) }, text);
          line.style.left = percent(at, shown);
          return line;
        }),
      ),
    );
    const { element } = this.list;
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 8;
    this.list.set(this.rows, false);
    if (isAtEnd && this.session.view.status === "running") element.scrollTop = element.scrollHeight;
    this.drawDetail();
  }

  /** How many texts the scale has space for. */
  mostTicks() {
    return Math.max(2, Math.min(8, Math.floor(this.trackWidth() / TICK_PX)));
  }

  trackWidth() {
    return this.scale.lastElementChild?.clientWidth ?? 0;
  }

  /** @param {Row} row */
  row({ key, section, task, depth }) {
    const last = /** @type {Attempt} */ (task.attempts.at(-1));
    const shown = this.shown ?? wholeOf(this.zones);
    const span = spanOf(this.zones, task);
    const took = span && last.finishedMs !== null ? duration(span.to - span.from) : "";
    const name = `${task.namespace ? `${task.namespace} / ` : ""}${task.node}${task.index === null ? "" : ` #${task.index}`}`;
    // The picture and the place of the bar, for people who do not see them.
    const said = h("span", { class: "hidden-text" }, `, ${outcomeText(last.outcome)} in superstep ${section.superstep} `);
    const label = h("span", { class: "waterfall-name", title: name }, icon(last.outcome), task.node, index(task.index), said);
    label.style.paddingInlineStart = `${depth * 14}px`;
    const track = h("span", { class: "waterfall-track" }, this.lines(shown));
    for (const attempt of task.attempts) {
      const bar = attemptBar(this.zones, attempt, shown);
      if (bar) track.append(bar);
    }
    const isSeen = span && span.to >= shown.from && span.from <= shown.to;
    if (isSeen && took) track.append(barText(took, span, shown, this.trackWidth()));
    return h(
      "button",
      {
        type: "button",
        class: "row-button waterfall-row",
        "data-row-focus": true,
        "data-outcome": last.outcome,
        onclick: () => this.open(key),
      },
      label,
      track,
    );
  }

  /**
   * The lines of the scale, and the pauses between runs.
   *
   * @param {Span} shown
   */
  lines(shown) {
    const lines = this.ticks.map(({ at }) => {
      const line = h("span", { class: "waterfall-line" });
      line.style.left = percent(at, shown);
      return line;
    });
    const pauses = this.zones.slice(1).map((zone, index) => {
      const before = /** @type {Zone} */ (this.zones[index]);
      const from = before.at + before.endMs - before.startMs;
      const pause = h("span", { class: "waterfall-pause" });
      place(pause, { from, to: zone.at }, shown);
      return pause;
    });
    return [lines, pauses];
  }

  /**
   * Opens a task, and zooms to it. Closes it if it is open.
   *
   * @param {string} key
   */
  open(key) {
    const row = this.rows.find((one) => one.key === key);
    const span = row && spanOf(this.zones, row.task);
    if (!row || this.chosen === key) {
      this.close();
      return;
    }
    this.chosen = key;
    if (span) {
      const around = Math.max(1, (span.to - span.from) * AROUND);
      this.show({ from: span.from - around, to: span.to + around });
    } else this.draw();
  }

  close() {
    this.chosen = "";
    this.show(null);
  }

  /** @param {Span | null} wanted */
  show(wanted) {
    const whole = wholeOf(this.zones);
    const span = wanted && { from: Math.max(whole.from, wanted.from), to: Math.min(whole.to, wanted.to) };
    this.shown = span && (span.from > whole.from || span.to < whole.to) && span.to > span.from ? span : null;
    this.draw();
  }

  /**
   * Shows more or less of the time.
   *
   * @param {number} factor
   * @param {number} [at] What stays where it is, as a part of what is seen.
   */
  zoom(factor, at = 0.5) {
    const { from, to } = this.shown ?? wholeOf(this.zones);
    const middle = from + (to - from) * at;
    const length = Math.max(1, (to - from) * factor);
    this.show({ from: middle - length * at, to: middle + length * (1 - at) });
  }

  /** @param {number} part Of what is seen. */
  move(part) {
    if (!this.shown) return;
    const whole = wholeOf(this.zones);
    const length = this.shown.to - this.shown.from;
    const from = Math.min(Math.max(whole.from, this.shown.from + length * part), whole.to - length);
    this.show({ from, to: from + length });
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && (this.chosen || this.shown)) this.close();
    else if (this.detail.contains(/** @type {Node} */ (event.target))) return;
    else if (event.key === "+" || event.key === "=") this.zoom(1 / STEP);
    else if (event.key === "-") this.zoom(STEP);
    else if (event.key === "0") this.show(null);
    else if (event.key === "ArrowLeft") this.move(-0.2);
    else if (event.key === "ArrowRight") this.move(0.2);
    else return;
    event.preventDefault();
  }

  /** @param {WheelEvent} event */
  onWheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const track = this.scale.querySelector(".waterfall-track")?.getBoundingClientRect();
    const at = track && track.width > 0 ? (event.clientX - track.left) / track.width : 0.5;
    this.zoom(Math.exp(event.deltaY / 300), Math.min(1, Math.max(0, at)));
  }

  drawDetail() {
    const row = this.rows.find(({ key }) => key === this.chosen);
    this.detail.hidden = !row;
    const state = row ? `${row.key} ${row.section.version} ${row.section.checkpoint}` : "";
    if (state === this.drawnDetail) return;
    this.drawnDetail = state;
    if (!row) {
      replace(this.detail);
      return;
    }
    const { section, task } = row;
    const first = /** @type {Attempt} */ (task.attempts[0]);
    const last = /** @type {Attempt} */ (task.attempts.at(-1));
    const usage = usageOfTask(task);
    const { startedMs } = first;
    const { finishedMs } = last;
    replaceKeepingFocus(
      this.detail,
      h(
        "div",
        { class: "task-detail-head" },
        h("h3", null, task.node, index(task.index)),
        outcomeBadge(last.outcome),
        h("span", { class: "muted" }, `superstep ${section.superstep}`),
        task.attempts.length > 1 ? h("span", { class: "muted" }, count(task.attempts.length, "attempt")) : null,
        startedMs === null ? null : h("span", { class: "muted", title: date(startedMs) }, `began ${clock(startedMs)}`),
        startedMs === null || finishedMs === null
          ? null
          : h("span", { class: "muted" }, `took ${duration(finishedMs - startedMs)}`),
        usage.input || usage.output ? h("span", { class: "muted" }, usageText(usage)) : null,
        h("span", { class: "spacer" }),
        h("button", { type: "button", class: "small", onclick: () => this.close() }, "Close"),
      ),
      taskBody(this.session, section, task),
    );
  }
}

/** @param {number | null} number */
function index(number) {
  return number === null ? null : h("span", { class: "muted" }, ` #${number}`);
}

/**
 * @param {Zone[]} zones
 * @param {Attempt} attempt
 * @param {Span} shown
 */
function attemptBar(zones, attempt, shown) {
  const span = attemptSpan(zones, attempt);
  if (!span) return null;
  const bar = h("span", { class: "waterfall-bar", "data-outcome": attempt.outcome });
  place(bar, span, shown);
  for (const call of attempt.calls) {
    const mark = h("span", { class: "waterfall-call", "data-kind": call.kind, title: call.title || call.kind });
    place(mark, { from: placeOf(zones, call.fromMs), to: placeOf(zones, call.toMs) }, span);
    bar.append(mark);
  }
  return bar;
}

/**
 * @param {string} text
 * @param {Span} span
 * @param {Span} shown
 * @param {number} width Of the track, in pixels.
 */
function barText(text, span, shown, width) {
  const length = shown.to - shown.from;
  const isLeft = ((shown.to - span.to) / length) * width < TEXT_PX;
  const element = h("span", { class: "waterfall-text", "data-left": isLeft }, text);
  if (isLeft) element.style.right = `${100 - clamped(((span.from - shown.from) / length) * 100)}%`;
  else element.style.left = `${clamped(((span.to - shown.from) / length) * 100)}%`;
  return element;
}

/** @param {number} percentage */
function clamped(percentage) {
  return Math.min(100, Math.max(0, percentage));
}

/**
 * @param {HTMLElement} element
 * @param {Span} span
 * @param {Span} shown
 */
function place(element, span, shown) {
  element.style.left = percent(span.from, shown);
  const length = Math.max(1, shown.to - shown.from);
  element.style.width = `${((span.to - span.from) / length) * 100}%`;
}

/**
 * @param {number} at
 * @param {Span} shown
 */
function percent(at, shown) {
  return `${((at - shown.from) / Math.max(1, shown.to - shown.from)) * 100}%`;
}
