// @ts-check
/** The dialogs of schedules: create one, change one, begin the times of the past, delete one. */

import * as api from "./api.js";
import { openDialog } from "./dialog.js";
import { h, newId, replace } from "./dom.js";
import { inputSchema, isStartable } from "./flow-schemas.js";
import { count } from "./format.js";
import { FieldError } from "./json-field.js";
import { schemaForm } from "./schema-form.js";

/** @typedef {import("./types.js").Schedule} Schedule */

/** What happens with missed times, with what people call it. */
const MISSED = [
  ["skip", "Skip them"],
  ["latest", "Begin the latest one"],
  ["all", "Begin each of them"],
];

/**
 * Asks for a new schedule, or for changes of one. Returns its name, or nothing if the person has closed the dialog.
 *
 * @param {Schedule | null} schedule
 */
export async function openScheduleDialog(schedule) {
  const flows = (await api.flows()).filter(isStartable);
  const known = flows.find(({ name }) => name === schedule?.flow) ?? flows[0];
  if (!known) throw new Error("No flow of this server can be started.");
  const name = textField("Name", schedule?.name ?? "", "Letters, digits, and -, _, . and ~.");
  name.input.disabled = schedule !== null;
  const flow = choice(
    "Flow",
    flows.map((one) => [one.name, one.name]),
    known.name,
  );
  const cron = textField(
    "Times",
    schedule?.cron ?? "0 9 * * MON-FRI",
    "A cron line: minute, hour, day of the month, month, day of the week.",
  );
  const zone = textField(
    "Time zone",
    schedule?.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    "Such as Europe/Berlin or UTC.",
  );
  const missed = choice("Missed times", MISSED, schedule?.missed ?? "skip");
  const place = h("div", null);
  let input = schemaForm(inputSchema(known), { label: "Input", value: schedule?.input });
  replace(place, input.element);
  flow.select.addEventListener("change", () => {
    const chosen = flows.find((one) => one.name === flow.select.value) ?? known;
    input = schemaForm(inputSchema(chosen), { label: "Input" });
    replace(place, input.element);
  });
  return openDialog({
    title: schedule ? `Change ${schedule.name}` : "Create a schedule",
    wide: true,
    action: schedule ? "Save" : "Create",
    content: [name.element, flow.element, cron.element, zone.element, missed.element, place],
    act: async () => {
      const given = name.input.value.trim();
      if (!given) throw missing(name.input, "The name is empty. Type one.");
      try {
        await api.defineSchedule(given, {
          flow: flow.select.value,
          cron: cron.input.value.trim(),
          zone: zone.input.value.trim(),
          missed: missed.select.value,
          input: input.read(),
        });
      } catch (error) {
        if (error instanceof FieldError) error.control.focus();
        throw error;
      }
      return given;
    },
  });
}

/**
 * Asks for a range of the past, and begins its times. Returns a text of what was done, or nothing.
 *
 * @param {Schedule} schedule
 */
export function openBackfillDialog({ name }) {
  const from = timeField("From");
  const to = timeField("To");
  return openDialog({
    title: `Begin past times of ${name}`,
    action: "Begin",
    content: [
      h("p", null, "Each planned time in this range begins a thread, unless it has one. The times are those of your clock."),
      from.element,
      to.element,
    ],
    act: async () => {
      const range = { from: timeOf(from.input), to: timeOf(to.input) };
      const { threads, times } = await api.backfillSchedule(name, range);
      const known = times - threads.length;
      return `${count(threads.length, "thread")} begun${known > 0 ? `, ${count(known, "time")} had a thread` : ""}.`;
    },
  });
}

/**
 * Asks whether a schedule is to be deleted. Returns whether it was.
 *
 * @param {Schedule} schedule
 */
export function openDeleteDialog({ name }) {
  return openDialog({
    title: `Delete ${name}?`,
    content: h("p", null, "It begins no more threads. The threads that it has begun stay."),
    action: "Delete the schedule",
    dangerous: true,
    act: async () => {
      await api.deleteSchedule(name);
      return true;
    },
  });
}

/**
 * @param {string} label
 * @param {string} value
 * @param {string} hint
 */
function textField(label, value, hint) {
  const id = newId("schedule");
  const input = h("input", { id, type: "text", autocomplete: "off", spellcheck: "false", "aria-describedby": `${id}-hint` });
  input.value = value;
  input.addEventListener("input", () => input.removeAttribute("aria-invalid"));
  const element = h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    input,
    h("p", { class: "hint", id: `${id}-hint` }, hint),
  );
  return { element, input };
}

/**
 * @param {string} label
 * @param {string[][]} choices Values, each with its text.
 * @param {string} chosen
 */
function choice(label, choices, chosen) {
  const id = newId("schedule");
  const select = h(
    "select",
    { id },
    choices.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
  );
  return { element: h("div", { class: "field" }, h("label", { for: id }, label), select), select };
}

/** @param {string} label */
function timeField(label) {
  const id = newId("time");
  const input = h("input", { id, type: "datetime-local" });
  input.addEventListener("input", () => input.removeAttribute("aria-invalid"));
  return { element: h("div", { class: "field" }, h("label", { for: id }, label), input), input };
}

/** @param {HTMLInputElement} input */
function timeOf(input) {
  const time = new Date(input.value);
  if (Number.isNaN(time.getTime())) throw missing(input, "A time is missing. Choose both.");
  return time.toISOString();
}

/**
 * @param {HTMLElement} control
 * @param {string} text
 */
function missing(control, text) {
  control.setAttribute("aria-invalid", "true");
  return new Error(text);
}

