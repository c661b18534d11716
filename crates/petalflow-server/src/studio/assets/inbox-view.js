// @ts-check
/** The inbox: what threads of all flows wait for, oldest first, each answered where it is shown. */

/** @typedef {import("./types.js").InboxItem} InboxItem */

import { link, note } from "./address.js";
import * as api from "./api.js";
import { emptyState, errorState, messageOf, toast } from "./announce.js";
import { focusProblem } from "./dialog.js";
import { afterPause, h, newId, replace } from "./dom.js";
import { age, count, date } from "./format.js";
import { lookAtInbox } from "./inbox-count.js";
import { FieldError } from "./json-field.js";
import { schemaForm } from "./schema-form.js";
import { tree } from "./tree.js";

const PAGE = 50;
const REFRESH_MS = 5000;

/** @param {import("./main.js").ViewContext} context */
export async function showInbox({ main, query, signal, setTitle }) {
  setTitle("Inbox");
  const summary = h("p", { class: "muted", role: "status" });
  const list = h("div", { class: "inbox" });
  const more = h("button", { type: "button", hidden: true }, "Show more");
  const label = h("input", { type: "search", id: "inbox-label", placeholder: "name:value", autocomplete: "off" });
  label.value = query.label ?? "";
  const inbox = new Inbox({ summary, list, more, signal });
  more.addEventListener("click", () => void inbox.more());
  const apply = afterPause(200, () => {
    const text = label.value.trim();
    const isComplete = text === "" || /^[^:]+:.+$/.test(text);
    label.toggleAttribute("data-incomplete", !isComplete);
    if (!isComplete) return;
    note(["inbox"], { label: text });
    void inbox.show(text);
  });
  label.addEventListener("input", apply);
  const filters = h(
    "form",
    { class: "filters", role: "search" },
    h("div", { class: "field" }, h("label", { for: "inbox-label" }, "Label"), label),
  );
  filters.addEventListener("submit", (event) => event.preventDefault());
  replace(
    main,
    h("header", { class: "view-head" }, h("div", { class: "view-title" }, h("h1", null, "Inbox")), summary),
    filters,
    list,
    more,
  );
  await inbox.show(label.value.trim());
  const timer = setInterval(() => {
    if (!document.hidden) void inbox.refresh();
  }, REFRESH_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
}

class Inbox {
  /** @param {{summary: HTMLElement, list: HTMLElement, more: HTMLElement, signal: AbortSignal}} places */
  constructor({ summary, list, more, signal }) {
    this.summary = summary;
    this.list = list;
    this.moreButton = more;
    this.signal = signal;
    this.label = "";
    this.shown = PAGE;
    /** @type {Map<string, HTMLElement>} */
    this.cards = new Map();
  }

  /** @param {string} label */
  async show(label) {
    this.label = label;
    this.shown = PAGE;
    try {
      await this.load();
    } catch (error) {
      if (!this.signal.aborted) replace(this.list, errorState(error, () => void this.show(label)));
    }
  }

  async more() {
    this.shown += PAGE;
    await this.refresh();
  }

  async refresh() {
    try {
      await this.load();
    } catch {
      // The next refresh tries again.
    }
  }

  /** Loads what is shown. A card that stays keeps what the person has typed. */
  async load() {
    const { label } = this;
    const { items, next, threads } = await api.inbox({ label, limit: this.shown }, this.signal);
    if (this.signal.aborted || label !== this.label) return;
    this.summary.textContent = threads === 0 ? "" : `${count(threads, "thread waits", "threads wait")}, the oldest first`;
    this.moreButton.hidden = next === null;
    const keys = items.map((item) => `${item.thread} ${item.id}`);
    for (const [key, element] of this.cards) {
      if (keys.includes(key)) continue;
      element.remove();
      this.cards.delete(key);
    }
    if (items.length === 0) {
      replace(this.list, emptyState("Nothing waits", "No thread waits for an answer or an approval."));
      return;
    }
    if (this.cards.size === 0) replace(this.list);
    items.forEach((item, index) => {
      const key = /** @type {string} */ (keys[index]);
      const element = this.cards.get(key) ?? card(item, () => this.answered());
      this.cards.set(key, element);
      // Moving an element would take the focus from its fields.
      if (this.list.children[index] !== element) this.list.insertBefore(element, this.list.children[index] ?? null);
    });
  }

  async answered() {
    await this.refresh();
    await lookAtInbox(this.signal);
  }
}

/** @type {{[kind: string]: string}} */
const KINDS = {
  question: "question",
  approval: "approval of a node",
  confirmation: "approval of a call",
  credential: "credential",
  result: "result of a call",
};

/**
 * @typedef {object} Form
 * @property {import("./dom.js").Child} fields
 * @property {[value: string, text: string, className: string][]} buttons
 * @property {(pressed: string) => unknown} body The body of the answer.
 */

/**
 * @param {InboxItem} item
 * @returns {Form}
 */
function formOf(item) {
  const properties = item.schema?.properties ?? {};
  if (item.kind === "approval" || item.kind === "confirmation") {
    const id = newId("reason");
    const reason = h("input", { id, type: "text", autocomplete: "off" });
    const isCall = item.kind === "confirmation";
    return {
      fields: h(
        "div",
        { class: "field" },
        h("label", { for: id }, "Reason ", h("span", { class: "muted" }, "(optional)")),
        reason,
      ),
      buttons: [
        ["approve", "Approve", "primary"],
        ["reject", isCall ? "Refuse" : "Reject", "danger"],
      ],
      body: (pressed) => {
        const text = reason.value.trim();
        const decision = isCall ? { approve: pressed === "approve" } : { decision: pressed };
        return text ? { ...decision, reason: text } : decision;
      },
    };
  }
  const names = { credential: "credential", result: "result" };
  const name = item.kind === "question" ? "answer" : names[item.kind];
  const schema = properties[name];
  const field = schemaForm(schema ?? null, { label: name === "answer" ? "Answer" : name });
  return {
    fields: field.element,
    buttons: [["send", "Send", "primary"]],
    body: () => ({ [name]: field.read() }),
  };
}

/**
 * @param {InboxItem} item
 * @param {() => Promise<void>} answered
 */
function card(item, answered) {
  const id = newId("inbox");
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const form = item.answerable ? formOf(item) : null;
  const buttons = (form?.buttons ?? []).map(([value, text, className]) =>
    h("button", { type: "submit", value, class: className }, text),
  );
  const hasArguments = item.arguments !== null && item.arguments !== undefined;
  const element = h(
    "form",
    { class: "panel question", novalidate: true, "aria-labelledby": id },
    h("h2", { id }, item.name ?? KINDS[item.kind] ?? item.kind),
    h(
      "p",
      { class: "muted small-text" },
      h("span", { class: "chip" }, KINDS[item.kind] ?? item.kind),
      " ",
      h("a", { href: link(["thread", item.thread]) }, item.thread),
      ` · ${item.flow} · `,
      h("span", { title: date(item.asked_ms) }, `asked ${age(item.asked_ms)}`),
      item.expires_ms ? h("span", { title: date(item.expires_ms) }, ` · expires ${age(item.expires_ms)}`) : null,
    ),
    h("p", { class: "question-text" }, item.text),
    hasArguments ? tree(item.arguments, { open: 2 }) : null,
    h(
      "div",
      { class: "facts" },
      Object.entries(item.labels).map(([name, value]) => h("span", { class: "chip" }, `${name}: ${value}`)),
    ),
    form ? form.fields : h("p", { class: "muted" }, "It is answered in the program that has the types of the flow."),
    problem,
    h("div", { class: "buttons" }, buttons),
  );
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!form) return;
    const pressed = event.submitter instanceof HTMLButtonElement ? event.submitter.value : (buttons[0]?.value ?? "");
    for (const button of buttons) button.disabled = true;
    problem.hidden = true;
    try {
      await api.answer(item.thread, item.id, /** @type {any} */ (form.body(pressed)));
      toast("The answer was sent.");
      await answered();
    } catch (error) {
      problem.textContent = messageOf(error);
      problem.hidden = false;
      if (error instanceof FieldError) error.control.focus();
      else focusProblem(element);
    } finally {
      for (const button of buttons) button.disabled = false;
    }
  });
  return element;
}
