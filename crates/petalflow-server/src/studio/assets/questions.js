// @ts-check
/** The open questions and approvals of a thread, each with a form. */

/** @typedef {import("./types.js").Question} Question */

import * as api from "./api.js";
import { messageOf, toast } from "./announce.js";
import { focusProblem } from "./dialog.js";
import { h, newId } from "./dom.js";
import { isReadOnly } from "./flow-schemas.js";
import { age, count, date } from "./format.js";
import { FieldError } from "./json-field.js";
import { readable } from "./readable.js";
import { schemaForm } from "./schema-form.js";

const BY_KEY = "petalflow-by";

/** In the place of a form, where threads can only be read. */
function onlyRead() {
  return h("p", { class: "muted" }, "It is answered in the program that has the types of the flow.");
}

/** A card without a form sends nothing. */
async function sendNothing() {}

export class Questions {
  /** @param {import("./thread-session.js").ThreadSession} session */
  constructor(session) {
    this.session = session;
    /** @type {Map<string, HTMLElement>} */
    this.cards = new Map();
    this.title = h("h2", { tabindex: "-1" });
    this.list = h("div", { class: "questions" });
    this.element = h(
      "section",
      { class: "panel attention", id: "questions", "aria-label": "Open questions" },
      this.title,
      this.list,
    );
    this.update();
  }

  /** Adds and removes cards. One that stays keeps what the person has typed. */
  update() {
    const { questions } = this.session.view;
    const ids = new Set(questions.map((question) => question.id));
    for (const [id, card] of this.cards) {
      if (ids.has(id)) continue;
      if (card.contains(document.activeElement)) this.title.focus();
      card.remove();
      this.cards.delete(id);
    }
    for (const question of questions) {
      if (this.cards.has(question.id)) continue;
      const card = question.kind === "ask" ? this.ask(question) : this.approval(question);
      this.cards.set(question.id, card);
      this.list.append(card);
    }
    this.title.textContent = `${count(questions.length, "open question")}`;
    this.element.hidden = questions.length === 0;
  }

  /** @param {Question} question */
  ask(question) {
    const schema = question.name === undefined ? null : this.session.flow.questions[question.name];
    const field = schemaForm(schema, { label: "Answer" });
    const value = question.question;
    const text =
      typeof value === "string"
        ? h("p", { class: "question-text" }, value)
        : value === null || value === undefined
          ? null
          : readable(value);
    if (isReadOnly(this.session.flow)) return this.card(question, `${question.name ?? "Question"}`, [text, onlyRead()], [], sendNothing);
    const submit = h("button", { type: "submit", class: "primary" }, "Send the answer");
    return this.card(question, `${question.name ?? "Question"}`, [text, field.element], [submit], async () => {
      await api.answer(this.session.id, question.id, { answer: field.read() });
      toast("The answer was sent.");
    });
  }

  /** @param {Question} question */
  approval(question) {
    const isBefore = question.kind === "before";
    const title = isBefore ? `Approve ${question.node} before it runs` : `Approve the result of ${question.node}`;
    const subject = this.subject(question);
    if (isReadOnly(this.session.flow)) return this.card(question, title, [subject, onlyRead()], [], sendNothing);
    const id = newId("approval");
    const reason = h("textarea", { id: `${id}-reason`, rows: 2 });
    const by = h("input", { id: `${id}-by`, type: "text", autocomplete: "name" });
    by.value = sessionStorage.getItem(BY_KEY) ?? "";
    const fields = h(
      "div",
      { class: "fields two" },
      h(
        "div",
        { class: "field" },
        h("label", { for: reason.id }, "Reason ", h("span", { class: "muted" }, "(optional)")),
        reason,
      ),
      h(
        "div",
        { class: "field" },
        h("label", { for: by.id }, "Your name ", h("span", { class: "muted" }, "(optional)")),
        by,
      ),
    );
    /** @type {[string, string, string][]} */
    const decisions = [
      ["approve", "Approve", "primary"],
      ["reject", "Reject", "danger"],
    ];
    if (isBefore) decisions.push(["skip", "Skip the node", ""]);
    const buttons = decisions.map(([value, text, className]) =>
      h("button", { type: "submit", value, class: className }, text),
    );
    return this.card(question, title, [subject, fields], buttons, async (decision) => {
      sessionStorage.setItem(BY_KEY, by.value.trim());
      const more = {
        ...(by.value.trim() ? { by: by.value.trim() } : {}),
        ...(reason.value.trim() ? { reason: reason.value.trim() } : {}),
      };
      await api.answer(this.session.id, question.id, { decision: decision || "approve", ...more });
      toast("The decision was sent.");
    });
  }

  /**
   * What is approved: the state that the node begins with, or that its result led to. Keys without a value say nothing.
   *
   * @param {Question} question
   */
  subject(question) {
    // A sub-flow has a state of its own, which is in no checkpoint of the thread.
    if (question.namespace) return null;
    const known = Object.entries(this.session.view.state).filter(([, value]) => !isNothing(value));
    if (known.length === 0) return null;
    return h(
      "section",
      { class: "subject" },
      h("h4", null, question.kind === "before" ? `What ${question.node} begins with` : `The state before ${question.node}`),
      readable(Object.fromEntries(known)),
    );
  }

  /**
   * @param {Question} question
   * @param {string} title
   * @param {import("./dom.js").Child[]} content
   * @param {HTMLButtonElement[]} buttons
   * @param {(decision: string) => Promise<void>} act
   */
  card(question, title, content, buttons, act) {
    const id = newId("question");
    const problem = h("p", { class: "problem", role: "alert", hidden: true });
    const place =
      [question.namespace, question.node].filter(Boolean).join(" / ") +
      (question.index === null ? "" : ` #${question.index}`);
    const form = h(
      "form",
      { class: "question", novalidate: true, "aria-labelledby": id },
      h("h3", { id }, title),
      h(
        "p",
        { class: "muted small-text" },
        h("span", { class: "chip" }, question.kind === "ask" ? "question" : "approval"),
        ` ${place} · asked ${age(question.asked_ms)}`,
        question.expires_ms
          ? h("span", { title: date(question.expires_ms) }, ` · expires ${age(question.expires_ms)}`)
          : null,
      ),
      content,
      problem,
      h("div", { class: "buttons" }, buttons),
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const pressed = event.submitter instanceof HTMLButtonElement ? event.submitter.value : "";
      buttons.forEach((button) => {
        button.disabled = true;
      });
      problem.hidden = true;
      try {
        await act(pressed);
        await this.session.lookAgain();
      } catch (error) {
        if (error instanceof api.RequestError && error.status === 409) {
          toast(messageOf(error), "error");
          await this.session.lookAgain();
        }
        problem.textContent = messageOf(error);
        problem.hidden = false;
        if (error instanceof FieldError) error.control.focus();
        else focusProblem(form);
      } finally {
        buttons.forEach((button) => {
          button.disabled = false;
        });
      }
    });
    return form;
  }
}

/** @param {unknown} value */
function isNothing(value) {
  return value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
}
