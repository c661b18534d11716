// @ts-check
/** The chat with an agent or a conversation: its messages, the text that is being written, questions, and the next turn. */

import * as api from "./api.js";
import { messageOf } from "./announce.js";
import { h, oncePerFrame, replace } from "./dom.js";
import { textInput } from "./flow-schemas.js";
import { messageElement, messagesOf } from "./messages.js";
import { PendingCalls } from "./pending-calls.js";
import { Questions } from "./questions.js";
import { threadHeader } from "./thread-header.js";
import { ThreadSession } from "./thread-session.js";

/** Messages that are shown at once. */
const PAGE = 100;

/**
 * @param {import("./main.js").ViewContext} context
 * @param {string} id
 */
export async function showChat({ main, signal, setTitle, whenShown }, id) {
  const session = await ThreadSession.load(id, signal);
  if (signal.aborted) return;
  setTitle(`Chat ${id}`);
  const questions = new Questions(session);
  const pendingCalls = new PendingCalls(session);
  const list = h("ol", { class: "messages" });
  const streamed = h("div", { class: "message", "data-role": "model", hidden: true });
  const older = h("button", { type: "button", class: "small" }, "Show older messages");
  const log = h("section", { class: "chat-log", tabindex: "0", "aria-label": "Messages" }, older, list, streamed);
  const composer = new Composer(session);
  replace(
    main,
    threadHeader(session, "chat"),
    h("div", { class: "chat" }, log, questions.element, pendingCalls.element, composer.element),
  );

  let shown = PAGE;
  let drawn = "";
  const isAtEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < 80;
  /** What is drawn: a message that stays keeps what a person has opened in it. @type {Map<number, {text: string, element: HTMLElement}>} */
  const elements = new Map();
  /** @type {(message: import("./messages.js").Message, index: number) => HTMLElement} */
  const elementOf = (message, index) => {
    const text = JSON.stringify(message);
    const known = elements.get(index);
    if (known?.text === text) return known.element;
    const element = messageElement(message);
    elements.set(index, { text, element });
    return element;
  };
  const drawMessages = () => {
    const messages = messagesOf(session.view.state);
    const pending = composer.pending(messages.filter((message) => message.role === "user").length);
    const state = `${session.view.checkpoint} ${messages.length} ${shown} ${pending.join("\n")}`;
    if (state === drawn) return;
    drawn = state;
    const follow = isAtEnd();
    older.hidden = messages.length <= shown;
    replace(
      list,
      messages.slice(-shown).map((message, index) => elementOf(message, Math.max(0, messages.length - shown) + index)),
      pending.map((text) =>
        messageElement({ author: "you", role: "user", parts: [{ kind: "text", text }], usage: null }),
      ),
      messages.length === 0 && pending.length === 0
        ? h("li", { class: "muted" }, "No messages yet. Write the first one below.")
        : null,
    );
    if (follow) log.scrollTop = log.scrollHeight;
  };
  const drawStreamed = () => {
    const texts = session.log.streamed(session.view.checkpoint);
    const follow = isAtEnd();
    const isWorking = session.view.status === "running";
    streamed.hidden = texts.length === 0 && !isWorking;
    replace(
      streamed,
      h("div", { class: "message-author" }, texts[0]?.node ?? ""),
      h(
        "div",
        { class: "message-body" },
        texts.map(({ text }) => h("p", { class: "part-text streamed" }, text)),
        texts.length === 0 ? h("p", { class: "muted working" }, "The run is in progress…") : null,
      ),
    );
    if (follow) log.scrollTop = log.scrollHeight;
  };
  const draw = oncePerFrame(() => {
    drawMessages();
    drawStreamed();
    composer.update();
  });
  older.addEventListener("click", () => {
    shown += PAGE;
    draw();
  });
  session.onChange((topic) => {
    if (topic === "view") {
      questions.update();
      pendingCalls.update();
    }
    draw();
  });
  composer.onSent = draw;
  drawMessages();
  drawStreamed();
  whenShown(() => {
    log.scrollTop = log.scrollHeight;
  });
  void session.watch();
}

