// @ts-check
/**
 * The calls of an agent that wait for people: for an approval, for a result that comes later, or for a credential. A person decides
 * all of them in one form, which begins the next turn.
 *
 * @typedef {object} PendingCall
 * @property {string} kind
 * @property {string} id
 * @property {{name?: string, arguments?: unknown}} [call]
 * @property {string | null} [text]
 * @property {unknown} [request]
 *
 * @typedef {object} Choice
 * @property {HTMLElement} element
 * @property {(input: TurnInput) => void} addTo
 *
 * @typedef {object} TurnInput
 * @property {{id: string, approve: boolean, reason?: string}[]} [decisions]
 * @property {{[id: string]: unknown}} [results]
 * @property {{[id: string]: unknown}} [credentials]
 */

import * as api from "./api.js";
import { messageOf, toast } from "./announce.js";
import { h, newId, replace } from "./dom.js";
import { count } from "./format.js";
import { FieldError, jsonField } from "./json-field.js";
import { readable } from "./readable.js";

export class PendingCalls {
  /** @param {import("./thread-session.js").ThreadSession} session */
  constructor(session) {
    this.session = session;
    this.drawn = "";
    this.element = h("section", { class: "panel attention", "aria-label": "Calls that wait" });
    this.update();
  }

  update() {
    const { view, flow } = this.session;
    const waiting =
      flow.kind === "agent" && view.status !== "running" && Array.isArray(view.state.pending)
        ? /** @type {PendingCall[]} */ (view.state.pending)
        : [];
    this.element.hidden = waiting.length === 0;
    // A form that stays keeps what the person has typed.
    const state = `${view.checkpoint} ${JSON.stringify(waiting)}`;
    if (state === this.drawn) return;
    this.drawn = state;
    replace(
      this.element,
      waiting.length > 0
        ? [h("h2", null, `${count(waiting.length, "call waits", "calls wait")} for a person`), this.form(waiting)]
        : null,
    );
  }

  /** @param {PendingCall[]} waiting */
  form(waiting) {
    const choices = waiting.map(choiceOf);
    const problem = h("p", { class: "problem", role: "alert", hidden: true });
    const submit = h("button", { type: "submit", class: "primary" }, "Send");
    const form = h(
      "form",
      { class: "questions", novalidate: true },
      choices.map(({ element }) => element),
      problem,
      h("div", { class: "buttons" }, submit),
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      submit.disabled = true;
      problem.hidden = true;
      try {
        /** @type {TurnInput} */
        const input = {};
        for (const choice of choices) choice.addTo(input);
        if (Object.keys(input).length === 0) throw new Error("Nothing is decided. Decide at least one call.");
        await api.turn(this.session.id, input, false);
        toast("The decisions were sent.");
        await this.session.lookAgain();
      } catch (error) {
        problem.textContent = messageOf(error);
        problem.hidden = false;
        if (error instanceof FieldError) error.control.focus();
      } finally {
        submit.disabled = false;
      }
    });
    return form;
  }
}

/** @param {PendingCall} pending */
function choiceOf(pending) {
  if (pending.kind === "confirmation") return confirmation(pending);
  if (pending.kind === "result") return later(pending, "results", "Result", "The result of the call has come");
  if (pending.kind === "credential") return later(pending, "credentials", "Credential", "Send the credential");
  return { element: card(pending, null), addTo: () => {} };
}

/**
 * @param {PendingCall} pending
 * @returns {Choice}
 */
function confirmation(pending) {
  const id = newId("call");
  const decision = h(
    "select",
    { id },
    h("option", { value: "" }, "Decide later"),
    h("option", { value: "approve" }, "Approve the call"),
    h("option", { value: "refuse" }, "Refuse the call"),
  );
  const reason = h("input", { id: `${id}-reason`, type: "text", autocomplete: "off" });
  const fields = h(
    "div",
    { class: "fields" },
    h("div", { class: "field" }, h("label", { for: id }, "Decision"), decision),
    h(
      "div",
      { class: "field" },
      h(
        "label",
        { for: reason.id },
        "Reason of a refusal ",
        h("span", { class: "muted" }, "(optional, the model reads it)"),
      ),
      reason,
    ),
  );
  return {
    element: card(pending, fields),
    addTo: (input) => {
      if (decision.value === "") return;
      const text = reason.value.trim();
      (input.decisions ??= []).push({
        id: pending.id,
        approve: decision.value === "approve",
        ...(text ? { reason: text } : {}),
      });
    },
  };
}

/**
 * @param {PendingCall} pending
 * @param {"results" | "credentials"} where
 * @param {string} label
 * @param {string} text
 * @returns {Choice}
 */
function later(pending, where, label, text) {
  const check = h("input", { type: "checkbox" });
  const field = jsonField({ label });
  field.element.hidden = true;
  check.addEventListener("change", () => {
    field.element.hidden = !check.checked;
  });
  return {
    element: card(pending, [h("label", { class: "choice" }, check, text), field.element]),
    addTo: (input) => {
      if (check.checked) (input[where] ??= {})[pending.id] = field.read();
    },
  };
}

/**
 * @param {PendingCall} pending
 * @param {import("./dom.js").Child} content
 */
function card(pending, content) {
  return h(
    "fieldset",
    { class: "question" },
    h("legend", { class: "hidden-text" }, pending.call?.name ?? pending.kind),
    h("h3", null, pending.call?.name ? h("code", null, pending.call.name) : pending.kind),
    pending.text ? h("p", { class: "question-text" }, pending.text) : null,
    pending.call?.arguments === undefined ? null : readable(pending.call.arguments),
    pending.request === undefined ? null : readable(pending.request),
    content,
  );
}
