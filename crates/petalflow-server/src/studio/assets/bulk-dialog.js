// @ts-check
/** The dialogs that give a command to all threads of a list. */

import * as api from "./api.js";
import { openDialog } from "./dialog.js";
import { h, newId } from "./dom.js";
import { count, number } from "./format.js";
import { schemaForm } from "./schema-form.js";

/** @typedef {{[name: string]: string}} Conditions */
/** @typedef {{command: string, labels?: {[name: string]: string | null}}} Command */

/**
 * What people call the commands, what each does, and whether something is lost.
 *
 * @type {{name: string, title: string, text: string, dangerous: boolean}[]}
 */
const COMMANDS = [
  { name: "resume", title: "Resume", text: "Threads that have failed, were stopped or are held continue.", dangerous: false },
  { name: "hold", title: "Hold", text: "Runs stop after their superstep. The threads are held until they are resumed.", dangerous: false },
  { name: "cancel", title: "Cancel", text: "Runs stop at once. The threads are held until they are resumed.", dangerous: true },
  { name: "label", title: "Set labels", text: "The labels are set. Others stay as they are.", dangerous: false },
  {
    name: "delete",
    title: "Delete",
    text: "All checkpoints, events and open questions of the threads are deleted. This cannot be undone.",
    dangerous: true,
  },
];

/** @type {import("./types.js").Schema} */
const LABELS = { type: "object", additionalProperties: { type: "string" } };

/**
 * Asks for a command, shows how many threads it is for, and gives it. Returns the thread that gives the command, and how many threads
 * were counted, or nothing if the person has closed the dialog.
 *
 * @param {Conditions} conditions
 */
export async function openBulkDialog(conditions) {
  const chosen = await chooseCommand();
  if (!chosen) return null;
  const { command, body } = chosen;
  const threads = await api.countThreads(conditions);
  const place = Object.keys(conditions).length === 0 ? "There are no filters: these are all threads." : filtersOf(conditions);
  // A repetition after a lost response starts nothing.
  const key = `studio-${crypto.getRandomValues(new Uint32Array(4)).join("-")}`;
  const given = await openDialog({
    title: `${command.title}: ${count(threads, "thread")}`,
    content: [
      h("p", null, command.text),
      h("p", { class: "muted" }, place),
      h(
        "p",
        { class: "muted" },
        "Threads are counted again while the command goes through them. It goes on when you leave this page.",
      ),
    ],
    action: `${command.title} ${count(threads, "thread")}`,
    dangerous: command.dangerous,
    act: async () => {
      if (threads === 0) throw new Error("No thread has these properties. Change the filters.");
      return api.commandThreads(conditions, body, key);
    },
  });
  return given ? { thread: given.thread, title: command.title, threads } : null;
}

async function chooseCommand() {
  const id = newId("command");
  const labels = schemaForm(LABELS, { label: "Labels" });
  const select = h(
    "select",
    { id, "aria-describedby": `${id}-hint` },
    COMMANDS.map(({ name, title }) => h("option", { value: name }, title)),
  );
  const hint = h("p", { class: "hint", id: `${id}-hint` });
  const ofLabels = h("div", { hidden: true }, labels.element);
  const find = () => COMMANDS.find(({ name }) => name === select.value) ?? null;
  const show = () => {
    hint.textContent = find()?.text ?? "";
    ofLabels.hidden = select.value !== "label";
  };
  select.addEventListener("change", show);
  show();
  return openDialog({
    title: "Command for all threads of this list",
    content: [h("div", { class: "field" }, h("label", { for: id }, "Command"), select, hint), ofLabels],
    action: "Next",
    act: async () => {
      const command = find();
      if (!command) return null;
      /** @type {Command} */
      const body = { command: command.name };
      if (command.name === "label") {
        body.labels = /** @type {{[name: string]: string}} */ (labels.read());
        if (Object.keys(body.labels).length === 0) throw new Error("There is no label. Add one.");
      }
      return { command, body };
    },
  });
}

/** @param {Conditions} conditions */
function filtersOf(conditions) {
  /** @type {{[name: string]: string}} */
  const names = { prefix: "id begins with", updated_from_ms: "changed since" };
  const texts = Object.entries(conditions).map(([name, value]) => {
    const text = name === "updated_from_ms" ? new Date(Number(value)).toLocaleString() : value;
    return `${names[name] ?? name} ${text}`;
  });
  return `The filters: ${texts.join(", ")}.`;
}

/**
 * How far a command is, in words.
 *
 * @param {{matched: number, done: number, failed: number}} progress
 */
export function progressText({ matched, done, failed }) {
  const failures = failed > 0 ? `, ${number(failed)} failed` : "";
  return `${number(done)} of ${count(matched, "thread")} done${failures}`;
}
