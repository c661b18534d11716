// @ts-check
/** The buttons of a thread. */

import { link, open } from "./address.js";
import * as api from "./api.js";
import { messageOf, toast } from "./announce.js";
import { openDialog, openTextDialog } from "./dialog.js";
import { h, newId } from "./dom.js";
import { inputSchema, isReadOnly } from "./flow-schemas.js";
import { schemaForm } from "./schema-form.js";

/** @typedef {import("./thread-session.js").ThreadSession} ThreadSession */

/** @type {import("./types.js").Schema} */
const LABELS = { type: "object", additionalProperties: { type: "string" } };

/**
 * The buttons that do something in the current status.
 *
 * @param {ThreadSession} session
 */
export function threadButtons(session) {
  const { status, questions } = session.view;
  const compare = h("a", { class: "button", href: link(["compare"], { left: session.id }) }, "Compare");
  if (isReadOnly(session.flow)) return [compare];
  const exported = button("Export", () => exportThread(session));
  const resumable = canResume(session);
  const isOver = status === "finished" || status === "failed" || status === "waiting" || status === "held";
  return [
    questions.length > 0
      ? h(
          "a",
          { class: "button primary", href: link(["thread", session.id]), onclick: showQuestions },
          questions.some((question) => question.kind === "ask") ? "Answer" : "Approve",
        )
      : null,
    resumable
      ? button("Resume", () => act(session, () => api.resume(session.id), "The thread continues."), "primary")
      : null,
    isOver ? button("Another turn", () => anotherTurn(session)) : null,
    ["running", "sleeping", "stopped"].includes(status)
      ? button("Hold", () => act(session, () => api.hold(session.id), "The thread stops after this superstep."))
      : null,
    status === "running" ? button("Cancel", () => cancel(session)) : null,
    button("Copy", () => copy(session)),
    exported,
    compare,
    button("Labels", () => labels(session)),
    button("Delete", () => remove(session), "danger-text"),
  ];
}

/**
 * Whether a resume does something: the thread rests, and a node is next; or its engine would try again later or never. A thread that is listed as running is resumed only when the
 * server says that no run of it sends events.
 *
 * @param {ThreadSession} session
 */
export function canResume({ view, connection }) {
  if (view.status === "held" || view.trouble) return true;
  if (view.status === "running") return connection === "closed";
  return (view.status === "stopped" || view.status === "failed") && view.next.length > 0;
}

/**
 * @param {string} text
 * @param {() => unknown} onclick
 * @param {string} [className]
 */
function button(text, onclick, className = "") {
  return h("button", { type: "button", class: className, onclick }, text);
}

/** @param {Event} event */
function showQuestions(event) {
  const questions = document.getElementById("questions");
  if (!questions) return;
  event.preventDefault();
  questions.scrollIntoView({ block: "start" });
  const control = questions.querySelector("input, select, textarea, button");
  if (control instanceof HTMLElement) control.focus({ preventScroll: true });
}

/**
 * @param {ThreadSession} session
 * @param {() => Promise<unknown>} request
 * @param {string} message
 */
async function act(session, request, message) {
  try {
    await request();
    toast(message);
  } catch (error) {
    toast(messageOf(error), "error");
  }
  await session.lookAgain();
}

/** @param {ThreadSession} session */
async function cancel(session) {
  const done = await openDialog({
    title: `Cancel the run of ${session.id}?`,
    content: h(
      "p",
      null,
      "The run stops. The thread keeps its checkpoints, and continues from the newest one when it is resumed.",
    ),
    action: "Cancel the run",
    dangerous: true,
    act: async () => {
      await api.cancel(session.id);
      return true;
    },
  });
  if (done) toast("The run was cancelled.");
  await session.lookAgain();
}

/** @param {ThreadSession} session */
async function copy(session) {
  const result = await openTextDialog({
    title: `Copy ${session.id}`,
    label: "Id of the copy",
    hint: `The copy is the thread ${session.flow.name}:… with this id. It has all checkpoints, and is held until it is resumed.`,
    action: "Copy",
    act: (id) => api.copy(session.id, id),
  });
  if (result) open(["thread", result.thread]);
}

/**
 * Saves the thread as a file, which a test replays.
 *
 * @param {ThreadSession} session
 */
async function exportThread(session) {
  try {
    const { name, blob } = await api.exported(session.id);
    const address = URL.createObjectURL(blob);
    h("a", { href: address, download: name }).click();
    URL.revokeObjectURL(address);
    toast(`The thread was saved as ${name}.`);
  } catch (error) {
    toast(messageOf(error), "error");
  }
}

/** @param {ThreadSession} session */
async function labels(session) {
  const field = schemaForm(LABELS, { label: "Labels", value: session.view.labels });
  const done = await openDialog({
    title: `Labels of ${session.id}`,
    content: field.element,
    action: "Save",
    act: async () => {
      await api.setLabels(session.id, /** @type {{[name: string]: string}} */ (field.read()));
      return true;
    },
  });
  if (done) await session.lookAgain();
}

/** @param {ThreadSession} session */
async function remove(session) {
  const done = await openDialog({
    title: `Delete ${session.id}?`,
    content: h("p", null, "All of its checkpoints, events and open questions are deleted. This cannot be undone."),
    action: "Delete the thread",
    dangerous: true,
    act: async () => {
      await api.remove(session.id);
      return true;
    },
  });
  if (!done) return;
  toast(`${session.id} was deleted.`);
  open(["threads"], { flow: session.flow.name });
}

/** @param {ThreadSession} session */
async function anotherTurn(session) {
  const field = schemaForm(inputSchema(session.flow), { label: session.flow.kind === "agent" ? "Message" : "Input" });
  const id = newId("discard");
  const discard = h("input", { type: "checkbox", id });
  const hasQuestions = session.view.questions.length > 0;
  const done = await openDialog({
    title: `Another turn of ${session.id}`,
    content: [
      field.element,
      hasQuestions ? h("label", { class: "choice", for: id }, discard, "Discard the open questions") : null,
    ],
    action: "Start the turn",
    act: async () => {
      await api.turn(session.id, field.read(), discard.checked);
      return true;
    },
  });
  if (done) await session.lookAgain();
}
