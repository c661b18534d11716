// @ts-check
/** The view of all schedules: when each begins threads, and buttons that create, pause, run, change and delete them. */

import { link, open } from "./address.js";
import * as api from "./api.js";
import { emptyState, messageOf, toast } from "./announce.js";
import { h, replace, replaceKeepingFocus } from "./dom.js";
import { age, count, date, dateIn } from "./format.js";
import { icon } from "./icons.js";
import { openBackfillDialog, openDeleteDialog, openScheduleDialog } from "./schedule-dialogs.js";

/** @typedef {import("./types.js").Schedule} Schedule */

const REFRESH_MS = 5000;
/** How many of the next times are shown. */
const TIMES = 3;

/** @type {{[missed: string]: string}} */
const MISSED = {
  skip: "Missed times are skipped.",
  latest: "The latest missed time begins a thread.",
  all: "Each missed time begins a thread.",
};

/** @param {import("./main.js").ViewContext} context */
export async function showSchedules({ main, signal, setTitle }) {
  setTitle("Schedules");
  const first = await api.schedules(signal);
  if (signal.aborted) return;
  const summary = h("p", { class: "muted" });
  const place = h("div", null);
  const create = h("button", { type: "button", class: "primary" }, "Create a schedule");
  create.addEventListener("click", () =>
    act(create, async () => {
      const name = await openScheduleDialog(null);
      if (name) toast(`${name} was created.`);
    }),
  );
  const title = h("div", { class: "view-title" }, h("h1", null, "Schedules"), h("div", { class: "buttons" }, create));
  replace(main, h("header", { class: "view-head" }, title, summary), place);
  let shown = "";
  /** @param {Schedule[]} schedules */
  const show = (schedules) => {
    // What a person selects stays while nothing changes.
    const text = JSON.stringify([schedules, schedules.map(({ next }) => next.map((time) => age(Date.parse(time))))]);
    if (text === shown) return;
    shown = text;
    const paused = schedules.filter((schedule) => schedule.paused).length;
    summary.textContent = count(schedules.length, "schedule") + (paused > 0 ? `, ${paused} paused` : "");
    replaceKeepingFocus(place, schedules.length === 0 ? noSchedules() : table(schedules, act));
  };
  const refresh = async () => {
    try {
      const schedules = await api.schedules(signal);
      if (!signal.aborted) show(schedules);
    } catch {
      // The next refresh tries again.
    }
  };
  /** @type {Act} */
  const act = async (button, request) => {
    // A disabled button would lose the focus.
    if (button.getAttribute("aria-busy")) return;
    button.setAttribute("aria-busy", "true");
    try {
      await request();
    } catch (error) {
      toast(messageOf(error), "error");
    } finally {
      button.removeAttribute("aria-busy");
    }
    if (!signal.aborted) await refresh();
  };
  show(first);
  const timer = setInterval(() => {
    if (!document.hidden) void refresh();
  }, REFRESH_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
}

/** @typedef {(button: HTMLButtonElement, request: () => Promise<void>) => Promise<void>} Act */

function noSchedules() {
  return emptyState(
    "No schedules",
    "A schedule begins threads of a flow at planned times. Press “Create a schedule” to create the first one.",
  );
}

/**
 * @param {Schedule[]} schedules
 * @param {Act} act
 */
function table(schedules, act) {
  return h(
    "div",
    { class: "panel" },
    h(
      "table",
      { class: "schedules" },
      h("caption", { class: "hidden-text" }, "Schedules"),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          ["Schedule", "Flow", "Times", "Next threads", "Actions"].map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      h(
        "tbody",
        null,
        schedules.map((schedule) => row(schedule, act)),
      ),
    ),
  );
}

/**
 * @param {Schedule} schedule
 * @param {Act} act
 */
function row(schedule, act) {
  return h(
    "tr",
    { "data-schedule": schedule.name },
    h(
      "th",
      { scope: "row" },
      h("span", { class: "schedule-name" }, schedule.name),
      schedule.paused
        ? h("span", { class: "badge", "data-status": "held" }, icon("held"), "paused")
        : null,
    ),
    h(
      "td",
      { "data-column": "Flow" },
      h("a", { href: link(["flow", schedule.flow]) }, schedule.flow),
    ),
    h(
      "td",
      { "data-column": "Times" },
      h("p", null, schedule.text),
      h("p", { class: "muted small-text" }, h("code", null, schedule.cron), ` · ${schedule.zone}`),
      h("p", { class: "muted small-text" }, MISSED[schedule.missed] ?? schedule.missed),
    ),
    h("td", { "data-column": "Next threads" }, nextTimes(schedule), clockAhead(schedule)),
    h("td", { "data-column": "Actions" }, buttons(schedule, act)),
  );
}

/** @param {Schedule} schedule */
function clockAhead({ clock_ahead: ahead }) {
  if (!ahead) return null;
  return h("p", { class: "muted small-text" }, `A process with a wrong clock has stored ${date(Date.parse(ahead))}.`);
}

/** @param {Schedule} schedule */
function nextTimes({ next, paused, zone }) {
  if (paused) return h("p", { class: "muted" }, "None while it is paused.");
  return h(
    "ol",
    { class: "next-times" },
    next.slice(0, TIMES).map((time) => {
      const milliseconds = Date.parse(time);
      return h(
        "li",
        null,
        h("time", { datetime: time, title: `${date(milliseconds)} here` }, dateIn(milliseconds, zone)),
        h("span", { class: "muted" }, ` ${age(milliseconds)}`),
      );
    }),
  );
}

/**
 * @param {Schedule} schedule
 * @param {Act} act
 */
function buttons(schedule, act) {
  const { name, paused } = schedule;
  const pause = h("button", { type: "button", class: "small" }, paused ? "Continue" : "Pause", spoken(name));
  pause.addEventListener("click", () =>
    act(pause, async () => {
      await (paused ? api.unpauseSchedule(name) : api.pauseSchedule(name));
      toast(paused ? `${name} begins threads again.` : `${name} is paused.`);
    }),
  );
  const run = h("button", { type: "button", class: "small" }, "Run now", spoken(name));
  run.addEventListener("click", () =>
    act(run, async () => {
      const { thread } = await api.runSchedule(name);
      open(["thread", thread]);
    }),
  );
  const backfill = h("button", { type: "button", class: "small" }, "Past times", spoken(name));
  backfill.addEventListener("click", () =>
    act(backfill, async () => {
      const done = await openBackfillDialog(schedule);
      if (done) toast(done);
    }),
  );
  const threads = link(["threads"], { label: `petalflow.schedule:${name}` });
  return h(
    "div",
    { class: "buttons" },
    pause,
    run,
    backfill,
    h("a", { class: "button small", href: threads }, "Threads", spoken(name)),
    schedule.source === "client" ? changes(schedule, act) : null,
  );
}

/**
 * The buttons of a schedule that a client has created. One of the program is changed there.
 *
 * @param {Schedule} schedule
 * @param {Act} act
 */
function changes(schedule, act) {
  const { name } = schedule;
  const change = h("button", { type: "button", class: "small" }, "Change", spoken(name));
  change.addEventListener("click", () =>
    act(change, async () => {
      if (await openScheduleDialog(schedule)) toast(`${name} was changed.`);
    }),
  );
  const remove = h("button", { type: "button", class: "small danger-text" }, "Delete", spoken(name));
  remove.addEventListener("click", () =>
    act(remove, async () => {
      if (await openDeleteDialog(schedule)) toast(`${name} was deleted.`);
    }),
  );
  return [change, remove];
}

/**
 * The name of the schedule, for people who hear a button without its row.
 *
 * @param {string} name
 */
function spoken(name) {
  return h("span", { class: "hidden-text" }, ` ${name}`);
}