/** What can happen to a message while a run has the thread, and in words. @type {[string, string][]} */
const STRATEGIES = [
  ["steer", "Let the agent read it in this turn"],
  ["enqueue", "Send it when this turn has ended"],
  ["interrupt", "Stop this turn, and go on with the message"],
  ["rollback", "Undo this turn, and go on with the message"],
];

/** The field for the next message. */
class Composer {
  /** @param {ThreadSession} session */
  constructor(session) {
    this.session = session;
    /** The messages that were sent and are not in the state yet, each with the number of messages of the user that the state has with it. @type {{text: string, count: number}[]} */
    this.sent = [];
    this.isSending = false;
    this.onSent = () => {};
    this.text = h("textarea", {
      id: "chat-text",
      rows: 2,
      placeholder: "Write a message",
      "aria-describedby": "chat-hint",
    });
    this.send = h("button", { type: "submit", class: "primary" }, "Send");
    this.discard = h("input", { type: "checkbox", id: "chat-discard" });
    this.discardLabel = h(
      "label",
      { class: "choice", for: "chat-discard" },
      this.discard,
      "Discard the open questions",
    );
    const reads = session.flow.kind === "agent";
    this.strategy = h(
      "select",
      { id: "chat-strategy" },
      STRATEGIES.filter(([name]) => reads || name !== "steer").map(([value, words]) => h("option", { value }, words)),
    );
    this.strategyLabel = h(
      "label",
      { class: "choice", for: "chat-strategy" },
      "While the run works: ",
      this.strategy,
    );
    this.hint = h("p", { class: "hint", id: "chat-hint" });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.element = h(
      "form",
      { class: "composer", novalidate: true },
      h("label", { for: "chat-text", class: "hidden-text" }, "Message"),
      h("div", { class: "composer-row" }, this.text, this.send),
      this.discardLabel,
      this.strategyLabel,
      this.hint,
      this.problem,
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.submit();
    });
    this.text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      void this.submit();
    });
    this.update();
  }

  update() {
    const { view } = this.session;
    const isBusy = view.status === "running";
    this.send.disabled = this.isSending;
    this.strategyLabel.hidden = !isBusy;
    this.discardLabel.hidden = view.questions.length === 0;
    this.hint.textContent = isBusy
      ? "A run is in progress. Say what happens to the message."
      : "Enter sends the message, Shift and Enter begin a new line.";
  }

  /**
   * The messages that were sent and are not in the state yet.
   *
   * @param {number} userMessages How many messages of the user the state has.
   */
  pending(userMessages) {
    this.sent = this.sent.filter(({ count }) => count > userMessages);
    return this.sent.map(({ text }) => text);
  }

  async submit() {
    const text = this.text.value.trim();
    if (!text || this.send.disabled) return;
    this.problem.hidden = true;
    this.isSending = true;
    this.update();
    const { id, flow, view } = this.session;
    const strategy = view.status === "running" ? this.strategy.value : undefined;
    const userMessages = messagesOf(view.state).filter((message) => message.role === "user").length;
    const last = this.sent.at(-1)?.count ?? userMessages;
    // The message takes the place of that of the turn that is undone.
    const message = { text, count: strategy === "rollback" ? last : last + 1 };
    try {
      this.sent.push(message);
      this.onSent();
      await api.turn(id, textInput(flow, text), this.discard.checked, strategy);
      this.text.value = "";
      this.discard.checked = false;
      await this.session.lookAgain();
    } catch (error) {
      this.sent = this.sent.filter((other) => other !== message);
      this.onSent();
      this.problem.textContent = messageOf(error);
      this.problem.hidden = false;
    } finally {
      this.isSending = false;
      this.update();
    }
  }
}
